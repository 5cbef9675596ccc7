// Package dynamotest gives a test a real DynamoDB-compatible database:
// dynoxide, one process per test, in memory, on a free loopback port, with the
// tables that package names declares. It also loses answers on purpose. No
// deployed program imports it.
package dynamotest

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	ddb "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"fastbowlinglab/shared/names"
)

// Server is a running database.
type Server struct {
	URL  string
	stop func()
}

// Start runs a database with every table of package names until the test ends.
// The test is skipped when the binary is not installed.
func Start(t testing.TB) *Server {
	t.Helper()
	bin := binary(t)
	for range 5 {
		if s := start(t, bin); s != nil {
			s.createTables(t)
			return s
		}
	}
	t.Fatal("dynamotest: no free port in five tries")
	return nil
}

// StartStop is Start for a test that needs many databases: stop ends this one.
func StartStop(t testing.TB) (s *Server, stop func()) {
	t.Helper()
	s = Start(t)
	return s, s.stop
}

// New is Start and a client in one.
func New(t testing.TB) *dynamodb.Client {
	t.Helper()
	return Start(t).Client()
}

// Client makes a client without SDK retries, so that a test sees every answer.
func (s *Server) Client(opts ...func(*dynamodb.Options)) *dynamodb.Client {
	return dynamodb.New(dynamodb.Options{
		Region:       "us-east-1",
		BaseEndpoint: &s.URL,
		Credentials:  credentials.NewStaticCredentialsProvider("test", "test", ""),
		Retryer:      aws.NopRetryer{},
	}, opts...)
}

// binary finds dynoxide in the module's node_modules.
func binary(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for ; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
	}
	bin := filepath.Join(dir, "node_modules", "@dynoxide", "linux-x64", "dynoxide")
	if _, err := os.Stat(bin); err != nil {
		t.Skipf("dynoxide is not installed (npm ci): %v", err)
	}
	return bin
}

// start runs one process; nil when its port was taken by someone else.
func start(t testing.TB, bin string) *Server {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	l.Close()
	cmd := exec.Command(bin, "serve", "--host", "127.0.0.1", "--port", fmt.Sprint(port))
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} // a crashed test binary leaves nothing behind
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = cmd.Stdout
	if err := cmd.Start(); err != nil {
		t.Fatalf("dynamotest: start %s: %v", bin, err)
	}
	ready := make(chan bool, 1)
	go func() {
		sc := bufio.NewScanner(out)
		for sc.Scan() {
			if strings.Contains(sc.Text(), "listening") {
				select {
				case ready <- true:
				default:
				}
			}
		}
		close(ready) // the process has gone
	}()
	stop := sync.OnceFunc(func() {
		cmd.Process.Kill()
		for range ready { // read to the end before Wait closes the pipe
		}
		cmd.Wait()
	})
	select {
	case ok := <-ready:
		if !ok {
			stop()
			return nil
		}
	case <-time.After(20 * time.Second):
		stop()
		t.Fatal("dynamotest: dynoxide did not listen within 20 s")
	}
	t.Cleanup(stop)
	return &Server{URL: fmt.Sprintf("http://127.0.0.1:%d", port), stop: stop}
}

func (s *Server) createTables(t testing.TB) {
	t.Helper()
	db := s.Client()
	for _, tb := range names.Tables() {
		if _, err := db.CreateTable(context.Background(), CreateInput(tb)); err != nil {
			t.Fatalf("dynamotest: create table %s: %v", tb.Name, err)
		}
	}
}

// CreateInput is the request that creates a declared table.
func CreateInput(tb names.Table) *dynamodb.CreateTableInput {
	attrs := map[string]bool{}
	keys := func(pk, sk string) []ddb.KeySchemaElement {
		attrs[pk] = true
		ks := []ddb.KeySchemaElement{{AttributeName: aws.String(pk), KeyType: ddb.KeyTypeHash}}
		if sk != "" {
			attrs[sk] = true
			ks = append(ks, ddb.KeySchemaElement{AttributeName: aws.String(sk), KeyType: ddb.KeyTypeRange})
		}
		return ks
	}
	in := &dynamodb.CreateTableInput{
		TableName: aws.String(tb.Name), BillingMode: ddb.BillingModePayPerRequest,
		KeySchema: keys(tb.PartitionKey, tb.SortKey),
	}
	for _, ix := range tb.Indexes {
		in.GlobalSecondaryIndexes = append(in.GlobalSecondaryIndexes, ddb.GlobalSecondaryIndex{
			IndexName: aws.String(ix.Name), KeySchema: keys(ix.PartitionKey, ix.SortKey),
			Projection: &ddb.Projection{ProjectionType: ddb.ProjectionTypeAll},
		})
	}
	if tb.Stream {
		in.StreamSpecification = &ddb.StreamSpecification{
			StreamEnabled: aws.Bool(true), StreamViewType: ddb.StreamViewTypeNewImage}
	}
	for a := range attrs {
		in.AttributeDefinitions = append(in.AttributeDefinitions, ddb.AttributeDefinition{
			AttributeName: aws.String(a), AttributeType: ddb.ScalarAttributeTypeS})
	}
	return in
}

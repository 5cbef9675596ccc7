package kumo_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	sqstypes "github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	ssmtypes "github.com/aws/aws-sdk-go-v2/service/ssm/types"

	"fastbowlinglab/integration/local/kumo"
)

// serve is a process that keeps its state in dir; it prints its URL.
func serve(dir string) {
	if err := kumo.Prepare(dir); err != nil {
		panic(err)
	}
	var h http.Handler
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { h.ServeHTTP(w, r) }))
	handler, _, err := kumo.New(kumo.Config{Dir: dir, URL: srv.URL})
	if err != nil {
		panic(err)
	}
	h = handler
	fmt.Println(srv.URL)
	select {}
}

type process struct {
	*cloud
	cmd *exec.Cmd
}

func run(t *testing.T, dir string) *process {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "KUMO_TEST_DIR="+dir)
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	out, err := cmd.StdoutPipe()
	check(t, err)
	check(t, cmd.Start())
	var url string
	_, err = fmt.Fscanln(out, &url)
	check(t, err)
	return &process{clients(url), cmd}
}

func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait() // killed: an error by nature
}

// Prepare also shows here: the child is started without kumo's environment.
func TestAcknowledgedWritesSurviveKill9(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	p := run(t, dir)
	p.bucket(t)
	_, err := ssm.NewFromConfig(p.aws).PutParameter(t.Context(), &ssm.PutParameterInput{Name: aws.String("/a/b"), Value: aws.String("v"), Type: ssmtypes.ParameterTypeString})
	check(t, err)
	q, err := p.sqs.CreateQueue(t.Context(), &sqs.CreateQueueInput{QueueName: aws.String("kept")})
	check(t, err)
	_, err = p.sqs.SendMessage(t.Context(), &sqs.SendMessageInput{QueueUrl: q.QueueUrl, MessageBody: aws.String("m")})
	check(t, err)
	p.kill()
	written := 0
	for range 3 { // writers are at work when the process dies
		p := run(t, dir)
		var mu sync.Mutex
		acked := map[string]string{}
		var wg sync.WaitGroup
		for w := range 4 {
			wg.Go(func() {
				for i := 0; ; i++ {
					key := fmt.Sprintf("k%d-%d", w, i)
					out, err := p.s3.PutObject(context.Background(), &s3.PutObjectInput{Bucket: aws.String(bucket), Key: &key, Body: strings.NewReader(key)})
					if err != nil {
						return // the process is dead
					}
					mu.Lock()
					acked[key] = *out.VersionId
					if mu.Unlock(); i == 5 && w == 0 {
						go p.kill()
					}
				}
			})
		}
		wg.Wait()
		p = run(t, dir)
		for key, v := range acked {
			out, err := p.s3.GetObject(t.Context(), &s3.GetObjectInput{Bucket: aws.String(bucket), Key: &key, VersionId: &v})
			if err != nil {
				t.Fatalf("acknowledged and lost: %s: %v", key, err)
			}
			b, err := io.ReadAll(out.Body)
			check(t, errors.Join(err, out.Body.Close()))
			if string(b) != key {
				t.Errorf("%s holds %q", key, b)
			}
		}
		written += len(acked)
		p.kill()
	}
	p = run(t, dir)
	defer p.kill()
	if written < 15 {
		t.Errorf("only %d writes were acknowledged", written)
	}
	got, err := p.sqs.ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{QueueUrl: aws.String(p.url + "/000000000000/kept")})
	check(t, err)
	par, err := ssm.NewFromConfig(p.aws).GetParameter(t.Context(), &ssm.GetParameterInput{Name: aws.String("/a/b")})
	check(t, err)
	if len(got.Messages) != 1 || *par.Parameter.Value != "v" {
		t.Errorf("%d messages, parameter %q", len(got.Messages), *par.Parameter.Value)
	}
}

func (c *cloud) receive(t *testing.T, queue string, wait int32) []sqstypes.Message {
	t.Helper()
	out, err := c.sqs.ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{QueueUrl: aws.String(c.url + "/000000000000/" + queue),
		MaxNumberOfMessages: 10, WaitTimeSeconds: wait})
	check(t, err)
	return out.Messages
}

// A message that somebody works on when the process dies comes again when its
// time is over; one that was deleted does not.
func TestMessagesInFlightSurviveKill9(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	p := run(t, dir)
	q, err := p.sqs.CreateQueue(t.Context(), &sqs.CreateQueueInput{QueueName: aws.String("work"), Attributes: map[string]string{"VisibilityTimeout": "1"}})
	check(t, err)
	send := func(bodies ...string) {
		for _, b := range bodies {
			_, err := p.sqs.SendMessage(t.Context(), &sqs.SendMessageInput{QueueUrl: q.QueueUrl, MessageBody: &b})
			check(t, err)
		}
	}
	send("done", "short", "hidden", "given back")
	handles := map[string]*string{}
	for _, m := range p.receive(t, "work", 0) {
		handles[*m.Body] = m.ReceiptHandle
	}
	if len(handles) != 4 {
		t.Fatalf("received %d of 4", len(handles))
	}
	_, err = p.sqs.DeleteMessage(t.Context(), &sqs.DeleteMessageInput{QueueUrl: q.QueueUrl, ReceiptHandle: handles["done"]})
	check(t, err)
	hide := func(body string, seconds int32) {
		_, err := p.sqs.ChangeMessageVisibility(t.Context(), &sqs.ChangeMessageVisibilityInput{QueueUrl: q.QueueUrl, ReceiptHandle: handles[body], VisibilityTimeout: seconds})
		check(t, err)
	}
	hide("hidden", 600)
	hide("given back", 0)
	p.kill()

	p = run(t, dir)
	seen := map[string]int{}
	deadline := time.Now().Add(4 * time.Second)
	for len(seen) < 2 && time.Now().Before(deadline) {
		for _, m := range p.receive(t, "work", 1) {
			seen[*m.Body]++
			_, err = p.sqs.DeleteMessage(t.Context(), &sqs.DeleteMessageInput{QueueUrl: aws.String(p.url + "/000000000000/work"), ReceiptHandle: m.ReceiptHandle})
			check(t, err)
		}
	}
	if seen["short"] != 1 || seen["given back"] != 1 || len(seen) != 2 {
		t.Errorf("came again: %v", seen)
	}
	p.kill()

	p = run(t, dir) // the one that is hidden for ten minutes lived through both
	defer p.kill()
	if ms := p.receive(t, "work", 0); len(ms) != 0 {
		t.Errorf("too early: %s", *ms[0].Body)
	}
	out, err := p.sqs.GetQueueAttributes(t.Context(), &sqs.GetQueueAttributesInput{QueueUrl: aws.String(p.url + "/000000000000/work"), AttributeNames: []sqstypes.QueueAttributeName{"All"}})
	check(t, err)
	if n := out.Attributes["ApproximateNumberOfMessagesDelayed"]; n != "1" {
		t.Errorf("%s messages wait, want 1", n)
	}
}

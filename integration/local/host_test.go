package local

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	ddb "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	awsecs "github.com/aws/aws-sdk-go-v2/service/ecs"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/ssm"

	"fastbowlinglab/shared/names"
)

// host is a process that keeps a cloud on a folder until it is killed; it
// prints where the cloud is as one line of JSON.
func host(dir string) {
	if err := run(dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(dir string) (err error) {
	if err := Prepare(dir); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	c, err := Start(ctx, Config{Dir: dir, Functions: testFunctions, Definition: waitDefinition,
		Binaries: os.Getenv("LOCAL_TEST_BINARIES"), StreamPoll: 10 * time.Millisecond})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	token, err := c.AthleteToken("athlete-1", time.Hour)
	if err != nil {
		return err
	}
	if err := json.NewEncoder(os.Stdout).Encode(hosted{c.Endpoint, c.API, token, c.db.Pid()}); err != nil {
		return err
	}
	return c.Wait(ctx)
}

// waitDefinition waits a little before it calls echo, so that a kill falls into the wait.
func waitDefinition(arns map[string]string) ([]byte, error) {
	b, err := testDefinition(arns)
	return []byte(strings.Replace(string(b), `{"StartAt":"Echo","States":{`,
		`{"StartAt":"Wait","States":{"Wait":{"Type":"Wait","Seconds":2,"Next":"Echo"},`, 1)), err
}

type hosted struct {
	Endpoint, API, Token string
	Database             int // process id
}

// boot starts a host on dir. end sends it a signal and waits for its end.
func boot(t *testing.T, dir, bin string) (h hosted, cloud *Cloud, end func(syscall.Signal) error) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "LOCAL_TEST_HOST="+dir, "LOCAL_TEST_BINARIES="+bin)
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
	out, err := cmd.StdoutPipe()
	check(t, err)
	check(t, cmd.Start())
	end = func(sig syscall.Signal) error {
		if err := syscall.Kill(-cmd.Process.Pid, sig); err != nil {
			return err
		}
		return cmd.Wait()
	}
	t.Cleanup(func() { _ = end(syscall.SIGKILL) }) // it may have ended
	line, err := bufio.NewReader(out).ReadBytes('\n')
	if err != nil {
		t.Fatalf("the host did not start: %v", err)
	}
	check(t, json.Unmarshal(line, &h))
	return h, &Cloud{Endpoint: h.Endpoint, API: h.API}, end
}

func gone(pid int) bool {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err != nil || strings.Contains(string(b), ") Z ") // a zombie has ended
}

func TestStateSurvivesKill9OfEverything(t *testing.T) {
	root, err := FindRoot()
	check(t, err)
	if _, err := os.Stat(filepath.Join(root, "node_modules/@dynoxide/linux-x64/dynoxide")); err != nil {
		t.Skip("dynoxide is not installed (npm install)")
	}
	ctx := t.Context()
	dir, bin := filepath.Join(t.TempDir(), "state"), binaries(t)
	h, c, end := boot(t, dir, bin)

	check(t, put(ctx, c, "an-1"))
	waitFor(t, "the stream", func() bool { n, _ := noted(t, c, "notify#an-1"); return n == 1 })
	obj, err := s3.NewFromConfig(c.AWS()).PutObject(ctx, &s3.PutObjectInput{Bucket: aws.String(names.Bucket), Key: aws.String("clips/1"), Body: strings.NewReader("clip")})
	check(t, err)
	_, err = sqs.NewFromConfig(c.AWS()).SendMessage(ctx, &sqs.SendMessageInput{QueueUrl: aws.String(queueURL(c.Endpoint, names.PoseQueue.Name)), MessageBody: aws.String("an-1")})
	check(t, err)
	_, err = ssm.NewFromConfig(c.AWS()).PutParameter(ctx, &ssm.PutParameterInput{Name: aws.String(names.Parameters + "/flags/pose_road"),
		Value: aws.String("http"), Overwrite: aws.Bool(true)})
	check(t, err)
	_, err = awsecs.NewFromConfig(c.AWS()).UpdateService(ctx, &awsecs.UpdateServiceInput{Cluster: aws.String(names.Cluster), Service: aws.String(names.PoseService), DesiredCount: aws.Int32(1)})
	check(t, err)
	waitFor(t, "the worker", func() bool { n, _ := noted(t, c, "worker"); return n == 1 })
	ex, err := sfn.NewFromConfig(c.AWS()).StartExecution(ctx, &sfn.StartExecutionInput{StateMachineArn: aws.String(StateMachineARN), Name: aws.String("an-1-1"), Input: aws.String(`{"a":1}`)})
	check(t, err)

	_ = end(syscall.SIGKILL) // an error by nature
	waitFor(t, "the end of the database process", func() bool { return gone(h.Database) })
	began := time.Now()
	h, c, end = boot(t, dir, bin)
	t.Logf("started on kept state in %v", time.Since(began).Round(time.Millisecond))

	waitFor(t, "another worker", func() bool { n, _ := noted(t, c, "worker"); return n == 2 })
	out, err := s3.NewFromConfig(c.AWS()).HeadObject(ctx, &s3.HeadObjectInput{Bucket: aws.String(names.Bucket), Key: aws.String("clips/1")})
	check(t, err)
	if *out.VersionId != *obj.VersionId {
		t.Errorf("the object's version is %s, was %s", *out.VersionId, *obj.VersionId)
	}
	m, err := sqs.NewFromConfig(c.AWS()).ReceiveMessage(ctx, &sqs.ReceiveMessageInput{QueueUrl: aws.String(queueURL(c.Endpoint, names.PoseQueue.Name))})
	check(t, err)
	if len(m.Messages) != 1 || *m.Messages[0].Body != "an-1" {
		t.Errorf("messages %+v", m.Messages)
	}
	p, err := ssm.NewFromConfig(c.AWS()).GetParameter(ctx, &ssm.GetParameterInput{Name: aws.String(names.Parameters + "/flags/pose_road")})
	check(t, err)
	if *p.Parameter.Value != "http" {
		t.Errorf("a changed setting is %q again", *p.Parameter.Value)
	}
	check(t, put(ctx, c, "an-2"))
	waitFor(t, "the stream", func() bool { n, _ := noted(t, c, "notify#an-2"); return n == 1 })
	if n, _ := noted(t, c, "notify#an-1"); n != 1 {
		t.Errorf("the first record arrived %d times: the stream's position was lost", n)
	}
	if code, body := get(t, h.API+"/v1/credits", h.Token); code != 200 {
		t.Errorf("a token from before: %d %s", code, body)
	}
	waitFor(t, "the execution's end", func() bool {
		d, err := sfn.NewFromConfig(c.AWS()).DescribeExecution(ctx, &sfn.DescribeExecutionInput{ExecutionArn: ex.ExecutionArn})
		check(t, err)
		return d.Status == "SUCCEEDED"
	})

	if err := end(syscall.SIGTERM); err != nil { // the other way to end: in order
		t.Errorf("SIGTERM: %v", err)
	}
	if !gone(h.Database) {
		t.Error("the database process outlives its cloud")
	}
	_, c, _ = boot(t, dir, bin)
	if n, _ := noted(t, c, "notify#an-2"); n != 1 {
		t.Errorf("after a stop in order the record has been handled %d times", n)
	}
}

func put(ctx context.Context, c *Cloud, id string) error {
	_, err := dynamodb.NewFromConfig(c.AWS()).PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String(names.Notices.Name),
		Item: map[string]ddb.AttributeValue{"analysis_id": &ddb.AttributeValueMemberS{Value: id}, "notice": &ddb.AttributeValueMemberS{Value: "ready#mail"}}})
	return err
}

func TestRefusedStarts(t *testing.T) {
	c := start(t)
	for _, tc := range []struct {
		name string
		cfg  Config
		want string
	}{
		{"AnotherCloudInThisProcess", Config{Functions: testFunctions, Definition: testDefinition, Binaries: c.cfg.Binaries}, "in use"},
		{"NotPrepared", Config{Dir: t.TempDir(), Functions: testFunctions, Binaries: c.cfg.Binaries}, "Prepare"},
		{"NotOnLoopback", Config{Addr: "0.0.0.0:0", Functions: testFunctions, Binaries: c.cfg.Binaries}, "not on loopback"},
		{"MissingPrograms", Config{Functions: testFunctions, Binaries: t.TempDir()}, "poseworker, echo/bootstrap"},
		{"UnknownVariable", Config{Functions: []names.Function{{Name: "echo", Env: []string{"NOBODY_KNOWS"}}}, Binaries: c.cfg.Binaries}, "NOBODY_KNOWS"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if tc.name == "UnknownVariable" {
				check(t, c.Close()) // its error comes later than that of a cloud in use
			}
			other, err := Start(t.Context(), tc.cfg)
			if err == nil {
				t.Fatal(errors.Join(errors.New("it started"), other.Close()))
			}
			contains(t, err.Error(), tc.want)
		})
	}
}

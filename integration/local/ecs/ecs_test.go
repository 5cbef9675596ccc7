package ecs

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
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
	"github.com/aws/aws-sdk-go-v2/credentials"
	awsecs "github.com/aws/aws-sdk-go-v2/service/ecs"
	"github.com/aws/aws-sdk-go-v2/service/ecs/types"

	"fastbowlinglab/integration/local/endpoint"
	"fastbowlinglab/shared/names"
)

// TestMain is also the task's program: what it does is in TASK.
func TestMain(m *testing.M) {
	switch os.Getenv("TASK") {
	case "":
		os.Exit(m.Run())
	case "crash":
		os.Exit(3)
	case "deaf":
		signal.Ignore(syscall.SIGTERM)
		child := exec.Command("sleep", "600")
		if err := child.Start(); err != nil {
			panic(err)
		}
		mark(fmt.Sprint(child.Process.Pid))
		select {}
	case "good":
		ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
		defer stop()
		mark(os.Getenv("ECS_AGENT_URI") + " " + os.Getenv("EXTRA"))
		<-ctx.Done()
	}
}

// mark leaves a file named by this process, with a text.
func mark(text string) {
	tmp := filepath.Join(os.Getenv("MARKS"), "."+strconv.Itoa(os.Getpid()))
	if err := os.WriteFile(tmp, []byte(text), 0o644); err != nil {
		panic(err)
	}
	if err := os.Rename(tmp, filepath.Join(os.Getenv("MARKS"), strconv.Itoa(os.Getpid()))); err != nil {
		panic(err)
	}
}

type fleet struct {
	*Cluster
	t     *testing.T
	sdk   *awsecs.Client
	url   string
	marks string
}

func start(t *testing.T, task string, change ...func(*Config)) *fleet {
	t.Helper()
	f := &fleet{t: t, marks: t.TempDir()}
	h := &endpoint.Router{Services: map[string]http.Handler{}}
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	self, err := os.Executable()
	check(t, err)
	cfg := Config{Program: self, Env: map[string]string{"TASK": task, "MARKS": f.marks, "PATH": os.Getenv("PATH")},
		Logs: t.TempDir(), URL: srv.URL, StopGrace: 10 * time.Second, Backoff: 10 * time.Millisecond,
		Log: slog.New(slog.DiscardHandler)}
	for _, c := range change {
		c(&cfg)
	}
	f.Cluster, err = New(cfg)
	check(t, err)
	t.Cleanup(func() { f.Close(time.Second) })
	h.Services[endpoint.ECS], h.Services[endpoint.ECSAgent] = f, f
	f.url = srv.URL
	f.sdk = awsecs.New(awsecs.Options{Region: "us-east-1", BaseEndpoint: aws.String(srv.URL), RetryMaxAttempts: 1,
		Credentials: credentials.NewStaticCredentialsProvider("local", "local", "")})
	return f
}

func (f *fleet) scale(n int32) {
	f.t.Helper()
	_, err := f.sdk.UpdateService(f.t.Context(), &awsecs.UpdateServiceInput{Cluster: aws.String(names.Cluster),
		Service: aws.String(names.PoseService), DesiredCount: &n})
	check(f.t, err)
}

func (f *fleet) service() types.Service {
	f.t.Helper()
	out, err := f.sdk.DescribeServices(f.t.Context(), &awsecs.DescribeServicesInput{Cluster: aws.String(names.Cluster),
		Services: []string{names.PoseService}})
	check(f.t, err)
	return out.Services[0]
}

func (f *fleet) tasks(status types.DesiredStatus) []types.Task {
	f.t.Helper()
	list, err := f.sdk.ListTasks(f.t.Context(), &awsecs.ListTasksInput{Cluster: aws.String(names.Cluster), DesiredStatus: status})
	check(f.t, err)
	if len(list.TaskArns) == 0 {
		return nil
	}
	out, err := f.sdk.DescribeTasks(f.t.Context(), &awsecs.DescribeTasksInput{Cluster: aws.String(names.Cluster), Tasks: list.TaskArns})
	check(f.t, err)
	return out.Tasks
}

// marked waits for n marks and gives their texts by process id.
func (f *fleet) marked(n int) map[int]string {
	f.t.Helper()
	out := map[int]string{}
	waitFor(f.t, fmt.Sprint(n, " marks"), func() bool {
		files, err := filepath.Glob(filepath.Join(f.marks, "[0-9]*"))
		check(f.t, err)
		for _, file := range files {
			pid, err := strconv.Atoi(filepath.Base(file))
			check(f.t, err)
			b, err := os.ReadFile(file)
			check(f.t, err)
			out[pid] = string(b)
		}
		return len(out) >= n
	})
	return out
}

func gone(pid int) bool { return syscall.Kill(pid, 0) == syscall.ESRCH }

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func waitFor(t *testing.T, what string, ok func() bool) {
	t.Helper()
	deadline := time.After(10 * time.Second)
	for !ok() {
		select {
		case <-deadline:
			t.Fatalf("waited in vain for %s", what)
		case <-time.After(2 * time.Millisecond):
		}
	}
}

func TestDesiredCount(t *testing.T) {
	f := start(t, "good")
	f.scale(2)
	f.marked(2)
	if s := f.service(); s.DesiredCount != 2 || s.RunningCount != 2 {
		t.Errorf("desired %d, running %d", s.DesiredCount, s.RunningCount)
	}
	f.scale(0)
	waitFor(t, "an empty service", func() bool { return f.service().RunningCount == 0 })
	for _, task := range f.tasks(types.DesiredStatusStopped) {
		if task.StopCode != types.TaskStopCodeServiceSchedulerInitiated || *task.Containers[0].ExitCode != 0 {
			t.Errorf("a task that left in order: %s, exit %d", task.StopCode, *task.Containers[0].ExitCode)
		}
	}
}

func TestACrashIsReplacedAfterAGrowingWait(t *testing.T) {
	f := start(t, "crash")
	began := time.Now()
	f.scale(1)
	waitFor(t, "five deaths", func() bool { return len(f.tasks(types.DesiredStatusStopped)) >= 5 })
	if d := time.Since(began); d < (10+20+40+80)*time.Millisecond {
		t.Errorf("five deaths in %v: the wait does not grow", d)
	}
	task := f.tasks(types.DesiredStatusStopped)[0]
	if task.StopCode != types.TaskStopCodeEssentialContainerExited || *task.Containers[0].ExitCode != 3 {
		t.Errorf("a crash shows as %s, exit %d", task.StopCode, *task.Containers[0].ExitCode)
	}
}

func TestKilledIsReplaced(t *testing.T) {
	f := start(t, "good")
	f.scale(1)
	for pid := range f.marked(1) {
		check(t, syscall.Kill(pid, syscall.SIGKILL))
	}
	f.marked(2)
	if task := f.tasks(types.DesiredStatusStopped)[0]; *task.Containers[0].ExitCode != 137 {
		t.Errorf("kill -9 shows as exit %d", *task.Containers[0].ExitCode)
	}
}

func TestAProgramThatDoesNotStartIsTriedAgain(t *testing.T) {
	f := start(t, "good", func(c *Config) { c.Program = filepath.Join(t.TempDir(), "late") })
	f.scale(1)
	self, err := os.Executable()
	check(t, err)
	check(t, os.Symlink(self, f.cfg.Program))
	f.marked(1)
}

func TestStopKillsTheGroupAfterTheGrace(t *testing.T) {
	f := start(t, "deaf", func(c *Config) { c.StopGrace = 50 * time.Millisecond })
	f.scale(1)
	marks := f.marked(1)
	began := time.Now()
	f.scale(0)
	waitFor(t, "an empty service", func() bool { return f.service().RunningCount == 0 })
	if d := time.Since(began); d < 50*time.Millisecond {
		t.Errorf("killed after %v: before its grace was over", d)
	}
	for pid, child := range marks {
		n, err := strconv.Atoi(child)
		check(t, err)
		waitFor(t, "its child's end", func() bool { return gone(n) })
		if !gone(pid) {
			t.Error("the task is still there")
		}
	}
}

func TestStopTaskIsReplacedByTheService(t *testing.T) {
	f := start(t, "good")
	f.scale(1)
	f.marked(1)
	_, err := f.sdk.StopTask(t.Context(), &awsecs.StopTaskInput{Cluster: aws.String(names.Cluster),
		Task: f.tasks(types.DesiredStatusRunning)[0].TaskArn, Reason: aws.String("test")})
	check(t, err)
	f.marked(2)
	task := f.tasks(types.DesiredStatusStopped)[0]
	if task.StopCode != types.TaskStopCodeUserInitiated || *task.StoppedReason != "test" {
		t.Errorf("%s %q", task.StopCode, *task.StoppedReason)
	}
}

func TestRunTask(t *testing.T) {
	f := start(t, "good")
	run := func(token string) []types.Task {
		out, err := f.sdk.RunTask(t.Context(), &awsecs.RunTaskInput{Cluster: aws.String(names.Cluster),
			TaskDefinition: aws.String(names.PoseService), Count: aws.Int32(1), ClientToken: &token, StartedBy: aws.String("wake"),
			Overrides: &types.TaskOverride{ContainerOverrides: []types.ContainerOverride{{Name: aws.String("worker"),
				Environment: []types.KeyValuePair{{Name: aws.String("EXTRA"), Value: aws.String("more")}}}}}})
		check(t, err)
		return out.Tasks
	}
	first := run("a")
	if again := run("a"); len(again) != 1 || *again[0].TaskArn != *first[0].TaskArn {
		t.Error("the same client token started another task")
	}
	if other := run("b"); *other[0].TaskArn == *first[0].TaskArn {
		t.Error("another client token gave the same task")
	}
	for _, text := range f.marked(2) {
		if !strings.HasSuffix(text, " more") {
			t.Errorf("the override did not arrive: %q", text)
		}
	}
	f.scale(0)
	if n := len(f.tasks(types.DesiredStatusRunning)); n != 2 {
		t.Errorf("scaling the service left %d of 2 tasks that are not its own", n)
	}
}

func TestProtection(t *testing.T) {
	f := start(t, "good")
	f.scale(2)
	marks := f.marked(2)
	newest := f.tasks(types.DesiredStatusRunning)[1]
	agent := ""
	for _, text := range marks {
		if uri := strings.Fields(text)[0]; strings.HasSuffix(*newest.TaskArn, filepath.Base(uri)) {
			agent = uri
		}
	}
	put := func(body string) (int, string) {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPut, agent+"/task-protection/v1/state", strings.NewReader(body))
		check(t, err)
		resp, err := http.DefaultClient.Do(req)
		check(t, err)
		defer resp.Body.Close()
		var b bytes.Buffer
		_, err = b.ReadFrom(resp.Body)
		check(t, err)
		return resp.StatusCode, b.String()
	}
	if code, body := put(`{"ProtectionEnabled":true,"ExpiresInMinutes":5}`); code != 200 || !strings.Contains(body, `"ExpirationDate"`) {
		t.Fatalf("%d %s", code, body)
	}
	if code, _ := put(`{}`); code != 400 {
		t.Errorf("a request without ProtectionEnabled: %d", code)
	}
	f.scale(1)
	waitFor(t, "one task", func() bool { return f.service().RunningCount == 1 })
	if left := f.tasks(types.DesiredStatusRunning); *left[0].TaskArn != *newest.TaskArn {
		t.Error("scale-in stopped the protected task")
	}
	f.scale(0)
	got, err := f.sdk.GetTaskProtection(t.Context(), &awsecs.GetTaskProtectionInput{Cluster: aws.String(names.Cluster), Tasks: []string{*newest.TaskArn}})
	check(t, err)
	if f.service().RunningCount != 1 || !got.ProtectedTasks[0].ProtectionEnabled {
		t.Error("scale-in stopped the protected task")
	}
	_, err = f.sdk.UpdateTaskProtection(t.Context(), &awsecs.UpdateTaskProtectionInput{Cluster: aws.String(names.Cluster),
		Tasks: []string{*newest.TaskArn}, ProtectionEnabled: false})
	check(t, err)
	waitFor(t, "an empty service", func() bool { return f.service().RunningCount == 0 })
}

func TestTheDesiredCountIsKept(t *testing.T) {
	file := filepath.Join(t.TempDir(), "state", "ecs.json")
	keep := func(c *Config) { c.State = file }
	f := start(t, "good", keep)
	f.scale(1)
	f.marked(1)
	f.Close(time.Second)
	if n := len(f.Pids()); n != 0 {
		t.Errorf("%d tasks outlive the cluster", n)
	}
	if again := start(t, "good", keep); again.Desired() != 1 || len(again.Pids()) != 1 {
		t.Errorf("desired %d, running %d", again.Desired(), len(again.Pids()))
	}
}

func TestForcedDeploymentReplacesTasks(t *testing.T) {
	f := start(t, "good")
	f.scale(1)
	old := f.marked(1)
	_, err := f.sdk.UpdateService(t.Context(), &awsecs.UpdateServiceInput{Cluster: aws.String(names.Cluster),
		Service: aws.String(names.PoseService), ForceNewDeployment: true})
	check(t, err)
	f.marked(2)
	for pid := range old {
		waitFor(t, "the old task's end", func() bool { return gone(pid) })
	}
}

func TestRefusals(t *testing.T) {
	f := start(t, "good")
	for _, tc := range []struct{ name, op, body, want string }{
		{"UnknownCluster", "DescribeServices", `{"cluster":"other","services":[]}`, "ClusterNotFoundException"},
		{"UnknownService", "UpdateService", `{"cluster":"fbl-pose","service":"other"}`, "ServiceNotFoundException"},
		{"UnknownTask", "StopTask", `{"cluster":"fbl-pose","task":"x"}`, "InvalidParameterException"},
		{"UnknownMember", "RunTask", `{"cluster":"fbl-pose","taskDefinition":"fbl-poseworker","placementStrategy":[]}`, `unknown field \"placementStrategy\"`},
		{"TooMany", "RunTask", `{"cluster":"fbl-pose","taskDefinition":"fbl-poseworker","count":11}`, "InvalidParameterException"},
		{"NegativeCount", "UpdateService", `{"cluster":"fbl-pose","service":"fbl-poseworker","desiredCount":-1}`, "InvalidParameterException"},
		{"UnknownOperation", "CreateCluster", `{}`, "UnknownOperationException"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(tc.body))
			r.Header.Set("X-Amz-Target", "AmazonEC2ContainerServiceV20141113."+tc.op)
			w := httptest.NewRecorder()
			f.ServeHTTP(w, r)
			if w.Code < 400 || !strings.Contains(w.Body.String(), tc.want) {
				t.Errorf("%d %s", w.Code, w.Body)
			}
		})
	}
	var out describeServicesOut
	b, err := operations["DescribeServices"](f.Cluster, []byte(`{"cluster":"fbl-pose","services":["other"]}`))
	check(t, err)
	raw, err := json.Marshal(b)
	check(t, err)
	check(t, json.Unmarshal(raw, &out))
	if len(out.Failures) != 1 || out.Failures[0].Reason != "MISSING" {
		t.Errorf("a missing service: %s", raw)
	}
}

// A kept count that says nothing is an error, and not a fleet of none.
func TestAKeptCountThatIsNoneIsSaid(t *testing.T) {
	for _, content := range []string{"", "null", "{}", "[]", `{"desired":2}`, `{"desired_count":-1}`, `{"desired_count":"2"}`} {
		file := filepath.Join(t.TempDir(), "ecs.json")
		if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		if c, err := New(Config{State: file}); err == nil || !strings.Contains(err.Error(), file) {
			t.Errorf("%q: %v, %v; want an error that names the file", content, c, err)
		}
	}
}

package stepfn

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	sfntypes "github.com/aws/aws-sdk-go-v2/service/sfn/types"
)

// longestReal is how much of the real time a row may need to be asked of moto.
const longestReal = 6500 * time.Millisecond

// differs says in which rows moto does something else, and why ours stands: the
// row's page, with what it says.
var differs = map[string]string{
	"a function error without an error object is Lambda.Unknown":                           "the page names Lambda.Unknown for a failure that Lambda does not name; moto gives an empty name",
	"any other failed call is Lambda.SdkClientException":                                   "the page lists it for calls that the SDK could not make; moto fails in its own code, which is States.Runtime",
	"Retry: when a retrier is used up the error stands":                                    "the same error and way; a cause's wording is not promised, and moto adds what the SDK tells of the call",
	"a path that finds nothing in Parameters is States.Runtime, which nothing catches":     runtimeStands,
	"a path that finds nothing in ResultSelector is States.Runtime":                        runtimeStands,
	"a ResultPath that does not fit is States.ResultPathMatchFailure, which can be caught": "the page has an error name of its own for it, which may be caught; moto has an unhandled Python error",
	"a failed intrinsic function is States.IntrinsicFailure, which can be caught":          "the page has an error name of its own for it, which may be caught; moto has an unhandled Python error",
	"the context object": "moto cannot describe an execution whose output came from the context object (500)",
	"Choice: no rule and no Default is States.NoChoiceMatched":                           "the page has this error name for it",
	"Choice: a variable that is missing is States.Runtime":                               "the page: an error unless IsPresent asks; moto takes the rule not to hold",
	"Map: items that are no array are States.Runtime":                                    runtimeStands,
	"a result over 256 KiB is States.DataLimitExceeded, which States.ALL does not catch": "the page: States.ALL does not catch States.DataLimitExceeded; a definition must be right either way, see README",
	"a result of exactly 256 KiB can be picked from":                                     "the page limits a task's result and does not say whether the envelope of a call counts; moto counts it. Our results are keys of some hundred bytes",
	"which can be caught by its own name":                                                "the page lets everything be caught by name but States.Runtime and terminal errors; in moto only a task's own result can",
	"Parameters over 256 KiB are States.DataLimitExceeded":                               "the page limits the input of a task; moto sends it",
}

const runtimeStands = "the page: States.Runtime always fails the execution, and States.ALL does not catch it; in moto it does"

// TestMoto asks another implementation, moto's server, the same questions. Where
// the two agree the engine has a second opinion; where they differ AWS's page, which
// stands in the row, decides.
func TestMoto(t *testing.T) {
	m := startMoto(t)
	rows := slices.Concat(taskRows(), dataRows(), otherRows(), limitRows())
	answers := make([]string, len(rows))
	var wg sync.WaitGroup
	slots := make(chan struct{}, 4)
	for i, r := range rows {
		if r.took > longestReal {
			answers[i] = "not asked: it needs " + r.took.String() + " of real time"
			continue
		}
		wg.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			answers[i] = m.ask(t.Context(), i, r)
		})
	}
	wg.Wait()
	agreed, asked := 0, 0
	for i, r := range rows {
		switch why, known := differs[r.behaviour]; {
		case strings.HasPrefix(answers[i], "not asked"):
			t.Logf("- %s: %s", r.behaviour, answers[i])
			continue
		case answers[i] == "" && known:
			t.Errorf("%s: moto agrees now; take it out of the list", r.behaviour)
		case answers[i] == "":
			agreed++
		case known:
			t.Logf("differs: %s: %s\n    ours stands: %s (%s)", r.behaviour, answers[i], why, r.page)
		default:
			t.Errorf("differs, and nobody has said which is right: %s: %s (%s)", r.behaviour, answers[i], r.page)
		}
		asked++
	}
	t.Logf("moto agrees in %d of %d rows", agreed, asked)
}

// moto is a running server of moto, whose functions are this test's.
type moto struct {
	api *sfn.Client
	mu  sync.Mutex
	fns map[string]*scripted // by row
}

func startMoto(t *testing.T) *moto {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(root, ".local/moto/bin/moto_server")
	if _, err := os.Stat(program); err != nil {
		t.Skip("moto is not installed: `make stepfn-moto` installs it and runs this")
	}
	m := &moto{fns: map[string]*scripted{}}
	lambdas := httptest.NewServer(http.HandlerFunc(m.invoke))
	t.Cleanup(lambdas.Close)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
	_ = l.Close() // free again for the server
	cmd := exec.Command(program, "-H", "127.0.0.1", "-p", port)
	_, lambdaPort, _ := net.SplitHostPort(lambdas.Listener.Addr().String())
	cmd.Env = append(os.Environ(), "MOTO_PORT="+lambdaPort) // where its state machines call other services
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	url := "http://127.0.0.1:" + port
	m.configure(t, url, &out)
	m.api = sfn.NewFromConfig(aws.Config{Region: "us-east-1", BaseEndpoint: &url, Credentials: credentials.NewStaticCredentialsProvider("x", "x", "")})
	return m
}

// configure waits for the server and tells it to run state machines.
func (m *moto) configure(t *testing.T, url string, log *bytes.Buffer) {
	t.Helper()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(60 * time.Second); time.Now().Before(end); <-tick.C {
		resp, err := http.Post(url+"/moto-api/config", "application/json", strings.NewReader(`{"stepfunctions":{"execute_state_machine":true}}`))
		if err != nil {
			continue
		}
		_ = resp.Body.Close()
		if resp.StatusCode/100 == 2 {
			return
		}
	}
	t.Fatalf("moto does not answer: %s", log)
}

var path = regexp.MustCompile(`/functions/[^/]*function:row(\d+)-([A-Za-z]+)(:\d+)?/invocations$`)

// invoke is Lambda, as far as moto's state machines call it.
func (m *moto) invoke(w http.ResponseWriter, r *http.Request) {
	at := path.FindStringSubmatch(strings.ReplaceAll(r.URL.EscapedPath(), "%3A", ":"))
	body, err := io.ReadAll(r.Body)
	if at == nil || err != nil {
		http.Error(w, "not a call of a row's function: "+r.URL.Path, http.StatusBadRequest)
		return
	}
	m.mu.Lock()
	s := m.fns[at[1]]
	m.mu.Unlock()
	if len(body) == 0 {
		body = []byte("{}")
	}
	out, failed, err := s.Invoke(r.Context(), fn(at[2]), body)
	w.Header().Set("X-Amzn-RequestId", requestID())
	var refused *InvokeError
	switch {
	case errors.As(err, &refused):
		code := strings.TrimPrefix(refused.Name, "Lambda.")
		status := map[string]int{"TooManyRequestsException": 429, "ResourceNotFoundException": 404}[code]
		w.Header().Set("X-Amzn-ErrorType", code)
		w.WriteHeader(status)
		fmt.Fprintf(w, `{"Type":"User","message":%q}`, refused.Message)
	case err != nil:
		panic(http.ErrAbortHandler)
	default:
		if failed != "" {
			w.Header().Set("X-Amz-Function-Error", failed)
		}
		w.Header().Set("X-Amz-Executed-Version", version("a:b:c:d:e:function:f"+at[3]))
		_, _ = w.Write(out)
	}
}

// ask runs a row on moto and says how its answer differs; "" when it does not.
func (m *moto) ask(ctx context.Context, i int, r row) string {
	key := strconv.Itoa(i)
	m.mu.Lock()
	m.fns[key] = &scripted{fns: r.fns}
	m.mu.Unlock()
	rename := func(s string) string { return strings.ReplaceAll(s, ":function:", ":function:row"+key+"-") }
	top := ""
	if r.timeout != "" {
		top = `"TimeoutSeconds":` + r.timeout + `,`
	}
	def := rename(`{"StartAt":"A",` + top + `"States":{` + r.states + `}}`)
	sm, err := m.api.CreateStateMachine(ctx, &sfn.CreateStateMachineInput{Name: aws.String("row" + key), Definition: &def, RoleArn: aws.String(testRole)})
	if err != nil {
		return "refused: " + shorten(err.Error())
	}
	in := rename(r.input)
	if in == "" {
		in = "{}"
	}
	x, err := m.api.StartExecution(ctx, &sfn.StartExecutionInput{StateMachineArn: sm.StateMachineArn, Name: aws.String("x-1"), Input: &in})
	if err != nil {
		return "not started: " + shorten(err.Error())
	}
	d := &sfn.DescribeExecutionOutput{Status: sfntypes.ExecutionStatusRunning}
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(r.took + time.Minute); d.Status == sfntypes.ExecutionStatusRunning && time.Now().Before(end); <-tick.C {
		if d, err = m.api.DescribeExecution(ctx, &sfn.DescribeExecutionInput{ExecutionArn: x.ExecutionArn}); err != nil {
			return "not described: " + shorten(err.Error())
		}
	}
	return r.compare(d, m.visited(ctx, x.ExecutionArn))
}

func (m *moto) visited(ctx context.Context, arn *string) string {
	h, err := m.api.GetExecutionHistory(ctx, &sfn.GetExecutionHistoryInput{ExecutionArn: arn})
	if err != nil {
		return "no history: " + shorten(err.Error())
	}
	var out []string
	for _, ev := range h.Events {
		if ev.StateEnteredEventDetails != nil {
			out = append(out, aws.ToString(ev.StateEnteredEventDetails.Name))
		}
	}
	return strings.Join(out, " ")
}

func (r row) compare(d *sfn.DescribeExecutionOutput, visited string) string {
	want := r.status
	if want == "" {
		want = Succeeded
	}
	switch got := aws.ToString(d.Output); {
	case string(d.Status) != string(want):
		return fmt.Sprintf("it is %s (%s %s), ours is %s %s", d.Status, aws.ToString(d.Error), shorten(aws.ToString(d.Cause)), want, r.error)
	case aws.ToString(d.Error) != r.error:
		return fmt.Sprintf("its error is %q, ours %q", aws.ToString(d.Error), r.error)
	case r.visits != "" && visited != r.visits:
		return fmt.Sprintf("it visits %q, ours %q", visited, r.visits)
	case r.output != "" && !strings.Contains(r.output, "2000-01-01") && !same(got, r.output): // a row of the virtual clock
		return fmt.Sprintf("its output is %s, ours %s", shorten(got), shorten(r.output))
	}
	return ""
}

// same compares two texts as JSON; what is an error object in a text is text.
func same(a, b string) bool {
	var x, y any
	if json.Unmarshal([]byte(a), &x) != nil || json.Unmarshal([]byte(b), &y) != nil {
		return a == b
	}
	return reflect.DeepEqual(x, y)
}

func shorten(s string) string {
	if len(s) > 160 {
		return s[:160] + "..."
	}
	return s
}

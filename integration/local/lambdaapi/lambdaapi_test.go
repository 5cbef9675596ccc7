package lambdaapi_test

import (
	"context"
	"encoding/json"
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

	"fastbowlinglab/integration/local/lambdaapi"
	"fastbowlinglab/shared/names"
)

// programs holds the two builds of testdata/fn.
var programs struct {
	once     sync.Once
	dir      string
	one, two string
	err      error
}

func TestMain(m *testing.M) {
	if program := os.Getenv("LAMBDAAPI_HOST"); program != "" {
		host(program)
		return
	}
	code := m.Run()
	if programs.dir != "" {
		_ = os.RemoveAll(programs.dir)
	}
	os.Exit(code)
}

func build(t *testing.T) (one, two string) {
	t.Helper()
	p := &programs
	p.once.Do(func() {
		if p.dir, p.err = os.MkdirTemp("", "lambdaapi-"); p.err != nil {
			return
		}
		p.one, p.two = filepath.Join(p.dir, "one"), filepath.Join(p.dir, "two")
		for name, to := range map[string]string{"one": p.one, "two": p.two} {
			cmd := exec.Command("go", "build", "-tags", "lambda.norpc", "-ldflags", "-s -w -X main.build="+name, "-o", to, "./testdata/fn")
			cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
			if out, err := cmd.CombinedOutput(); err != nil {
				p.err = fmt.Errorf("build the test function: %w\n%s", err, out)
				return
			}
		}
	})
	if p.err != nil {
		t.Fatal(p.err)
	}
	return p.one, p.two
}

// start makes a service with the function "fn", changed by opts.
func start(t *testing.T, opts ...func(*lambdaapi.Config)) *lambdaapi.Service {
	t.Helper()
	one, _ := build(t)
	cfg := lambdaapi.Config{
		Functions: []names.Function{{Name: "fn", Package: names.Zip, Timeout: 20 * time.Second, MemoryMB: 128}},
		Binary:    func(string) string { return one },
		Logs:      t.TempDir(),
	}
	for _, o := range opts {
		o(&cfg)
	}
	s := lambdaapi.New(cfg)
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return s
}

func timeout(d time.Duration) func(*lambdaapi.Config) {
	return func(c *lambdaapi.Config) { c.Functions[0].Timeout = d }
}

func env(kv ...string) func(*lambdaapi.Config) {
	return func(c *lambdaapi.Config) { c.Env = func(names.Function) []string { return kv } }
}

// answer is what testdata/fn returns, or the error of a failed invocation.
type answer struct {
	PID       int    `json:"pid"`
	Build     string `json:"build"`
	ARN       string `json:"arn"`
	RequestID string `json:"request_id"`
	LeftMS    int64  `json:"left_ms"`
	Env       string `json:"env"`
	Type      string `json:"errorType"`
	Message   string `json:"errorMessage"`
	Stack     []any  `json:"stackTrace"`
}

// call invokes and decodes; a refusal by the service fails the test.
func call(t *testing.T, s *lambdaapi.Service, function, payload string) (answer, string) {
	t.Helper()
	out, fe, err := s.Invoke(t.Context(), function, []byte(payload))
	if err != nil {
		t.Fatalf("invoke %s with %s: %v", function, payload, err)
	}
	var a answer
	if err := json.Unmarshal(out, &a); err != nil {
		t.Fatalf("answer %s: %v", out, err)
	}
	return a, fe
}

// gate is a server that a function calls: each call waits until it is answered.
type gate struct {
	url   string
	calls chan visit
}

// visit is one waiting call.
type visit struct {
	pid, child int
	request    string
	answer     chan string
}

func newGate(t *testing.T) *gate {
	t.Helper()
	g := &gate{calls: make(chan visit, 100)}
	done := make(chan struct{})
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		v := visit{answer: make(chan string, 1)}
		if _, err := fmt.Sscan(string(b), &v.pid, &v.child, &v.request); err != nil {
			t.Errorf("call %q: %v", b, err)
		}
		g.calls <- v
		select {
		case a := <-v.answer:
			_, _ = io.WriteString(w, a)
		case <-r.Context().Done():
		case <-done:
		}
	}))
	t.Cleanup(func() { close(done); srv.Close() })
	g.url = srv.URL
	return g
}

// next is the next call; it must come.
func (g *gate) next(t *testing.T) visit {
	t.Helper()
	select {
	case v := <-g.calls:
		return v
	case <-time.After(20 * time.Second):
		t.Fatal("the function never called")
		return visit{}
	}
}

func (g *gate) payload(do string) string { return fmt.Sprintf(`{"do":%q,"call":%q}`, do, g.url) }

// eventually waits for a condition that the system reaches by itself.
func eventually(t *testing.T, what string, cond func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	limit := time.After(20 * time.Second)
	for !cond() {
		select {
		case <-tick.C:
		case <-limit:
			t.Fatalf("never: %s", what)
		}
	}
}

// alive reports whether a process exists and is no zombie.
func alive(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	return !strings.Contains(string(b[strings.LastIndexByte(string(b), ')'):]), " Z ")
}

// async invokes in the background.
func async(ctx context.Context, s *lambdaapi.Service, payload string) <-chan error {
	done := make(chan error, 1)
	go func() {
		_, fe, err := s.Invoke(ctx, "fn", []byte(payload))
		if err == nil && fe != "" {
			err = fmt.Errorf("function error %s", fe)
		}
		done <- err
	}()
	return done
}

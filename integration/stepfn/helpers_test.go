package stepfn

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"
)

// scripted is an Invoker whose functions are Go functions, named by the last
// part of their ARN. It counts the calls of each.
type scripted struct {
	fns   map[string]func(ctx context.Context, in map[string]any) (any, error)
	mu    sync.Mutex
	calls []string
}

// lambdaError is a function's own failure: its errorType and message.
type lambdaError struct{ errorType, message string }

func (e lambdaError) Error() string { return e.errorType }

func fn(name string) string { return "arn:aws:lambda:us-east-1:000000000000:function:" + name }

func (s *scripted) Invoke(ctx context.Context, arn string, payload []byte) ([]byte, string, error) {
	name := strings.Split(arn, ":")[6]
	s.mu.Lock()
	s.calls = append(s.calls, name)
	s.mu.Unlock()
	f := s.fns[name]
	if f == nil {
		return nil, "", &InvokeError{"Lambda.ResourceNotFoundException", "Function not found: " + arn}
	}
	var in map[string]any
	if err := json.Unmarshal(payload, &in); err != nil {
		return nil, "", fmt.Errorf("payload of %s: %w", name, err)
	}
	out, err := f(ctx, in)
	switch err := err.(type) {
	case nil:
	case lambdaError:
		b, _ := json.Marshal(map[string]string{"errorType": err.errorType, "errorMessage": err.message})
		return b, "Unhandled", nil
	default:
		return nil, "", err
	}
	if raw, ok := out.(json.RawMessage); ok {
		return raw, "", nil
	}
	b, err := json.Marshal(out)
	return b, "", err
}

func (s *scripted) count(name string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, c := range s.calls {
		if c == name {
			n++
		}
	}
	return n
}

type fns = map[string]func(ctx context.Context, in map[string]any) (any, error)

// always answers every call alike.
func always(out any, err error) func(context.Context, map[string]any) (any, error) {
	return func(context.Context, map[string]any) (any, error) { return out, err }
}

// inTurn answers each call with the next answer, and the last for ever.
func inTurn(answers ...func(context.Context, map[string]any) (any, error)) func(context.Context, map[string]any) (any, error) {
	var mu sync.Mutex
	n := 0
	return func(ctx context.Context, in map[string]any) (any, error) {
		mu.Lock()
		f := answers[min(n, len(answers)-1)]
		n++
		mu.Unlock()
		return f(ctx, in)
	}
}

// takes answers after a while of (virtual) time.
func takes(d time.Duration, out any, err error) func(context.Context, map[string]any) (any, error) {
	return func(context.Context, map[string]any) (any, error) {
		time.Sleep(d)
		return out, err
	}
}

// newEngine makes an engine that is closed when the test or bubble ends.
func newEngine(t testing.TB, opt Options) *Engine {
	t.Helper()
	if opt.Invoker == nil {
		opt.Invoker = &scripted{}
	}
	if opt.Seed == "" {
		opt.Seed = "test"
	}
	e, err := New(opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}

const testRole = "arn:aws:iam::000000000000:role/test"

// create makes the state machine m of a definition in which ROLE- and ARN-like
// placeholders are already filled in.
func create(t testing.TB, e *Engine, definition string) string {
	t.Helper()
	m, err := e.CreateStateMachine(CreateStateMachineInput{Name: "m", Definition: definition, RoleARN: testRole})
	if err != nil {
		t.Fatal(err)
	}
	return m.StateMachineARN
}

func start(t testing.TB, e *Engine, machine, name, input string) string {
	t.Helper()
	x, err := e.StartExecution(StartExecutionInput{StateMachineARN: machine, Name: name, Input: input})
	if err != nil {
		t.Fatal(err)
	}
	return x.ExecutionARN
}

// finish waits for the end of an execution and describes it.
func finish(t testing.TB, e *Engine, arn string) DescribeExecutionOutput {
	t.Helper()
	if err := e.Wait(context.Background(), arn); err != nil {
		t.Fatal(err)
	}
	return describe(t, e, arn)
}

func describe(t testing.TB, e *Engine, arn string) DescribeExecutionOutput {
	t.Helper()
	d, err := e.DescribeExecution(DescribeExecutionInput{ExecutionARN: arn})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func history(t testing.TB, e *Engine, arn string) []Event {
	t.Helper()
	h, err := e.GetExecutionHistory(GetExecutionHistoryInput{ExecutionARN: arn, MaxResults: 1000})
	if err != nil {
		t.Fatal(err)
	}
	return h.Events
}

// types lists the types of events.
func types(events []Event) string {
	var out []string
	for _, ev := range events {
		out = append(out, ev.Type)
	}
	return strings.Join(out, " ")
}

// visits lists the states that were entered.
func visits(events []Event) string {
	var out []string
	for _, ev := range events {
		if ev.StateEntered != nil {
			out = append(out, ev.StateEntered.Name)
		}
	}
	return strings.Join(out, " ")
}

func code(err error) string {
	if e, ok := err.(*APIError); ok {
		return e.Code
	}
	return fmt.Sprint(err)
}

func ptr[T any](v T) *T { return &v }

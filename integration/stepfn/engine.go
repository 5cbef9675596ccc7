package stepfn

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"fastbowlinglab/integration/stepfn/asl"
)

// Options configure an engine. Only Invoker is needed.
type Options struct {
	Invoker Invoker
	Region  string // default us-east-1
	Account string // default 000000000000
	// Seed makes tokens, ids and jitter the same in every run; "" means random.
	Seed string
	// Dir is a folder in which the engine keeps its journal, so that a restart
	// goes on where the last process ended. "" keeps everything in memory.
	Dir string
	// OnStatusChange is called once for each change of an execution's status, in
	// order, from the execution's own goroutine and with no lock held. After a
	// crash a change may go unreported, as on AWS.
	OnStatusChange func(StatusChange)
	Logger         *slog.Logger // default slog.Default
	// MaxOpen is how many executions may be open at once; 0 is AWS's quota of
	// 1,000,000. A start or redrive above it is ExecutionLimitExceeded.
	MaxOpen int
}

// Engine holds state machines and runs their executions.
type Engine struct {
	opt    Options
	source source
	ctx    context.Context // ends when the engine is closed
	cancel context.CancelFunc
	wg     sync.WaitGroup // executions and invocations

	mu         sync.Mutex // guards what follows; never held over Invoker or OnStatusChange
	closed     bool
	broken     error // why the journal cannot be written; nothing goes on then
	journal    *journal
	machines   map[string]*machine // by ARN
	order      []*machine
	executions map[string]*execution // by ARN
	tokens     map[string]*token
}

// New makes an engine. With Options.Dir it reads the journal and goes on with
// the executions that were open; their goroutines start at once.
func New(opt Options) (*Engine, error) {
	if opt.Invoker == nil {
		return nil, errors.New("stepfn: Options.Invoker is missing")
	}
	if opt.Region == "" {
		opt.Region = "us-east-1"
	}
	if opt.Account == "" {
		opt.Account = "000000000000"
	}
	if opt.MaxOpen == 0 {
		opt.MaxOpen = 1_000_000
	}
	if opt.Logger == nil {
		opt.Logger = slog.Default()
	}
	src, err := newSource(opt.Seed)
	if err != nil {
		return nil, fmt.Errorf("stepfn: %w", err)
	}
	e := &Engine{opt: opt, source: src, machines: map[string]*machine{},
		executions: map[string]*execution{}, tokens: map[string]*token{}}
	e.ctx, e.cancel = context.WithCancel(context.Background())
	if opt.Dir != "" {
		e.mu.Lock()
		err := e.open(opt.Dir)
		e.mu.Unlock()
		if err != nil {
			e.cancel()
			return nil, fmt.Errorf("stepfn: %w", err)
		}
	}
	return e, nil
}

// Close stops the engine: executions stay where they are (a journal can take
// them up again), the contexts of running invocations are cancelled, and Close
// returns when every Invoker call has returned.
func (e *Engine) Close() error {
	e.mu.Lock()
	if e.closed {
		e.mu.Unlock()
		return nil
	}
	e.closed = true
	e.mu.Unlock()
	e.cancel()
	e.wg.Wait()
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.journal.close()
}

// Wait blocks until the execution has ended and its last status change was
// reported, or ctx ends. A redrive that comes later is not waited for.
func (e *Engine) Wait(ctx context.Context, executionARN string) error {
	e.mu.Lock()
	x := e.executions[executionARN]
	var done chan struct{}
	if x != nil {
		done = x.done
	}
	e.mu.Unlock()
	if x == nil {
		return apiErr(CodeExecutionDoesNotExist, "Execution Does Not Exist: '%s'", executionARN)
	}
	select {
	case <-done: // also when the engine closes: then it is still open
	case <-ctx.Done():
		return ctx.Err()
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if (e.closed || e.broken != nil) && x.status == Running {
		return errors.New("stepfn: the engine was closed while the execution was open")
	}
	return nil
}

// usable tells whether the API may change anything. The lock is held.
func (e *Engine) usable() error {
	switch {
	case e.broken != nil:
		return apiErr(CodeUnavailable, "the engine stopped: %v", e.broken)
	case e.closed:
		return apiErr(CodeUnavailable, "the engine is closed")
	}
	return nil
}

// write puts a line into the journal. When that fails nothing may go on: what is
// not recorded must not happen. The lock is held.
func (e *Engine) write(line any) error {
	if e.broken != nil {
		return errStopped
	}
	if err := e.journal.write(line); err != nil {
		e.broken = err
		e.opt.Logger.Error("stepfn: journal", "error", err.Error())
		e.cancel()
		return errStopped
	}
	return nil
}

// Status is the status of an execution.
type Status string

// The statuses.
const (
	Running   Status = "RUNNING"
	Succeeded Status = "SUCCEEDED"
	Failed    Status = "FAILED"
	TimedOut  Status = "TIMED_OUT"
	Aborted   Status = "ABORTED"
)

// execution is one run of a revision of a state machine.
type execution struct {
	arn, name, input string
	value            any // input, decoded
	machine          *machine
	rev              *revision
	origin           origin
	start            time.Time
	deadline         time.Time // zero: none
	seq              int       // rises with each start of the same machine
	cancel           context.CancelFunc

	// Guarded by Engine.mu.
	done   chan struct{} // of the present run
	status Status
	stop   time.Time
	output string
	fail   *asl.Error
	events []Event
	at     position
	inner  map[string]*position // of the branches of the state that the top stands in
	drives redrives
	report StatusChange // of the last end
}

// scope is the top of an execution, or one branch or iteration in it.
type scope struct {
	path  string // "" at the top; the names and numbers that lead here
	prev  int64  // id of the last event; guarded by Engine.mu
	visit int    // states entered so far
	item  any    // $$.Map of an iteration
	drive int    // redrives before: what an earlier run still does is refused
}

// Reasons for an interpreter to unwind without a failure of a state.
var (
	errStopped     = errors.New("stopped")      // ended by somebody else, or the engine closes
	errDeadline    = errors.New("timed out")    // the execution's TimeoutSeconds
	errHistoryFull = errors.New("history full") // MaxEvents
)

// add appends an event. It refuses when the execution has ended, when its time
// is up, and when the history is full. The lock is held.
func (e *Engine) add(x *execution, sc *scope, r record) error {
	t := now()
	switch {
	case x.status != Running, e.closed, sc.drive != x.drives.count:
		return errStopped
	case x.late(t):
		return errDeadline
	case len(x.events) >= MaxEvents-1:
		return errHistoryFull
	}
	return e.append(x, sc, r, t)
}

func (e *Engine) append(x *execution, sc *scope, r record, t time.Time) error {
	r.Kind, r.Execution, r.Scope = kindEvent, x.arn, sc.path
	r.Event.ID, r.Event.Previous, r.Event.Timestamp = int64(len(x.events)+1), sc.prev, Time{t}
	if err := e.write(r); err != nil {
		return err
	}
	sc.prev = r.Event.ID
	x.apply(r)
	if x.status != Running {
		x.report = e.change(x, false)
	}
	return nil
}

// late reports whether the execution's own time is up at t. Time decides, not
// which goroutine comes first.
func (x *execution) late(t time.Time) bool { return !x.deadline.IsZero() && !t.Before(x.deadline) }

// end closes an execution; it reports whether this call did. The lock is held.
func (e *Engine) end(x *execution, sc *scope, ev Event) bool {
	if x.status != Running || e.closed || sc.drive != x.drives.count {
		return false
	}
	t := now()
	if x.late(t) {
		ev = timedOut()
	}
	return e.append(x, sc, record{Event: ev}, t) == nil
}

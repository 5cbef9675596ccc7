package poseworker

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"
)

// Worker takes pose jobs and runs their passes.
type Worker struct {
	d     Deps
	slots *slots
	name  string // of this process; every claim adds a suffix of its own

	stopping chan struct{} // closed when no more work may begin
	stopOnce sync.Once
	jobs     sync.WaitGroup

	mu     sync.Mutex
	broken error // why this process can no longer be trusted with work

	telling   sync.Mutex // held while the container service is told
	protected bool       // what it was told last, or may have been
}

// ErrStuck says that a cancelled pass did not end: the process must be replaced.
var ErrStuck = errors.New("a cancelled pass did not end")

// New makes a worker.
func New(d Deps) (*Worker, error) {
	if d.Passes < 1 {
		return nil, fmt.Errorf("pose worker: %d passes at once; at least 1 is needed", d.Passes)
	}
	d.Timers = d.Timers.withDefaults()
	if d.Log == nil {
		d.Log = slog.Default()
	}
	host, err := os.Hostname()
	if err != nil {
		host = "unknown-host"
	}
	return &Worker{d: d, slots: newSlots(d.Passes), stopping: make(chan struct{}),
		name: fmt.Sprintf("%s/%d", host, os.Getpid())}, nil
}

// Run works until ctx ends, which is what SIGTERM does. It then takes no more,
// gives every job back so that another worker can go on at once, and returns
// nil within seconds. It returns an error when the process must be replaced.
func (w *Worker) Run(ctx context.Context) error {
	w.d.Log.Info("worker up", "owner", w.name, "passes", w.d.Passes, "engine", w.d.Vision.Engine(), "model", w.d.Vision.Model())
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		select {
		case <-w.stopping: // a pass broke the process
			cancel()
		case <-ctx.Done():
		}
	}()
	w.receive(ctx)
	w.stop(nil)
	w.jobs.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.d.Log.Info("worker down", "owner", w.name)
	return w.broken
}

// stop lets no more work begin and cancels what runs.
func (w *Worker) stop(broken error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if broken != nil && w.broken == nil {
		w.broken = broken
	}
	w.stopOnce.Do(func() { close(w.stopping) })
}

// claimName is new for every claim.
func (w *Worker) claimName() string { return w.name + "/" + rand.Text()[:10] }

func (w *Worker) now() time.Time {
	if w.d.Now != nil {
		return w.d.Now()
	}
	return time.Now()
}

// leaving reports whether no more work may begin.
func (w *Worker) leaving() bool {
	select {
	case <-w.stopping:
		return true
	default:
		return false
	}
}

// enter counts a request among what the worker's end waits for, as long as its leave
// is not called. It is false, and there is nothing to leave, when no more work may
// begin.
func (w *Worker) enter() (leave func(), ok bool) {
	w.mu.Lock() // stop waits for what has begun, so nothing may begin behind it
	defer w.mu.Unlock()
	if w.leaving() {
		return nil, false
	}
	w.jobs.Add(1)
	return w.jobs.Done, true
}

// begin runs fn in a slot that the caller has taken. It is false, and fn does not
// run, when no more work may begin.
func (w *Worker) begin(fn func()) bool {
	leave, ok := w.enter()
	if !ok {
		return false
	}
	go func() {
		defer leave()
		w.jobs.Go(func() { w.protect(true) }) // a pass does not wait for it
		defer w.protect(false)
		defer w.slots.Release()
		fn()
	}()
	return true
}

package lambdaapi

import (
	"context"
	"encoding/json"
	"fmt"
	"time"
)

// Request is one call of a function.
type Request struct {
	Function  string // name, name:version or ARN
	Qualifier string // version, when Function has none
	Payload   []byte // JSON; empty means {}
	Tail      bool   // wanted: Result.LogTail
}

// Result is what came of an invocation that ran.
type Result struct {
	Payload       []byte
	FunctionError string // "" or Unhandled; then Payload holds errorType and errorMessage
	Version       string
	RequestID     string
	LogTail       []byte // the end of what the function printed, at most 4 KB, when asked for
}

// invocation is one call on its way through a process.
type invocation struct {
	id       string
	arn      string
	trace    string
	payload  []byte
	deadline time.Time
	done     chan outcome
}

type outcome struct {
	payload []byte
	failed  bool
}

// Invoke calls a function by name, name:version or ARN and waits for its
// answer. functionError is "" or Unhandled; then out holds errorType and
// errorMessage. err is an *Error when no function ran, or ctx's error when the
// caller stopped waiting: the function runs on all the same.
func (s *Service) Invoke(ctx context.Context, function string, payload []byte) (out []byte, functionError string, err error) {
	r, err := s.Call(ctx, Request{Function: function, Payload: payload})
	return r.Payload, r.FunctionError, err
}

// Call is Invoke with everything that the Invoke API tells.
func (s *Service) Call(ctx context.Context, req Request) (Result, error) {
	p, payload, err := s.check(req, MaxRequest)
	if err != nil {
		return Result{}, err
	}
	if err := ctx.Err(); err != nil {
		return Result{}, err
	}
	if err := p.reserve(); err != nil {
		return Result{}, err
	}
	type answer struct {
		Result
		error
	}
	got := make(chan answer, 1)
	s.running.Add(1)
	go func() {
		defer s.running.Done()
		defer p.release()
		r, err := p.run(newID(), payload, req.Tail)
		got <- answer{r, err}
	}()
	select {
	case a := <-got:
		return a.Result, a.error
	case <-ctx.Done():
		return Result{}, fmt.Errorf("invoke %s: the caller stopped waiting: %w", req.Function, ctx.Err())
	}
}

// check finds the function and looks at the payload.
func (s *Service) check(req Request, limit int) (*pool, []byte, error) {
	p, err := s.pool(req.Function, req.Qualifier)
	if err != nil {
		return nil, nil, err
	}
	payload := req.Payload
	if len(payload) > limit {
		return nil, nil, tooLarge(limit)
	}
	if len(payload) == 0 {
		payload = []byte("{}")
	}
	var v json.RawMessage
	if err := json.Unmarshal(payload, &v); err != nil {
		return nil, nil, badContent(err)
	}
	return p, payload, nil
}

// run takes a process through one invocation. It does not know of the caller.
func (p *pool) run(id string, payload []byte, tail bool) (Result, error) {
	log := Invocation{Function: p.function.Name, Version: p.version, RequestID: id, Start: time.Now()}
	iv := &invocation{
		id: id, arn: ARN(p.function.Name, qualifierOf(p.version)), payload: payload, done: make(chan outcome, 1),
		trace: fmt.Sprintf("Root=1-%08x-%.24s;Sampled=0", log.Start.Unix(), compact(newID())),
	}
	in, o := p.dispatch(iv, &log)
	if o == nil {
		got := p.await(in, iv)
		o = &got
	}
	log.End = time.Now()
	if o.failed {
		log.Error = errorType(o.payload)
	}
	r := Result{Payload: o.payload, Version: p.version, RequestID: id}
	if o.failed {
		r.FunctionError = Unhandled
	}
	if in != nil {
		log.PeakMemoryMB = in.peakMemory()
		in.output.end(log, p.function.MemoryMB)
		if tail {
			r.LogTail = in.output.tail(id)
		}
		p.putIdle(in)
	}
	p.service.record.add(log)
	return r, nil
}

// dispatch finds or starts a process and hands it the invocation. An outcome
// means that it came to nothing before the function's code began.
func (p *pool) dispatch(iv *invocation, log *Invocation) (*instance, *outcome) {
	for in := p.takeIdle(); in != nil; in = p.takeIdle() {
		if in.alive() && in.hand(iv, time.Now().Add(p.function.Timeout), p.function.Timeout) {
			log.Dispatched = time.Now()
			return in, nil
		}
		// It died while it was idle; nothing has run.
	}
	log.Cold = true
	return p.coldStart(iv, log)
}

// coldStart starts a process. One that is not ready after the init time is
// started again, and then its start counts against the function's timeout.
func (p *pool) coldStart(iv *invocation, log *Invocation) (*instance, *outcome) {
	limit := p.service.cfg.Init
	for try := 0; ; try++ {
		in, err := p.start()
		if err != nil {
			return nil, &outcome{failure(ErrEntrypoint, iv.id, "Couldn't start %s: %v", p.program, err), true}
		}
		timer := time.NewTimer(limit)
		select {
		case <-in.ready:
			timer.Stop()
			return p.first(in, iv, log, try > 0)
		case <-in.dead:
			timer.Stop()
			return nil, &outcome{in.initFailure(iv.id), true}
		case <-timer.C:
			in.kill()
			if try > 0 {
				return nil, &outcome{timedOut(iv.id, p.function.Timeout), true}
			}
			limit = p.function.Timeout
		}
	}
}

// first hands a fresh process its first invocation.
func (p *pool) first(in *instance, iv *invocation, log *Invocation, counted bool) (*instance, *outcome) {
	log.Init = in.initTime
	left := p.function.Timeout
	if counted {
		left -= in.initTime
	}
	if !in.hand(iv, time.Now().Add(left), left) {
		<-in.dead
		return nil, &outcome{in.exitFailure(iv.id), true}
	}
	log.Dispatched = time.Now()
	return in, nil
}

// hand gives the invocation to the process's poll; false means that the process
// is dead or does not come for it, and that nothing has run.
func (in *instance) hand(iv *invocation, deadline time.Time, wait time.Duration) bool {
	iv.deadline = deadline
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case in.work <- iv:
		return true
	case <-in.dead:
	case <-timer.C:
		in.kill()
	}
	return false
}

// await waits for the function's answer, its death or its timeout.
func (p *pool) await(in *instance, iv *invocation) outcome {
	timer := time.NewTimer(time.Until(iv.deadline))
	defer timer.Stop()
	select {
	case o := <-iv.done:
		return o
	case <-in.dead:
		select {
		case o := <-iv.done: // it answered, then died
			return o
		default:
			return outcome{in.exitFailure(iv.id), true}
		}
	case <-timer.C:
		in.kill()
		<-in.dead
		return outcome{timedOut(iv.id, p.function.Timeout), true}
	}
}

// exitFailure is the answer for a process that ended under an invocation.
func (in *instance) exitFailure(id string) []byte {
	if in.exit == "exit status 0" {
		return failure(ErrExit, id, "Runtime exited without providing a reason")
	}
	return failure(ErrExit, id, "Runtime exited with error: %s", in.exit)
}

// initFailure is the answer for a process that ended before it asked for work.
func (in *instance) initFailure(id string) []byte {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.initErr != nil {
		return in.initErr
	}
	return in.exitFailure(id)
}

// qualifierOf is how a version shows in an ARN: $LATEST does not.
func qualifierOf(version string) string {
	if version == Latest {
		return ""
	}
	return version
}

func compact(id string) string {
	out := make([]byte, 0, len(id))
	for i := range len(id) {
		if id[i] != '-' {
			out = append(out, id[i])
		}
	}
	return string(out)
}

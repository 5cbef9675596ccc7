package lambdaapi

import (
	"errors"
	"log/slog"
	"net/http"
	"time"

	"fastbowlinglab/shared/retry"
)

// InvokeEvent takes a call that nobody waits for (invocation type Event) and
// gives its request id. A function that fails is tried again after each of
// Config.EventRetries, with the same request id; a throttled one waits its turn
// for up to six hours. What cannot be done then is dropped and logged.
func (s *Service) InvokeEvent(req Request) (requestID string, err error) {
	p, payload, err := s.check(req, MaxEventRequest)
	if err != nil {
		return "", err
	}
	select {
	case s.events <- struct{}{}:
	default:
		return "", throttled()
	}
	id := newID()
	s.running.Add(1)
	go func() {
		defer s.running.Done()
		defer func() { <-s.events }()
		p.runEvent(id, payload)
	}()
	return id, nil
}

func (p *pool) runEvent(id string, payload []byte) {
	retries := p.service.cfg.EventRetries
	for try := 0; ; try++ {
		r, err := p.runThrottled(id, payload)
		switch {
		case err != nil:
			slog.Warn("dropped an Event invocation", "function", p.function.Name, "request_id", id, "error", err)
			return
		case r.FunctionError == "":
			return
		case try == len(retries):
			slog.Warn("dropped an Event invocation", "function", p.function.Name, "request_id", id,
				"attempts", try+1, "error", errorType(r.Payload))
			return
		}
		if !p.service.sleep(retries[try]) {
			return
		}
	}
}

// runThrottled runs once, waiting for a place with growing pauses.
func (p *pool) runThrottled(id string, payload []byte) (Result, error) {
	deadline := time.Now().Add(maxEventAge)
	for pause := time.Second; ; pause = min(2*pause, 5*time.Minute) {
		err := p.reserve()
		if err == nil {
			defer p.release()
			return p.run(id, payload, false)
		}
		var e *Error
		if !errors.As(err, &e) || e.Status != http.StatusTooManyRequests || time.Now().After(deadline) {
			return Result{}, err
		}
		if !p.service.sleep(pause) {
			return Result{}, serviceError("the service is closed")
		}
	}
}

// sleep waits; false means that the service closed meanwhile.
func (s *Service) sleep(d time.Duration) bool {
	return retry.Sleep(s.ctx, d) == nil
}

package stepfn

import (
	"context"
	"maps"
	"sync"
	"testing"
	"time"

	"fastbowlinglab/shared/fault"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/statemachine"
)

// fake is a scripted world for the definition of an analysis: every function
// answers as its contract says, and the pose worker claims and finishes.
type fake struct {
	t *testing.T
	e *Engine
	s *scripted

	mu      sync.Mutex
	claimed func(n int, tok string)
	awaited func(n int, tok string)
	claims  int
	awaits  int
}

type fnMap map[string]func(context.Context, map[string]any) (any, error)

// an is the answer of a function as JSON that leaves nothing out.
func an(v any) func(context.Context, map[string]any) (any, error) { return always(v, nil) }

// newFake makes the world with everything going well; overrides replace functions.
func newFake(t *testing.T, overrides fnMap) *fake {
	t.Helper()
	f := &fake{t: t}
	f.claimed = func(_ int, tok string) { f.must(f.e.succeed(tok, `{"claimed":true,"fence":1}`)) }
	f.awaited = func(_ int, tok string) {
		f.must(f.e.succeed(tok, `{"verdict":"pass","reason":"","result_key":"work/an-1/1/1/result.json"}`))
	}
	base := fnMap{
		names.FnBegin:    an(names.BeginOut{Proceed: true, Status: "analysing", PoseRoad: "queue"}),
		names.FnWake:     an(names.WakeOut{Seq: 7}),
		names.FnPrecheck: an(names.VerdictOut{Verdict: names.VerdictPass}),
		names.FnQueueJob: func(_ context.Context, in map[string]any) (any, error) {
			f.mu.Lock()
			f.claims++
			n := f.claims
			f.mu.Unlock()
			go func() { time.Sleep(3 * time.Second); f.claimed(n, in["task_token"].(string)) }()
			return map[string]any{"state": "waiting", "queued": true}, nil
		},
		names.FnAwaitPose: func(_ context.Context, in map[string]any) (any, error) {
			f.mu.Lock()
			f.awaits++
			n := f.awaits
			f.mu.Unlock()
			go func() { time.Sleep(20 * time.Second); f.awaited(n, in["task_token"].(string)) }()
			return map[string]any{"state": "claimed"}, nil
		},
		names.FnProbe:    an(names.DispatchOut{State: names.DispatchReady}),
		names.FnPostJob:  an(names.DispatchOut{State: names.DispatchOwned}),
		names.FnFindings: an(names.TextOut{State: names.EffectDone, Key: "work/an-1/1/findings.json"}),
		names.FnCoaching: an(names.TextOut{State: names.EffectDone, Key: "work/an-1/1/coaching.json"}),
		names.FnRender:   an(names.RenderOut{PDFKey: "reports/an-1/1/report.pdf", JSONKey: "reports/an-1/1/report.json"}),
		names.FnDeliver:  an(names.EndOut{Status: "ready", Won: true}),
		names.FnReject:   an(names.EndOut{Status: "rejected", Won: true}),
		names.FnSettle:   an(names.EndOut{Status: "failed", Won: true}),
	}
	maps.Copy(base, overrides)
	f.s = &scripted{fns: fns{}}
	for name, fn := range base {
		f.s.fns[names.Prefix+name] = fn
	}
	f.e = newEngine(t, Options{Invoker: f.s})
	return f
}

func (f *fake) must(err error) {
	if err != nil {
		f.t.Errorf("token: %v", err)
	}
}

// start creates the state machine from the real file and starts an analysis.
func (f *fake) start() (arn string) {
	f.t.Helper()
	def, err := statemachine.Fill(statemachine.Analysis, statemachine.Substitutions(statemachine.Analysis, func(fn string) string {
		return "arn:aws:lambda:eu-west-2:000000000000:function:" + names.Prefix + fn + ":1"
	}))
	if err != nil {
		f.t.Fatal(err)
	}
	return start(f.t, f.e, create(f.t, f.e, string(def)), "an-1-1", `{"analysis_id":"an-1","attempt":1}`)
}

func transient(n int, then func(context.Context, map[string]any) (any, error)) func(context.Context, map[string]any) (any, error) {
	var list []func(context.Context, map[string]any) (any, error)
	for range n {
		list = append(list, fails(string(fault.Transient)))
	}
	return inTurn(append(list, then)...)
}

func elsewhere(d time.Duration) func(context.Context, map[string]any) (any, error) {
	return func(context.Context, map[string]any) (any, error) {
		return names.DispatchOut{State: names.DispatchWaiting, Until: time.Now().Add(d).UTC().Format(time.RFC3339)}, nil
	}
}

func until(d time.Duration) func(context.Context, map[string]any) (any, error) {
	return func(context.Context, map[string]any) (any, error) {
		return names.TextOut{State: names.EffectInProgress, Until: time.Now().Add(d).UTC().Format(time.RFC3339)}, nil
	}
}

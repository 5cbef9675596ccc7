package stepfn

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"fastbowlinglab/shared/fault"
	"fastbowlinglab/shared/flags"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/statemachine"
)

const (
	toPose   = "Begin Proceed Wake Precheck Bowling QueueJob AwaitPose"
	toProbe  = "Begin Proceed Wake Precheck Bowling Probe Probed" // the HTTP road
	toPosted = toProbe + " PostJob Posted AwaitPose"
	again    = " DispatchWait DispatchAgain"

	toText = toPose + " Measured Findings FindingsDone Coaching CoachingDone"
	toEnd  = toText + " Render Deliver"
)

// TestAnalysis drives the real definition along every way through it.
func TestAnalysis(t *testing.T) {
	settled := func(way string) string { return way + " Settle Settled Failed" }
	http := an(names.BeginOut{Proceed: true, Status: "analysing", PoseRoad: flags.RoadHTTP})
	type way struct {
		name      string
		overrides fnMap
		worker    func(*fake)
		visits    string
		status    Status
		error     string
		end       string // JSON at $.end of the output; "" is not looked at
	}
	ways := []way{
		{name: "delivered", visits: toEnd, status: Succeeded, end: `{"status":"ready","won":true}`},
		{name: "delivered, and shown another end", visits: toEnd, status: Succeeded, end: `{"status":"failed","won":false}`,
			overrides: fnMap{names.FnDeliver: an(names.EndOut{Status: "failed"})}},
		{name: "another execution holds it", visits: "Begin Proceed Conceded", status: Succeeded,
			overrides: fnMap{names.FnBegin: an(names.BeginOut{Status: "analysing"})}},
		{name: "a road that this definition does not have", visits: settled("Begin Proceed AnswerUnknown"), status: Failed, error: "Permanent",
			overrides: fnMap{names.FnBegin: an(names.BeginOut{Proceed: true, PoseRoad: "tunnel"})}},
		{name: "HTTP road, delivered", visits: toPosted + strings.TrimPrefix(toEnd, toPose), status: Succeeded, end: `{"status":"ready","won":true}`,
			overrides: fnMap{names.FnBegin: http}},
		{name: "HTTP road, a worker that starts, then one that is busy", status: Succeeded,
			visits: toProbe + again + " Probe Probed PostJob Posted" + again + " Probe Probed PostJob Posted AwaitPose" + strings.TrimPrefix(toEnd, toPose),
			overrides: fnMap{names.FnBegin: http,
				names.FnProbe:   inTurn(elsewhere(time.Minute), an(names.DispatchOut{State: names.DispatchReady}), an(names.DispatchOut{State: names.DispatchReady})),
				names.FnPostJob: inTurn(elsewhere(time.Minute), an(names.DispatchOut{State: names.DispatchOwned}))}},
		{name: "HTTP road, given back, then delivered", status: Succeeded,
			visits:    toPosted + " ReturnsLeft Returned Bowling Probe Probed PostJob Posted AwaitPose" + strings.TrimPrefix(toEnd, toPose),
			overrides: fnMap{names.FnBegin: http},
			worker: func(f *fake) {
				next := f.awaited
				f.awaited = func(n int, tok string) {
					if n > 1 {
						next(n, tok)
						return
					}
					f.must(f.e.fail(tok, string(fault.Released), "SIGTERM"))
				}
			}},
		{name: "HTTP road, no worker without end", status: Failed, error: "PoseFailed",
			visits:    settled(toProbe + strings.Repeat(again+" Probe Probed", statemachine.Loops) + " DispatchedTooOften"),
			overrides: fnMap{names.FnBegin: http, names.FnProbe: elsewhere(-time.Minute)}},
		{name: "HTTP road, an answer that nobody knows", status: Failed, error: "Permanent",
			visits:    settled(toProbe + " PostJob Posted AnswerUnknown"),
			overrides: fnMap{names.FnBegin: http, names.FnPostJob: an(names.DispatchOut{State: "odd"})}},
		{name: "footage rejected", visits: "Begin Proceed Wake Precheck Bowling RejectFootage", status: Succeeded, end: `{"status":"rejected","won":true}`,
			overrides: fnMap{names.FnPrecheck: an(names.VerdictOut{Verdict: names.VerdictReject, Reason: "not_bowling"})}},
		{name: "a verdict that nobody knows", visits: settled("Begin Proceed Wake Precheck Bowling AnswerUnknown"), status: Failed, error: "Permanent",
			overrides: fnMap{names.FnPrecheck: an(names.VerdictOut{Verdict: "maybe"})}},
		{name: "measured and rejected", visits: toPose + " Measured RejectMeasured", status: Succeeded, end: `{"status":"rejected","won":true}`,
			worker: func(f *fake) {
				f.awaited = func(_ int, tok string) {
					f.must(f.e.succeed(tok, `{"verdict":"reject","reason":"no_person","result_key":""}`))
				}
			}},
		{name: "a pose verdict that nobody knows", visits: settled(toPose + " Measured AnswerUnknown"), status: Failed, error: "Permanent",
			worker: func(f *fake) {
				f.awaited = func(_ int, tok string) { f.must(f.e.succeed(tok, `{"verdict":"","reason":"","result_key":""}`)) }
			}},
		{name: "pose failed for good", visits: settled(toPose), status: Failed, error: "PoseFailed",
			worker: func(f *fake) {
				f.awaited = func(_ int, tok string) { f.must(f.e.fail(tok, string(fault.PoseFailed), "three deaths")) }
			}},
		{name: "given back on SIGTERM, then delivered", status: Succeeded,
			visits: toPose + " ReturnsLeft Returned Bowling QueueJob AwaitPose" + strings.TrimPrefix(toEnd, toPose),
			worker: func(f *fake) {
				next := f.awaited
				f.awaited = func(n int, tok string) {
					if n > 1 {
						next(n, tok)
						return
					}
					f.must(f.e.fail(tok, string(fault.Released), "SIGTERM"))
				}
			}},
		{name: "a silent worker, then delivered", status: Succeeded,
			visits: toPose + " ReturnsLeft Returned Bowling QueueJob AwaitPose" + strings.TrimPrefix(toEnd, toPose),
			worker: func(f *fake) {
				next := f.awaited
				f.awaited = func(n int, tok string) {
					if n > 1 {
						next(n, tok)
					}
				}
			}},
		{name: "given back without end", status: Failed, error: "PoseFailed",
			visits: settled(toPose + strings.Repeat(" ReturnsLeft Returned Bowling QueueJob AwaitPose", statemachine.Returns) + " ReturnsLeft ReturnedTooOften"),
			worker: func(f *fake) {
				f.awaited = func(_ int, tok string) { f.must(f.e.fail(tok, string(fault.Released), "")) }
			}},
		{name: "a worker that never comes", visits: settled("Begin Proceed Wake Precheck Bowling QueueJob"), status: Failed, error: "States.Timeout",
			worker: func(f *fake) { f.claimed = func(int, string) {} }},
		{name: "the findings are made elsewhere", status: Succeeded,
			visits:    toPose + " Measured Findings FindingsDone FindingsElsewhere FindingsAgain Findings FindingsDone Coaching CoachingDone Render Deliver",
			overrides: fnMap{names.FnFindings: inTurn(until(time.Minute), an(names.TextOut{State: names.EffectDone, Key: "k"}))}},
		{name: "the coaching is made elsewhere", status: Succeeded,
			visits:    toText + " CoachingElsewhere CoachingAgain Coaching CoachingDone Render Deliver",
			overrides: fnMap{names.FnCoaching: inTurn(until(time.Minute), an(names.TextOut{State: names.EffectDone, Key: "k"}))}},
		{name: "the findings are made elsewhere without end", status: Failed, error: "OutcomeUnknown",
			visits: settled(toPose + " Measured" + strings.Repeat(" Findings FindingsDone FindingsElsewhere FindingsAgain", statemachine.Returns) +
				" Findings FindingsDone WaitedTooOften"),
			overrides: fnMap{names.FnFindings: until(-time.Minute)}}, // and in the past: a hot loop
		{name: "a text that is neither done nor in progress", visits: settled(toPose + " Measured Findings FindingsDone AnswerUnknown"), status: Failed, error: "Permanent",
			overrides: fnMap{names.FnFindings: an(names.TextOut{State: "odd"})}},
		{name: "settle finds another end", visits: toText + " Render Settle Settled Conceded", status: Succeeded, end: `{"status":"ready","won":false}`,
			overrides: fnMap{names.FnRender: fails("Permanent"), names.FnSettle: an(names.EndOut{Status: "ready"})}},
		{name: "settle is told that another attempt owns it", visits: toText + " Render Settle Conceded", status: Succeeded,
			overrides: fnMap{names.FnRender: fails("Permanent"), names.FnSettle: fails("Conceded")}},
		{name: "settle is lost", visits: toText + " Render Settle", status: Failed, error: "Transient",
			overrides: fnMap{names.FnRender: fails("Permanent"), names.FnSettle: fails("Transient")}},
		{name: "an answer that lacks a field ends the execution without its catch-all", visits: "Begin Proceed Wake Precheck", status: Failed, error: "States.Runtime",
			overrides: fnMap{names.FnPrecheck: an(map[string]any{"verdict": "pass"})}},
	}
	// Every stage: Conceded stands aside, another error is settled, four retries
	// are enough for four transient errors, and no more.
	good := map[string]string{}
	for i, state := range strings.Fields(toEnd) {
		good[state] = strings.Join(strings.Fields(toEnd)[:i+1], " ")
	}
	for state, fn := range map[string]string{
		"Begin": names.FnBegin, "Wake": names.FnWake, "Precheck": names.FnPrecheck, "QueueJob": names.FnQueueJob, "AwaitPose": names.FnAwaitPose,
		"Findings": names.FnFindings, "Coaching": names.FnCoaching, "Render": names.FnRender, "Deliver": names.FnDeliver,
	} {
		ways = append(ways,
			way{name: state + " concedes", visits: good[state] + " Conceded", status: Succeeded, overrides: fnMap{fn: fails("Conceded")}},
			way{name: state + " fails for good", visits: settled(good[state]), status: Failed, error: "Permanent", overrides: fnMap{fn: fails("Permanent")}},
			way{name: state + " fails transiently five times", visits: settled(good[state]), status: Failed, error: "Transient", overrides: fnMap{fn: fails("Transient")}},
			way{name: state + " dies", visits: settled(good[state]), status: Failed, error: "Sandbox.Timedout", overrides: fnMap{fn: fails("Sandbox.Timedout")}},
		)
		if fn != names.FnQueueJob && fn != names.FnAwaitPose {
			ways = append(ways, way{name: state + " does not answer", visits: settled(good[state]), status: Failed, error: "States.Timeout",
				overrides: fnMap{fn: takes(24*time.Hour, nil, nil)}})
		}
	}
	worst, err := statemachine.WorstCase(statemachine.Analysis)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, tc := range ways {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFake(t, tc.overrides)
				if tc.worker != nil {
					tc.worker(f)
				}
				d := finish(t, f.e, f.start())
				h := everything(t, f.e, d.ExecutionARN)
				if d.Status != tc.status || d.Error != tc.error {
					t.Errorf("%s %s (%.200s), want %s %s", d.Status, d.Error, d.Cause, tc.status, tc.error)
				}
				if got := visits(h); got != tc.visits {
					t.Errorf("visited %s\nwant    %s", got, tc.visits)
				}
				if tc.end != "" {
					var out struct{ End json.RawMessage }
					if err := json.Unmarshal([]byte(deref(d.Output)), &out); err != nil || string(out.End) != tc.end {
						t.Errorf("output %s, want the end %s", deref(d.Output), tc.end)
					}
				}
				if len(h) > worst.Events {
					t.Errorf("%d events; the worst case was said to be %d", len(h), worst.Events)
				}
				for _, v := range strings.Fields(visits(h)) {
					seen[v] = true
				}
				noTokenKept(t, h)
			})
		})
	}
	for _, name := range stateNames(t) {
		if !seen[name] {
			t.Errorf("no way leads through %s", name)
		}
	}
}

func stateNames(t *testing.T) []string {
	src, err := statemachine.Source(statemachine.Analysis)
	if err != nil {
		t.Fatal(err)
	}
	var d struct{ States map[string]any }
	if err := json.Unmarshal(src, &d); err != nil {
		t.Fatal(err)
	}
	return slices.Sorted(maps.Keys(d.States))
}

// everything reads a history of any length.
func everything(t *testing.T, e *Engine, arn string) (out []Event) {
	in := GetExecutionHistoryInput{ExecutionARN: arn, MaxResults: 1000}
	for {
		h, err := e.GetExecutionHistory(in)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, h.Events...)
		if in.NextToken = h.NextToken; in.NextToken == "" {
			return out
		}
	}
}

// noTokenKept: a task token is in the parameters of its own task and nowhere in
// the data that travels.
func noTokenKept(t *testing.T, h []Event) {
	t.Helper()
	for _, ev := range h {
		for _, text := range []*string{inputOf(ev), outputOf(ev)} {
			if text != nil && strings.Contains(*text, "task_token") {
				t.Errorf("event %d keeps a token: %s", ev.ID, *text)
			}
		}
	}
}

func inputOf(ev Event) *string {
	if ev.StateEntered == nil {
		return nil
	}
	return ev.StateEntered.Input
}

func outputOf(ev Event) *string {
	if ev.StateExited == nil {
		return nil
	}
	return ev.StateExited.Output
}

// TestAnalysisTransitions counts what a delivered run is billed for, which is
// what the costs go by: a state transition for each state entered, and two for
// Start and End.
func TestAnalysisTransitions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t, nil)
		d := finish(t, f.e, f.start())
		n := len(strings.Fields(visits(history(t, f.e, d.ExecutionARN))))
		t.Logf("a delivered run enters %d states and has %d events", n, len(history(t, f.e, d.ExecutionARN)))
		if n != statemachine.DeliveredStates {
			t.Errorf("%d states entered; statemachine says %d, and make cost goes by it", n, statemachine.DeliveredStates)
		}
		if statemachine.DeliveredTransitions > 16 {
			t.Errorf("%d transitions; with Start and End at most 16 are wanted", statemachine.DeliveredTransitions)
		}
		if took := d.StopDate.Sub(d.StartDate.Time); took != 23*time.Second {
			t.Errorf("the engine added time of its own: %s", took)
		}
	})
}

// TestAnalysisRetries: four transient errors in every stage, and still delivered.
func TestAnalysisRetries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		plain := newFake(t, nil).s.fns
		over := fnMap{}
		for _, fn := range []string{names.FnBegin, names.FnWake, names.FnPrecheck, names.FnFindings, names.FnCoaching, names.FnRender, names.FnDeliver} {
			over[fn] = transient(4, plain[names.Prefix+fn])
		}
		f := newFake(t, over)
		d := finish(t, f.e, f.start())
		if d.Status != Succeeded {
			t.Fatalf("%s %s %s", d.Status, d.Error, d.Cause)
		}
		for fn := range over {
			if n := f.s.count(names.Prefix + fn); n != 5 {
				t.Errorf("%s was called %d times", fn, n)
			}
		}
	})
}

// TestAnalysisWaitsForDays: the first claim comes late, the job is given back,
// and nobody ever claims it again.
func TestAnalysisWaitsForDays(t *testing.T) {
	for _, tc := range []struct {
		first  time.Duration // until the first claim
		status Status
		took   time.Duration
		visits string
	}{
		{12 * time.Hour, Failed, 12*time.Hour + 20*time.Second + names.ClaimTimeout, toPose + " ReturnsLeft Returned Bowling QueueJob Settle Settled Failed"},
		// Beyond the execution's own time-out: the event is what settles it.
		{6 * 24 * time.Hour, TimedOut, 8 * 24 * time.Hour, toPose + " ReturnsLeft Returned Bowling QueueJob"},
	} {
		synctest.Test(t, func(t *testing.T) {
			f := newFake(t, nil)
			f.claimed = func(n int, tok string) {
				if n > 1 {
					return
				}
				time.Sleep(tc.first - 3*time.Second) // newFake's worker takes 3 s already
				f.must(f.e.succeed(tok, `{"claimed":true,"fence":1}`))
			}
			f.awaited = func(_ int, tok string) { f.must(f.e.fail(tok, string(fault.Released), "")) }
			d := finish(t, f.e, f.start())
			took := d.StopDate.Sub(d.StartDate.Time)
			if got := visits(history(t, f.e, d.ExecutionARN)); d.Status != tc.status || d.Error != "States.Timeout" || took != tc.took || got != tc.visits {
				t.Errorf("%s %s after %s by %s\nwant %s after %s by %s", d.Status, d.Error, took, got, tc.status, tc.took, tc.visits)
			}
		})
	}
}

// TestAnalysisStopped: an operator's stop-execution raises the event that settle
// takes, with what it needs.
func TestAnalysisStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t, nil)
		var mu sync.Mutex
		var changes []string
		f.e.opt.OnStatusChange = func(c StatusChange) {
			mu.Lock()
			defer mu.Unlock()
			changes = append(changes, fmt.Sprint(c.Detail.Name, " ", c.Detail.Status))
		}
		f.awaited = func(_ int, tok string) {
			if err := f.e.succeed(tok, `{}`); code(err) != CodeTaskTimedOut {
				t.Errorf("the worker's late answer: %v", err)
			}
		}
		arn := f.start()
		time.Sleep(10 * time.Second)
		if _, err := f.e.StopExecution(StopExecutionInput{ExecutionARN: arn, Cause: "by hand"}); err != nil {
			t.Fatal(err)
		}
		finish(t, f.e, arn)
		time.Sleep(time.Minute)
		if strings.Join(changes, ", ") != "an-1-1 RUNNING, an-1-1 ABORTED" {
			t.Errorf("changes %v", changes)
		}
	})
}

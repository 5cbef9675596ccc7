package statemachine

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"fastbowlinglab/shared/names"
)

// TestCheckSeesEveryTask: no kind of state hides a task from the checks.
func TestCheckSeesEveryTask(t *testing.T) {
	for _, name := range Names() {
		src, err := Source(name)
		if err != nil {
			t.Fatal(err)
		}
		d, err := load(name)
		if err != nil {
			t.Fatal(err)
		}
		seen := 0
		for _, s := range d.all() {
			if s.Type == "Task" {
				seen++
			}
		}
		if written := strings.Count(string(src), `"Resource": `); seen == 0 || seen != written {
			t.Errorf("%s: %d tasks are written, %d are looked at", name, written, seen)
		}
	}
}

// TestCheckSeesRefusals changes the retriers of one task at a time.
func TestCheckSeesRefusals(t *testing.T) {
	const first, others = "the first retrier must be that of refused calls", "has a retrier of its own"
	few := 4
	for _, tc := range []struct {
		name   string
		change func(r []retrier) []retrier
		want   string
	}{
		{"none of their own", func(r []retrier) []retrier {
			r[1].ErrorEquals = append(r[1].ErrorEquals, "Lambda.TooManyRequestsException")
			return r[1:]
		}, "has 1 retriers"},
		{"the other way round", func(r []retrier) []retrier { return []retrier{r[1], r[0]} }, first},
		{"given up soon", func(r []retrier) []retrier { r[0].MaxAttempts = &few; return r }, first},
		{"attempts left to the default", func(r []retrier) []retrier { r[0].MaxAttempts = nil; return r }, first},
		{"without a bound", func(r []retrier) []retrier { r[0].MaxDelaySeconds = 0; return r }, first},
		{"without jitter", func(r []retrier) []retrier { r[0].JitterStrategy = "NONE"; return r }, first},
		{"of another beginning", func(r []retrier) []retrier { r[0].IntervalSeconds = 60; return r }, first},
		{"of another growth", func(r []retrier) []retrier { r[0].BackoffRate = 1; return r }, first},
		{"with a call that may have been carried out", func(r []retrier) []retrier {
			r[0].ErrorEquals = append(r[0].ErrorEquals, "Lambda.ServiceException")
			return r
		}, first},
		{"in both", func(r []retrier) []retrier {
			r[1].ErrorEquals = append(r[1].ErrorEquals, "Lambda.TooManyRequestsException")
			return r
		}, others},
	} {
		for _, name := range Names() {
			whole, err := load(name)
			if err != nil {
				t.Fatal(err)
			}
			for state, s := range whole.all() {
				if s.Type != "Task" {
					continue
				}
				d := copied(t, whole)
				target := d.States
				if _, outside := target[state]; !outside {
					target = d.States["Batches"].ItemProcessor.States
				}
				s = target[state]
				s.Retry = tc.change(s.Retry)
				target[state] = s
				if err := check(name, d); err == nil || !strings.Contains(err.Error(), "state "+state+": ") || !strings.Contains(err.Error(), tc.want) {
					t.Errorf("%s: %s of %s: got %v, want %q of it", tc.name, state, name, err, tc.want)
				}
			}
		}
	}
}

func copied(t *testing.T, d definition) (out definition) {
	t.Helper()
	b, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// TestRefusalsRunNothing pins the list: each of AWS's errors in it is documented as
// met before the function is run. An error that leaves this open must not be tried
// for an hour while its original may be at work.
func TestRefusalsRunNothing(t *testing.T) {
	for _, open := range lambdaErrors {
		if slices.Contains(refusals, open) {
			t.Errorf("%s is in both lists", open)
		}
	}
	for _, never := range []string{"Lambda.ServiceException", "Lambda.AWSLambdaException", "Lambda.SdkClientException",
		"Lambda.ClientExecutionTimeoutException", "Lambda.Unknown", "Runtime.ExitError", "Sandbox.Timedout", "States.Timeout"} {
		if slices.Contains(refusals, never) {
			t.Errorf("%s does not say that nothing was run", never)
		}
	}
}

// TestRefusedWaits holds how long a stage holds out against what it is for: minutes
// of a busy account at least, and an end by the analysis's deadline.
func TestRefusedWaits(t *testing.T) {
	mean, most := RefusedWait()
	t.Logf("refused calls are made again for %s in the mean, %s at most", mean, most)
	after := time.Duration(0) // the stages after the pass
	for _, f := range names.Functions() {
		if slices.Contains([]string{names.FnFindings, names.FnCoaching, names.FnRender, names.FnDeliver}, f.Name) {
			after += f.Timeout
		}
	}
	for what, ok := range map[string]bool{
		"it outlasts a busy quarter of an hour":                               mean >= 15*time.Minute,
		"one stage refused to the end leaves the others half of the deadline": most <= names.AnalysingDeadline/2,
		"and they need less": after+mean <= names.AnalysingDeadline/2,
		"a run that is refused, and its settle after it, end before a deletion may be called done": 2*most < names.ErasureSettle,
	} {
		if !ok {
			t.Errorf("%s: does not hold", what)
		}
	}
}

package aitask

import (
	"bytes"
	"strings"
	"testing"

	"fastbowlinglab/shared/fault"
	"fastbowlinglab/shared/motion"
	"fastbowlinglab/shared/names"
)

func kneeOf(knee float64) motion.Result {
	return motion.Result{Version: motion.ResultVersion, Engine: "e1", Model: "full", Clips: []motion.Clip{{
		Measures: []motion.Measure{{Name: motion.FrontKneeAngle, Phase: motion.Release, Value: knee, Unit: motion.Degrees, Band: 9, Confidence: .8}}}}}
}

// A restart that measures the same, by whatever engine, has its words already; one
// that measures something else never gets the words about the attempt before.
func TestARestartThatMeasuredOtherNumbersGetsItsOwnWords(t *testing.T) {
	w := newWorld(t, good)
	ask := func(attempt int, r motion.Result) names.TextOut {
		t.Helper()
		w.run.Attempt = attempt
		out, err := w.runner().Run(t.Context(), w.run, Findings, Input{Result: r})
		if err != nil || out.State != names.EffectDone {
			t.Fatalf("attempt %d: %+v, %v", attempt, out, err)
		}
		return out
	}
	first := ask(1, kneeOf(141))
	same := kneeOf(141)
	same.Engine, same.Model = "e2", "heavy"
	if out := ask(2, same); out != first || w.provider.calls.Load() != 1 {
		t.Errorf("the same numbers: %+v after %d calls; want %+v and one call", out, w.provider.calls.Load(), first)
	}
	other := ask(3, kneeOf(152))
	if other == first || w.provider.calls.Load() != 2 {
		t.Fatalf("other numbers: %+v after %d calls; want an answer of its own", other, w.provider.calls.Load())
	}
	if !strings.HasPrefix(other.Key, names.PrefixWork+"an-1/3/") {
		t.Errorf("the new answer is at %s", other.Key)
	}
	doc, err := ReadDocument(bytes.NewReader(w.objects.held[other.Key]), Findings)
	if err != nil || doc.About != About(kneeOf(152)) {
		t.Errorf("stored answer is about %q, %v", doc.About, err)
	}
	// Asked again, both stand as they are.
	if a, b := ask(3, kneeOf(152)), ask(3, kneeOf(141)); a != other || b != first || w.provider.calls.Load() != 2 {
		t.Errorf("asked again: %+v and %+v after %d calls", a, b, w.provider.calls.Load())
	}
}

func TestSuits(t *testing.T) {
	a, b := About(kneeOf(141)), About(kneeOf(152))
	if a == b || !Suits(a, a) || Suits(a, b) || !Suits("", b) {
		t.Errorf("%q and %q", a, b)
	}
}

// A run that was restarted while it was slow meets the answer of the attempt that
// came after it: it asks for nothing of its own, which nobody would read.
func TestAnOvertakenAttemptPaysForNothing(t *testing.T) {
	w := newWorld(t, good)
	w.run.Attempt = 2
	if _, err := w.runner().Run(t.Context(), w.run, Findings, Input{Result: kneeOf(152)}); err != nil {
		t.Fatal(err)
	}
	w.run.Attempt = 1
	out, err := w.runner().Run(t.Context(), w.run, Findings, Input{Result: kneeOf(141)})
	if fault.NameOf(err) != fault.Conceded || w.provider.calls.Load() != 1 {
		t.Errorf("%+v, %v after %d calls; want %s after one", out, err, w.provider.calls.Load(), fault.Conceded)
	}
}

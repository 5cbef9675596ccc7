package bedrock_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"fastbowlinglab/integration/bedrock"
	"fastbowlinglab/shared/aitask"
)

func always(a *bedrock.Act) func(int, bedrock.Call) *bedrock.Act {
	return func(int, bedrock.Call) *bedrock.Act { c := *a; return &c }
}

// Field cases 38 and 40: what stands in an answer, and what it cost.
func TestRecordedAnswers(t *testing.T) {
	for _, c := range []struct {
		file  string
		why   aitask.Why // "": the text is handed on
		holds string
		cost  [4]int64 // input, output, cache read, cache write; -1: not known
	}{
		{"l01_ok.json", "", `"Front foot lands closed."`, [4]int64{5120, 310, 0, 0}},
		{"l03_fenced.json", "", "```json", [4]int64{5120, 310, 0, 0}},
		{"l04_prose_then_json_then_prose.json", "", "{as asked}", [4]int64{5120, 310, 0, 0}},
		{"l05_refusal.json", "", "I can't help", [4]int64{5120, 310, 0, 0}}, // told from an answer where it is read
		{"l06_guardrail.json", aitask.Guarded, "", [4]int64{5120, 310, 0, 0}},
		{"l07_empty_content.json", aitask.Empty, "", [4]int64{5120, 310, 0, 0}},
		{"l08_usage_missing.json", "", "Front foot", [4]int64{-1, -1, -1, -1}},
		{"l09_usage_cache_tokens.json", "", "Front foot", [4]int64{120, 310, 4000, 1000}},
		{"l12_wrong_types.json", "", `"82%"`, [4]int64{5120, 310, 0, 0}},
		{"l13_html_and_control_chars.json", "", "<script>", [4]int64{5120, 310, 0, 0}},
	} {
		t.Run(c.file, func(t *testing.T) {
			srv := standIn(always(recorded(t, c.file)))
			r, err := provider(srv).Call(t.Context(), request(t, aitask.Coaching))
			tokens := r.Tokens
			if c.why != "" {
				var e *aitask.CallError
				if !errors.As(err, &e) || e.Failure != aitask.NoAnswer || !errors.Is(err, c.why) {
					t.Fatalf("%v, want no answer: %s", err, c.why)
				}
				tokens = e.Tokens
			} else if err != nil || !strings.Contains(r.Text, c.holds) {
				t.Fatalf("%q, %v", r.Text, err)
			}
			for i, got := range []*int64{tokens.Input, tokens.Output, tokens.CacheRead, tokens.CacheWrite} {
				if c.cost[i] < 0 && got != nil || c.cost[i] >= 0 && (got == nil || *got != c.cost[i]) {
					t.Errorf("tokens %v, want %v", got, c.cost)
				}
			}
			if n := len(srv.Calls()); n != 1 {
				t.Errorf("%d calls", n)
			}
		})
	}
}

// Field case 39: which errors are tried again, and which mean the model.
func TestRecordedErrors(t *testing.T) {
	for _, c := range []struct {
		file    string
		failure aitask.Failure
		calls   int
	}{
		{"e1_throttle.json", -1, 3}, {"e5_throttle_lowercase.json", -1, 3}, // goes through in the end
		{"e2_model_retired_validation.json", aitask.Unavailable, 1}, {"e3_model_end_of_life.json", aitask.Unavailable, 1},
		{"e4_model_timeout.json", aitask.Unknown, 1}, // it was at work: nobody knows
	} {
		for _, inBody := range []bool{false, true} {
			t.Run(c.file, func(t *testing.T) {
				act := recorded(t, c.file)
				act.InBody = inBody
				synctest.Test(t, func(t *testing.T) {
					srv := standIn(func(n int, _ bedrock.Call) *bedrock.Act {
						if n > 2 {
							return nil
						}
						return act
					})
					r, err := provider(srv).Call(t.Context(), request(t, aitask.Findings))
					var e *aitask.CallError
					switch {
					case c.failure == -1 && (err != nil || r.Throttled != 2):
						t.Errorf("%+v, %v, want an answer after two throttles", r, err)
					case c.failure >= 0 && (!errors.As(err, &e) || e.Failure != c.failure):
						t.Errorf("%v, want %s", err, c.failure)
					}
					if n := len(srv.Calls()); n != c.calls {
						t.Errorf("%d calls, want %d", n, c.calls)
					}
				})
			})
		}
	}
}

// Throttled for ever, the provider gives up while there is still time to say so.
func TestThrottledForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := standIn(always(&bedrock.Act{Status: 429, Code: "ThrottlingException"}))
		ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second)
		defer cancel()
		start := time.Now()
		_, err := provider(srv).Call(ctx, request(t, aitask.Precheck))
		var e *aitask.CallError
		if !errors.As(err, &e) || e.Failure != aitask.Throttled || e.Throttled != len(srv.Calls()) {
			t.Fatalf("%v after %d calls", err, len(srv.Calls()))
		}
		took := time.Since(start)
		if took > 54*time.Second || took < 20*time.Second {
			t.Errorf("gave up after %s of 60", took)
		}
		last := time.Duration(0)
		calls := srv.Calls()
		for i := 1; i < len(calls); i++ { // doubling up to a bound
			gap := calls[i].At.Sub(calls[i-1].At)
			if gap < last || gap > 20*time.Second {
				t.Errorf("gaps %s then %s", last, gap)
			}
			last = gap
		}
	})
}

// The stand-in's own answers are by the schema of the task and pass every check
// that a model's answer must pass.
func TestAnswersAreTrueToTheSchema(t *testing.T) {
	for _, task := range aitask.Tasks() {
		req := request(t, task)
		srv := standIn(nil)
		r, err := provider(srv).Call(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		if err := aitask.Check(r.Text, req.Spec, req.Input); err != nil {
			t.Errorf("%s: %v: %s", task, err, r.Text)
		}
		if err := valid(asJSON(t, req.Spec.Schema), asJSON(t, []byte(r.Text)), string(task)); err != nil {
			t.Error(err)
		}
		again, err := provider(standIn(nil)).Call(t.Context(), req)
		if err != nil || again.Text != r.Text || *again.Tokens.Output != *r.Tokens.Output {
			t.Errorf("%s: asked again: %v", task, err)
		}
		if !strings.Contains(r.Text, bedrock.Signed) {
			t.Errorf("%s does not say that no model wrote it: %s", task, r.Text)
		}
	}
}

func TestModelsThatItDoesNotServe(t *testing.T) {
	for _, id := range []string{"acme.gpt-1", "amazon.titan-text-express-v1", "us.amazon.nova-lite-v9:0"} {
		req := request(t, aitask.Findings)
		req.Model = id
		_, err := provider(standIn(nil)).Call(t.Context(), req)
		var e *aitask.CallError
		if !errors.As(err, &e) || e.Failure != aitask.Unavailable {
			t.Errorf("%s: %v, want unavailable", id, err)
		}
	}
}

// A slow answer is waited for as long as there is time, 300 s and no longer.
func TestSlowAnswers(t *testing.T) {
	for _, c := range []struct {
		after time.Duration
		drop  bool
		ok    bool
	}{{299 * time.Second, false, true}, {301 * time.Second, false, false}, {10 * time.Second, true, false}} {
		synctest.Test(t, func(t *testing.T) {
			srv := standIn(always(&bedrock.Act{Delay: c.after, Drop: c.drop}))
			ctx, cancel := context.WithTimeout(t.Context(), 300*time.Second)
			defer cancel()
			_, err := provider(srv).Call(ctx, request(t, aitask.Findings))
			var e *aitask.CallError
			if c.ok != (err == nil) || err != nil && (!errors.As(err, &e) || e.Failure != aitask.Unknown || e.Tokens.Input != nil) {
				t.Errorf("after %s, dropped %t: %v", c.after, c.drop, err)
			}
			synctest.Wait()
			time.Sleep(2 * time.Second) // virtual: the handler's own end
		})
	}
}

package stepfn

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// campaign runs executions with retries, jitter, tokens and time-outs, and gives
// a hash over all their histories.
func campaign(t *testing.T, seed string) (hash string) {
	synctest.Test(t, func(t *testing.T) {
		var e *Engine
		s := &scripted{fns: fns{
			"shaky": func(ctx context.Context, in map[string]any) (any, error) {
				c, ok := CallOf(ctx)
				if !ok || c.State != "A" || c.Visit != 1 {
					t.Errorf("call %+v", c)
				}
				if c.Attempt < len(c.ExecutionName)%4 {
					return nil, lambdaError{"Transient", fmt.Sprint("attempt ", c.Attempt)}
				}
				return in, nil
			},
			"wait": func(ctx context.Context, in map[string]any) (any, error) {
				tok, c := in["token"].(string), ctx
				call, _ := CallOf(c)
				go func() {
					time.Sleep(time.Duration(len(call.ExecutionName)) * 7 * time.Second)
					_ = e.succeed(tok, `"`+tok+`"`) // some come too late, on purpose
				}()
				return nil, nil
			},
		}}
		e = newEngine(t, Options{Invoker: s, Seed: seed})
		m := create(t, e, `{"StartAt":"A","States":{
			"A":{`+call("shaky", `{"n.$":"$$.Execution.Name"}`)+`,"Retry":[{"ErrorEquals":["Transient"],"IntervalSeconds":3,"MaxAttempts":4,"JitterStrategy":"FULL"}],"Next":"B"},
			"B":{`+callback("wait")+`,"TimeoutSeconds":60,"Catch":[{"ErrorEquals":["States.Timeout"],"Next":"Z"}],"End":true},"Z":{"Type":"Succeed"}}}`)
		var arns []string
		for i := range 12 {
			arns = append(arns, start(t, e, m, strings.Repeat("n", i+1), `{}`))
		}
		h := sha256.New()
		for _, arn := range arns {
			finish(t, e, arn)
			b, _ := json.Marshal(history(t, e, arn))
			h.Write(b)
		}
		time.Sleep(time.Hour) // the late answers
		hash = fmt.Sprintf("%x", h.Sum(nil)[:8])
	})
	return hash
}

func TestSameSeedSameHistories(t *testing.T) {
	first := campaign(t, "one")
	for range 20 {
		if again := campaign(t, "one"); again != first {
			t.Fatalf("hash %s, then %s", first, again)
		}
	}
	if other := campaign(t, "two"); other == first {
		t.Error("another seed gives the same histories")
	}
}

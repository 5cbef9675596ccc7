package batch_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	ddb "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	fnbackfill "fastbowlinglab/functions/backfill"
	"fastbowlinglab/integration/virtual"
	"fastbowlinglab/shared/backfill"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/statemachine"
)

// slow is a source whose calls take half a second. It sees two workers on one
// effect: one that calls while another's call lasts, and one that calls again
// after another has.
type slow struct {
	mu          sync.Mutex
	active      map[string]int
	last        string
	left        map[string]bool
	calls       map[string]int
	overlap     int
	interleaved int
}

func (s *slow) Do(ctx context.Context, o backfill.Order) (backfill.Made, error) {
	me := virtual.ProcOf(ctx).Name
	s.mu.Lock()
	s.calls[o.AnalysisID]++
	for other, n := range s.active {
		if other != me && n > 0 {
			s.overlap++
		}
	}
	if s.last != "" && s.last != me {
		s.left[s.last] = true
	}
	if s.left[me] {
		s.interleaved++
	}
	s.last = me
	s.active[me]++
	s.mu.Unlock()
	wait(ctx, 500*time.Millisecond)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.active[me]--
	return backfill.Made{Key: o.AnalysisID}, nil
}

// always makes a condition hold whatever is there, with its values still used.
func always(m map[string]any) bool {
	cond, ok := m["ConditionExpression"].(string)
	if ok {
		m["ConditionExpression"] = "(" + cond + ") OR attribute_exists(nothing) OR attribute_not_exists(nothing)"
	}
	return ok
}

// writes lists the writes of a request, each with its kind.
func writes(body map[string]any, visit func(kind string, m map[string]any)) {
	parts, ok := body["TransactItems"].([]any)
	if !ok {
		visit("UpdateItem", body)
		return
	}
	for _, p := range parts {
		for kind, m := range p.(map[string]any) {
			visit(kind, m.(map[string]any))
		}
	}
}

func expr(m map[string]any) string { s, _ := m["UpdateExpression"].(string); return s }

// off switches guards off: what takes the condition from a write.
var off = map[string]func(kind string, m map[string]any) bool{
	"lease": func(kind string, m map[string]any) bool { // anybody may acquire
		return kind == "UpdateItem" && m["TableName"] == names.Effects.Name && strings.Contains(expr(m), "ADD fence") && always(m)
	},
	"fence": func(kind string, m map[string]any) bool { // of claims: the run open, and its fence holding the lease
		run := m["TableName"] == names.Runs.Name && (kind == "ConditionCheck" || strings.HasPrefix(expr(m), "SET progress_at"))
		held := kind == "ConditionCheck" && m["TableName"] == names.Effects.Name
		return (run || held) && always(m)
	},
	"batch": func(_ string, m map[string]any) bool { // anybody may take a batch
		return m["TableName"] == names.Runs.Name && strings.Contains(expr(m), "begun_at = if_not_exists") && always(m)
	},
}

func without(guard string) func(virtual.Call) [][]byte {
	change := off[guard]
	return func(c virtual.Call) [][]byte {
		var body map[string]any
		if change == nil || c.Service != "dynamodb" || c.Op != "UpdateItem" && c.Op != "TransactWriteItems" || json.Unmarshal(c.Body, &body) != nil {
			return nil
		}
		changed := false
		writes(body, func(kind string, m map[string]any) { changed = change(kind, m) || changed })
		if !changed {
			return nil
		}
		b, err := json.Marshal(body)
		if err != nil {
			return nil
		}
		return [][]byte{b}
	}
}

// unseen hides the lease from whoever looks: the preflight is no guard, but it
// would be in the way.
func unseen(guard string) func(virtual.Call, []byte) []byte {
	return func(c virtual.Call, answer []byte) []byte {
		if guard == "lease" && c.Op == "GetItem" && strings.Contains(string(c.Body), "lease#") {
			return []byte("{}")
		}
		return answer
	}
}

// TestIncidentBWithoutAGuard takes each guard away in the situation that it is
// there for, and sees two workers on one effect; with it, there is one.
func TestIncidentBWithoutAGuard(t *testing.T) {
	for _, c := range []struct {
		guard   string
		times   bool // the worker's caller times out, and calls again
		cleared bool // somebody clears the lease by hand
	}{
		{"lease", false, false}, // a driver is killed and starts anew, its worker alive
		{"fence", false, true},  // the lease does not keep the second one out: all but the call in flight must end
		{"batch", true, false},  // one run, one caller, two workers
	} {
		for _, guard := range []string{"", c.guard} {
			t.Run(fmt.Sprintf("%s/off=%t", c.guard, guard != ""), func(t *testing.T) {
				src := &slow{active: map[string]int{}, left: map[string]bool{}, calls: map[string]int{}}
				opt := virtual.Options{Seed: 3, Rewrite: without(guard), Reply: unseen(guard),
					Override: map[string]func(*virtual.Cloud) lambda.Handler{names.FnBackfill: func(c *virtual.Cloud) lambda.Handler {
						return fnbackfill.New(c.Backfill(map[string]backfill.Worker{names.EffectReport: {Work: src}}))
					}}}
				if c.times {
					opt.Invocations = func(i virtual.Invocation) virtual.InvokeFault {
						if strings.Contains(i.ID, "/Batch/") && !strings.Contains(i.ID, "#2") {
							return virtual.InvokeFault{Kind: virtual.InvokeTimeout, After: 5 * time.Second}
						}
						return virtual.InvokeFault{}
					}
				}
				virtual.Run(t, opt, func(w *virtual.Cloud) {
					ctx, cancel := context.WithCancel(virtual.As(context.Background(), "driver"))
					defer cancel()
					twoDrivers(ctx, t, w, c.times, c.cleared)
				})
				broke := src.interleaved
				if !c.cleared {
					broke += src.overlap
				}
				t.Logf("%d overlaps, %d interleaved calls", src.overlap, src.interleaved)
				if (broke > 0) != (guard != "") {
					t.Errorf("two workers on one effect: %d overlaps, %d interleaved", src.overlap, src.interleaved)
				}
			})
		}
	}
}

// twoDrivers starts a run, kills its driver in mid-batch unless only its caller
// times out, and starts another, until one has come to its end.
func twoDrivers(ctx context.Context, t *testing.T, c *virtual.Cloud, times, cleared bool) {
	input := backfill.Spec{Effect: names.EffectReport, Version: "v1", IDs: ids(60)}
	begin := func(run string) {
		if err := c.StartBatch(ctx, statemachine.Backfill, run, input); err != nil {
			t.Error(err)
		}
	}
	begin("run-0")
	if !times {
		wait(ctx, 6200*time.Millisecond)
		stop(ctx, t, c, statemachine.Backfill, "run-0")
		if cleared {
			clear(ctx, t, c)
		}
		begin("run-1")
		wait(ctx, 40*time.Second)
		return
	}
	wait(ctx, 40*time.Second)
	stop(ctx, t, c, statemachine.Backfill, "run-0")
}

// clear takes the lease from whoever has it.
func clear(ctx context.Context, t *testing.T, c *virtual.Cloud) {
	t.Helper()
	_, err := c.Direct.UpdateItem(ctx, &dynamodb.UpdateItemInput{TableName: aws.String(names.Effects.Name),
		Key:                      map[string]ddb.AttributeValue{"effect": &ddb.AttributeValueMemberS{Value: names.LeaseOf(names.EffectReport)}},
		UpdateExpression:         aws.String("REMOVE #o, #t, #u"),
		ExpressionAttributeNames: map[string]string{"#o": "owner", "#t": "token", "#u": "until"}})
	if err != nil {
		t.Error(err)
	}
}

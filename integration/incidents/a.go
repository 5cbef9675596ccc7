package incidents

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/service/sfn"

	"fastbowlinglab/functions/poseworker"
	"fastbowlinglab/integration/faults"
	"fastbowlinglab/integration/virtual"
	"fastbowlinglab/shared/aitask"
	"fastbowlinglab/shared/names"
)

// idleTimeout is the load balancer's default, at which it cut every call of the
// orchestrator while what it had called went on.
const idleTimeout = 60 * time.Second

// guardsOfA are what the system of that day did not have.
var guardsOfA = []string{"notice-key", "effect-claim"}

// A plays incident A: an orchestrator has a report made behind the load balancer,
// is answered 504 after 60 s, and asks again 25 to 65 s later, five times; each
// generation takes 90 to 300 s. The fourth run is a loser: its model gives no
// answer, and it writes its failure late. In the end a stale verdict of "not
// bowling" comes in.
func A(t *testing.T, guards bool) Row {
	d := faults.Dice(1)
	row := Row{Incident: "A", Guards: word(guards)}
	var became []string
	longest := time.Duration(0)
	opt := virtual.Options{
		// The pose pass is over when the second run comes: the incident is about what follows.
		Vision:   func(*virtual.Proc) poseworker.Vision { return virtual.Sight{Chunks: 2, Each: time.Second} },
		Override: map[string]func(*virtual.Cloud) lambda.Handler{},
		Observe: func(_ *virtual.Cloud, call virtual.Call) {
			if end := faults.EndOf(call); end != "" {
				row.Ends++
				if len(became) == 0 || became[len(became)-1] != end {
					became = append(became, end)
				}
			}
		},
		Model: func(ctx context.Context, claim string) virtual.ModelAnswer {
			who := virtual.ProcOf(ctx).Name
			a := virtual.ModelAnswer{After: d.Between(45*time.Second, 150*time.Second, who)}
			if strings.Contains(who, "orchestrated-4") && strings.Contains(claim, "coaching") {
				a.After += time.Minute // the loser writes last
				none := aitask.NoAnswer
				a.Refuse = &none
			}
			return a
		},
	}
	if !guards {
		if err := faults.Off(&opt, guardsOfA...); err != nil {
			t.Fatal(err)
		}
		faults.BeginAnyway(&opt)
		faults.RecordAnyway(&opt)
		faults.StaleReads(&opt)
	}
	virtual.Run(t, opt, func(c *virtual.Cloud) {
		ctx := virtual.As(context.Background(), "client")
		c.SetParameter("/model/findings", virtual.PaidModel)
		c.SetParameter("/model/coaching", virtual.PaidModel)
		if err := c.Grant(ctx, 1); err != nil {
			t.Error(err)
			return
		}
		id, err := c.Submit(ctx, "key")
		if err != nil {
			t.Error(err)
			return
		}
		for n := 1; n <= 5; n++ { // the orchestrator: what it called is still at it
			orchestrate(ctx, t, c, id, n)
			wait(idleTimeout) // 504
			longest = max(longest, idleTimeout)
			wait(d.Between(25*time.Second, 65*time.Second, fmt.Sprint("again ", n)))
		}
		wait(20 * time.Minute)
		if _, err := c.Call(virtual.As(ctx, "stale/RejectFootage"), names.FnReject,
			names.RejectIn{Run: names.Run{AnalysisID: id, Attempt: 1}, Execution: "orchestrated-2", Reason: "not_bowling"}); err != nil {
			t.Error(err)
		}
		wait(20 * time.Minute)
		s, err := c.State(virtual.As(context.Background(), "test"), id)
		if err != nil {
			t.Error(err)
			return
		}
		row.ModelCalls, row.Refunds, row.Notices = len(c.ModelCalls()), refunds(s), len(c.Mails())
		row.Note = fmt.Sprintf("five runs, each cut at %s, the longest latency seen; became %s; balance %d of 1",
			longest, strings.Join(became, ", then "), s.Ledger.Balance)
	})
	return row
}

// orchestrate starts one run under a name of its own, as the orchestrator did.
func orchestrate(ctx context.Context, t *testing.T, c *virtual.Cloud, id string, n int) {
	name, in := fmt.Sprintf("orchestrated-%d", n), fmt.Sprintf(`{"analysis_id":%q,"attempt":1}`, id)
	_, err := sfn.NewFromConfig(c.Config).StartExecution(ctx, &sfn.StartExecutionInput{StateMachineArn: &c.Machine, Name: &name, Input: &in})
	if err != nil {
		t.Error(err)
	}
}

// refunds counts credits given back, by the balance and by the entries, whichever
// is more: with the guards off the two need not agree.
func refunds(s virtual.State) int {
	return max(s.Refunds(), int(s.Ledger.Balance))
}

func wait(d time.Duration) { time.Sleep(d) } // virtual time

package virtual_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"fastbowlinglab/integration/virtual"
	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/reason"
)

// Settle sends one write request, whether it wins or loses: one read for whom to
// refund, one transaction, and no read afterwards, since a lost one carries the
// winner. If its read already shows an end it writes nothing.
func TestSettleNeedsOneWrite(t *testing.T) {
	var ops []string
	opt := virtual.Options{NoFleet: true, Faults: func(c virtual.Call) virtual.Decision {
		if strings.HasPrefix(c.Actor, "settle-") && c.Service == "dynamodb" {
			ops = append(ops, c.Actor+" "+c.Op)
		}
		return virtual.Decision{}
	}}
	begun(t, opt, func(ctx context.Context, c *virtual.Cloud, id string) {
		wait(ctx, time.Minute)
		in := names.SettleIn{Run: names.Run{AnalysisID: id, Attempt: 1}, Execution: analysis.ExecutionName(id, 1), Error: "Permanent"}
		done := make(chan error, 2)
		for _, who := range []string{"settle-a", "settle-b"} { // both read before either writes, or one after the other
			go func() {
				_, err := c.Call(virtual.As(ctx, who), names.FnSettle, in)
				done <- err
			}()
		}
		for range 2 {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
		row, err := c.Life().Get(ctx, id)
		if err != nil || row.Status != analysis.Failed || row.Reason == string(reason.Cancelled) {
			t.Errorf("%+v, %v", row, err)
		}
		per := map[string]int{}
		for _, op := range ops {
			per[op]++
		}
		for _, who := range []string{"settle-a", "settle-b"} {
			if per[who+" GetItem"] != 1 || per[who+" TransactWriteItems"] > 1 || per[who+" UpdateItem"]+per[who+" PutItem"]+per[who+" Query"] != 0 {
				t.Errorf("%s: %v, want one read and one write", who, per)
			}
		}
		if per["settle-a TransactWriteItems"]+per["settle-b TransactWriteItems"] == 0 {
			t.Error("nobody wrote")
		}
	})
}

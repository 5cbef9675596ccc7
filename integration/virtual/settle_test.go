package virtual_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"fastbowlinglab/integration/virtual"
	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/reason"
)

// settled is what two calls of settle did, by actor.
type settled struct {
	ops    map[string][]string // requests to the database, in order
	tokens map[string][]string // client tokens of their writes
	out    map[string]names.EndOut
	row    analysis.Row
}

// settleTwice ends one running analysis twice at once.
func settleTwice(t *testing.T, faults func(actor, op string, n int) virtual.Decision) settled {
	s := settled{ops: map[string][]string{}, tokens: map[string][]string{}, out: map[string]names.EndOut{}}
	opt := virtual.Options{NoFleet: true, Faults: func(c virtual.Call) virtual.Decision {
		if !strings.HasPrefix(c.Actor, "settle-") || c.Service != "dynamodb" {
			return virtual.Decision{}
		}
		s.ops[c.Actor] = append(s.ops[c.Actor], c.Op)
		var body struct{ ClientRequestToken string }
		if c.Op == "TransactWriteItems" && json.Unmarshal(c.Body, &body) == nil {
			s.tokens[c.Actor] = append(s.tokens[c.Actor], body.ClientRequestToken)
		}
		return faults(c.Actor, c.Op, len(s.ops[c.Actor]))
	}}
	begun(t, opt, func(ctx context.Context, c *virtual.Cloud, id string) {
		wait(ctx, time.Minute)
		holder := map[string]string{"settle-a": analysis.ExecutionName(id, 1), "settle-b": "orchestrated-2"} // two that differ
		type answer struct {
			who string
			out []byte
			err error
		}
		done := make(chan answer, 2)
		for _, who := range []string{"settle-a", "settle-b"} {
			in := names.SettleIn{Run: names.Run{AnalysisID: id, Attempt: 1}, Execution: holder[who], Error: "Permanent"}
			go func() {
				out, err := c.Call(virtual.As(ctx, who), names.FnSettle, in)
				done <- answer{who, out, err}
			}()
		}
		for range 2 {
			a := <-done
			var out names.EndOut
			if a.err != nil || json.Unmarshal(a.out, &out) != nil {
				t.Errorf("%s: %s, %v", a.who, a.out, a.err)
			}
			s.out[a.who] = out
		}
		var err error
		if s.row, err = c.Life().Get(ctx, id); err != nil || s.row.Status != analysis.Failed || s.row.Reason == string(reason.Cancelled) {
			t.Errorf("%+v, %v", s.row, err)
		}
	})
	return s
}

func decide(f virtual.Fault, d time.Duration) virtual.Decision {
	return virtual.Decision{Fault: f, For: d}
}

// Settle sends one write request, whether it wins or loses: one read for whom to
// refund, one transaction, and no read afterwards, since a lost one carries the
// winner. Here both have read the analysis as open before either writes.
func TestSettleNeedsOneWrite(t *testing.T) {
	s := settleTwice(t, func(actor, op string, _ int) virtual.Decision {
		switch {
		case op != "TransactWriteItems":
			return virtual.Decision{}
		case actor == "settle-a":
			return decide(virtual.Late, 2*time.Second)
		}
		return decide(virtual.Late, 4*time.Second)
	})
	for _, who := range []string{"settle-a", "settle-b"} {
		if !slices.Equal(s.ops[who], []string{"GetItem", "TransactWriteItems"}) {
			t.Errorf("%s sent %v, want one read and one write", who, s.ops[who])
		}
	}
	if !s.out["settle-a"].Won || s.out["settle-b"].Won || s.out["settle-b"].Status != string(analysis.Failed) {
		t.Errorf("the first said %+v, the second %+v", s.out["settle-a"], s.out["settle-b"])
	}
	t.Logf("won: %v; lost: %v", s.ops["settle-a"], s.ops["settle-b"])
}

// The end that its read shows costs no write.
func TestSettleAfterTheEndWritesNothing(t *testing.T) {
	s := settleTwice(t, func(actor, op string, _ int) virtual.Decision {
		if actor == "settle-b" {
			return decide(virtual.Late, 5*time.Second)
		}
		return virtual.Decision{}
	})
	if !slices.Equal(s.ops["settle-b"], []string{"GetItem"}) || s.out["settle-b"].Status != string(analysis.Failed) {
		t.Errorf("%v, %+v", s.ops["settle-b"], s.out["settle-b"])
	}
}

// A write whose answer is lost is the same write again, under its client token, and
// is told that it won; the loser's lost answer is repeated too, and it still loses.
func TestSettleWithItsAnswerLost(t *testing.T) {
	s := settleTwice(t, func(actor, op string, n int) virtual.Decision {
		switch {
		case op != "TransactWriteItems":
			return virtual.Decision{}
		case actor == "settle-a" && n == 2:
			return decide(virtual.Lost, 0)
		case actor == "settle-b" && n == 2: // on its way for longer than its sender waits
			return decide(virtual.Straggler, 4*time.Second)
		}
		return virtual.Decision{}
	})
	if !slices.Equal(s.ops["settle-a"], []string{"GetItem", "TransactWriteItems", "TransactWriteItems"}) ||
		len(s.tokens["settle-a"]) != 2 || s.tokens["settle-a"][0] == "" || s.tokens["settle-a"][0] != s.tokens["settle-a"][1] {
		t.Errorf("%v under %q", s.ops["settle-a"], s.tokens["settle-a"])
	}
	if !s.out["settle-a"].Won || s.out["settle-b"].Won {
		t.Errorf("the first said %+v, the second %+v", s.out["settle-a"], s.out["settle-b"])
	}
	if !slices.Equal(s.ops["settle-b"], []string{"GetItem", "TransactWriteItems", "TransactWriteItems"}) {
		t.Errorf("the loser sent %v, want its write once more and no read", s.ops["settle-b"])
	}
}

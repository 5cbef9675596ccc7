package bedrock_test

import (
	"context"
	"io"
	"log/slog"
	"os"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/lambda"

	"fastbowlinglab/functions/coaching"
	"fastbowlinglab/functions/findings"
	"fastbowlinglab/integration/bedrock"
	"fastbowlinglab/integration/virtual"
	"fastbowlinglab/shared/aitask"
	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/budget"
	"fastbowlinglab/shared/effect"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/reason"
	"fastbowlinglab/shared/usage"
)

func TestMain(m *testing.M) {
	if os.Getenv("VIRTUAL_LOG") == "" {
		slog.SetDefault(slog.New(slog.NewTextHandler(io.Discard, nil)))
	}
	os.Exit(m.Run())
}

// setting is one model for every task.
type setting string

func (s setting) Model(_ context.Context, t aitask.Task) (aitask.Model, error) {
	return aitask.ParseModel(t.Setting(names.Parameters), string(s))
}

// texts are the two text stages with the stand-in behind them.
func texts(srv *bedrock.Server, model string) map[string]func(*virtual.Cloud) lambda.Handler {
	deps := func(c *virtual.Cloud) findings.Deps {
		p := provider(srv)
		p.Budget = budget.Store{DB: c.DB, Table: names.Effects.Name, Retry: c.Retry}
		p.Limit = budget.Limit{Rate: names.ModelCallsPerSecond, Burst: names.ModelCallsAtOnce}
		return findings.Deps{DB: c.DB, Analyses: names.Analyses.Name, Objects: c.Objects(), Bucket: names.Bucket, Retry: c.Retry,
			Tasks: &aitask.Runner{
				Effects: effect.New(c.DB, names.Effects.Name, effect.Takeovers(1), effect.Skew(names.ClockSkew), effect.Retry(c.Retry)),
				Objects: c.Objects(), Bucket: names.Bucket, Retry: c.Retry, Models: setting(model),
				Providers: map[string]aitask.Provider{aitask.BedrockProvider: p},
				Record: func(ctx context.Context, call usage.Call) error {
					return usage.Record(ctx, c.DB, names.Usage.Name, call)
				},
			}}
	}
	return map[string]func(*virtual.Cloud) lambda.Handler{
		names.FnFindings: func(c *virtual.Cloud) lambda.Handler { return findings.New(deps(c)) },
		names.FnCoaching: func(c *virtual.Cloud) lambda.Handler { return coaching.New(deps(c)) },
	}
}

// Whole analyses over the stand-in, by what the model does: each comes to one
// honest end, with every call counted.
func TestAnalyses(t *testing.T) {
	answer := func() *bedrock.Act { return nil }
	first := func(n int, a func() *bedrock.Act) func(int, bedrock.Call) *bedrock.Act {
		return func(i int, _ bedrock.Call) *bedrock.Act {
			if i <= n {
				return a()
			}
			return answer()
		}
	}
	after := func(d time.Duration) func() *bedrock.Act {
		return func() *bedrock.Act { return &bedrock.Act{Delay: d} }
	}
	refuse := func(status int, code, message string) func() *bedrock.Act {
		return func() *bedrock.Act { return &bedrock.Act{Status: status, Code: code, Message: message} }
	}
	for _, c := range []struct {
		name   string
		model  string
		script func(int, bedrock.Call) *bedrock.Act
		end    analysis.Status
		why    reason.Code
		calls  int // that reached the model
		rows   int // of usage
		priced int // of these
	}{
		{"AtOnce", model, nil, analysis.Ready, "", 2, 2, 2},
		{"After280Seconds", model, first(2, after(280*time.Second)), analysis.Ready, "", 2, 2, 2},
		{"FirstNeverComes", model, first(1, after(time.Hour)), analysis.Ready, "", 3, 3, 2},
		{"FirstAnswerIsLost", model, first(1, func() *bedrock.Act { return &bedrock.Act{Delay: 50 * time.Second, Drop: true} }), analysis.Ready, "", 3, 3, 2},
		{"EveryAnswerIsLost", model, first(99, func() *bedrock.Act { return &bedrock.Act{Drop: true} }), analysis.Failed, reason.OutcomeUnknown, 2, 2, 0},
		{"ThrottledAtFirst", model, first(5, refuse(400, "throttlingException", "Rate exceeded")), analysis.Ready, "", 7, 2, 2},
		{"Retired", "amazon.titan-text-express-v1", nil, analysis.Failed, reason.ModelUnavailable, 1, 1, 0},
		{"RetiredInOtherWords", model, first(99, refuse(400, "ValidationException", "The provided model identifier is invalid.")), analysis.Failed, reason.ModelUnavailable, 1, 1, 1},
		{"Guarded", model, func(int, bedrock.Call) *bedrock.Act { return recorded(t, "l06_guardrail.json") }, analysis.Failed, reason.ModelNoAnswer, 1, 1, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			srv := standIn(c.script)
			virtual.Run(t, virtual.Options{Seed: 3, Override: texts(srv, "bedrock:"+c.model)}, func(w *virtual.Cloud) {
				ctx := virtual.As(context.Background(), "test")
				state, bill, err := whole(ctx, w)
				if err != nil {
					t.Error(err)
					return
				}
				if state.Row.Status != c.end || state.Row.Reason != string(c.why) {
					t.Errorf("end %s %q, want %s %q", state.Row.Status, state.Row.Reason, c.end, c.why)
				}
				refunds := 1
				if c.end == analysis.Ready {
					refunds = 0
				}
				if state.Refunds() != refunds || state.Ledger.Balance != int64(refunds) || len(state.Notices) != 1 {
					t.Errorf("%d refunds, balance %d, %d notices", state.Refunds(), state.Ledger.Balance, len(state.Notices))
				}
				if n := len(srv.Calls()); n != c.calls || len(bill.Lines) != c.rows || len(bill.Lines)-bill.Unpriced != c.priced {
					t.Errorf("%d calls, %d rows, %d unpriced; want %d, %d, %d priced: %+v", n, len(bill.Lines), bill.Unpriced, c.calls, c.rows, c.priced, bill.Lines)
				}
			})
		})
	}
}

// whole takes one analysis to its end, with a reconciler beside it.
func whole(ctx context.Context, w *virtual.Cloud) (virtual.State, usage.Bill, error) {
	if err := w.Grant(ctx, 1); err != nil {
		return virtual.State{}, usage.Bill{}, err
	}
	id, err := w.Submit(ctx, "key")
	if err != nil {
		return virtual.State{}, usage.Bill{}, err
	}
	if err := w.StartExecution(ctx, id, 1); err != nil {
		return virtual.State{}, usage.Bill{}, err
	}
	w.Schedule(names.FnReconcile, names.ReconcilePeriod)
	for until := time.Now().Add(names.AnalysingDeadline + time.Hour); time.Now().Before(until); {
		row, err := w.Life().Get(ctx, id)
		if err != nil || row.Status.Ended() {
			break
		}
		time.Sleep(time.Minute) // virtual
	}
	time.Sleep(15 * time.Minute) // virtual: the notice leaves
	s, err := w.State(ctx, id)
	if err != nil {
		return s, usage.Bill{}, err
	}
	bill, err := usage.Store{DB: w.DB, Usage: names.Usage.Name, Prices: names.Prices.Name, Retry: w.Retry}.Bill(ctx, id, "")
	return s, bill, err
}

package virtual

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"fastbowlinglab/functions/operator"
	fnrender "fastbowlinglab/functions/render"
	"fastbowlinglab/shared/backfill"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/report"
	"fastbowlinglab/shared/revise"
	"fastbowlinglab/shared/usage"
	"fastbowlinglab/statemachine"
)

// operator is what operators start by hand.
func (c *Cloud) operator() lambda.Handler {
	now := c.clock(names.FnOperator)
	return operator.New(operator.Deps{
		Life: c.life(now), Ledger: c.Ledger(), Runs: c.Runs(), Usage: usage.Store{DB: c.DB, Usage: names.Usage.Name, Prices: names.Prices.Name},
		Steps: sfn.NewFromConfig(c.Config), MachineARN: c.Machine, Machines: strings.TrimSuffix(c.Machine, statemachine.Analysis), Queue: sqs.NewFromConfig(c.Config), QueueURL: QueueURL,
		Retry: c.Retry, Now: now,
	})
}

// pageless makes a report without pages: what it was made from, as text.
type pageless struct{}

// Build implements render's Reporter.
func (pageless) Build(_ context.Context, in report.Input) (pdf, js []byte, err error) {
	js, err = json.Marshal([]any{in.AnalysisID, in.Revision, in.Changed, in.Findings, in.Coaching})
	return append([]byte("%PDF-"), js...), js, err
}

// Reports is the backfill's work on reports: the real one, whose files are made by
// the real function without pages.
func (c *Cloud) Reports() map[string]backfill.Worker {
	render := fnrender.New(fnrender.Deps{DB: c.DB, Table: names.Analyses.Name, Objects: c.Objects(), Bucket: names.Bucket, Reporter: pageless{}, Retry: c.Retry})
	return map[string]backfill.Worker{names.EffectReport: {Takeovers: revise.Takeovers, Work: revise.Redo{
		Get: c.Life().Get, Texts: c.tasks(names.FnBackfill),
		Render: func(ctx context.Context, in names.RenderIn) (out names.RenderOut, err error) {
			b, err := json.Marshal(in)
			if err == nil {
				b, err = render.Invoke(ctx, b)
			}
			if err != nil {
				return out, err
			}
			return out, json.Unmarshal(b, &out)
		},
		Publish: revise.Publisher{DB: c.DB, Analyses: names.Analyses.Name, Notices: names.Notices.Name, Runs: c.Runs(), Retry: c.Retry},
		Files:   revise.Files{Objects: c.Objects(), Bucket: names.Bucket, Retry: c.Retry},
	}}}
}

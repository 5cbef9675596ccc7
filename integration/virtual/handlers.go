package virtual

import (
	"context"
	"maps"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/service/ecs"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sesv2"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	"github.com/aws/aws-sdk-go-v2/service/sns"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/ssm"

	"fastbowlinglab/functions/awaitpose"
	"fastbowlinglab/functions/begin"
	"fastbowlinglab/functions/deliver"
	"fastbowlinglab/functions/notify"
	"fastbowlinglab/functions/queuejob"
	"fastbowlinglab/functions/reconcile"
	"fastbowlinglab/functions/reject"
	"fastbowlinglab/functions/settle"
	"fastbowlinglab/functions/wake"
	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/credit"
	"fastbowlinglab/shared/fleet"
	"fastbowlinglab/shared/handler"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/notice"
	"fastbowlinglab/shared/outcome"
	"fastbowlinglab/shared/posejob"
	"fastbowlinglab/shared/tasktoken"
)

// Life, Ledger, Ends, Jobs and Sender are the domain's stores on this world.
func (c *Cloud) Life() analysis.Store { return c.life(nil) }

func (c *Cloud) life(now func() time.Time) analysis.Store {
	return analysis.Store{DB: c.DB, Analyses: names.Analyses.Name, Credits: names.Credits.Name, Retry: c.Retry, Now: now}
}

// Ledger is the store of credits.
func (c *Cloud) Ledger() credit.Store {
	return credit.Store{DB: c.DB, Credits: names.Credits.Name, Effects: names.Effects.Name, Retry: c.Retry}
}

// Ends is the store of ends.
func (c *Cloud) Ends() outcome.Store { return c.ends(nil) }

func (c *Cloud) ends(now func() time.Time) outcome.Store {
	return outcome.Store{DB: c.DB, Analyses: names.Analyses.Name, Credits: names.Credits.Name, Notices: names.Notices.Name, Retry: c.Retry, Now: now}
}

// Jobs is the store of pose jobs.
func (c *Cloud) Jobs() *posejob.Store { return c.jobs(c.DB, nil) }

func (c *Cloud) jobs(db posejob.DB, now func() time.Time) *posejob.Store {
	return &posejob.Store{DB: db, Table: names.PoseJobs.Name, Analyses: names.Analyses.Name, Retry: c.Retry, Now: now, Lease: c.opt.Lease}
}

// Sender sends notices.
func (c *Cloud) Sender() notice.Sender { return c.sender(nil) }

func (c *Cloud) sender(now func() time.Time) notice.Sender {
	return notice.Sender{
		DB: c.DB, Mail: sesv2.NewFromConfig(c.Config), Push: sns.NewFromConfig(c.Config), Topic: topicARN, People: c.People(),
		Notices: names.Notices.Name, Analyses: names.Analyses.Name,
		From: "reports@example.com", AppURL: "https://app.example.com/", Retry: c.Retry, Now: now,
	}
}

// noSweep is a sweep switched off.
type noSweep struct{}

func (noSweep) Sweep(context.Context, int) (int, error) { return 0, nil }

func (c *Cloud) sweeper() reconcile.Notices {
	if c.opt.NoSweep {
		return noSweep{}
	}
	return c.sender(c.clock(names.FnReconcile))
}

// Objects is a client of the world's storage.
func (c *Cloud) Objects() *s3.Client {
	return s3.NewFromConfig(c.Config, func(o *s3.Options) { o.UsePathStyle = true })
}

func (c *Cloud) fleet() fleet.Fleet {
	return fleet.Fleet{
		DB: c.DB, ECS: ecs.NewFromConfig(c.Config), Effects: names.Effects.Name,
		Cluster: names.Cluster, Service: names.PoseService, Retry: c.Retry,
	}
}

func (c *Cloud) tokens() tasktoken.Answerer {
	return tasktoken.Answerer{API: sfn.NewFromConfig(c.Config), Retry: c.Retry}
}

// handlers are the functions of this world: the real ones, but for those whose
// work is pictures (precheck, render) and what the run overrides.
func (c *Cloud) handlers() map[string]lambda.Handler {
	queue := sqs.NewFromConfig(c.Config)
	steps := sfn.NewFromConfig(c.Config)
	jobs := func(fn string) *posejob.Store { return c.jobs(c.DB, c.clock(fn)) }
	m := map[string]lambda.Handler{
		names.FnBegin: begin.New(begin.Deps{
			Life: c.life(c.clock(names.FnBegin)), Parameters: ssm.NewFromConfig(c.Config), Prefix: names.Parameters,
		}),
		names.FnWake:     wake.New(c.fleet(), func(ctx context.Context) (int, error) { return c.Life().Confirmed(ctx, c.fleet().Enough()) }),
		names.FnPrecheck: handler.New(names.FnPrecheck, c.passPrecheck),
		names.FnQueueJob: queuejob.New(queuejob.Deps{Jobs: jobs(names.FnQueueJob), Tokens: c.tokens(), Queue: queue,
			QueueURL: QueueURL, Retry: c.Retry, Now: c.clock(names.FnQueueJob)}),
		names.FnAwaitPose: awaitpose.New(awaitpose.Deps{Jobs: jobs(names.FnAwaitPose), Tokens: c.tokens()}),
		names.FnRender:    handler.New(names.FnRender, c.plainReport),
		names.FnDeliver:   deliver.New(c.ends(c.clock(names.FnDeliver))),
		names.FnReject:    reject.New(c.ends(c.clock(names.FnReject))),
		names.FnSettle:    settle.New(c.ends(c.clock(names.FnSettle))),
		names.FnAPI:       c.publicAPI(),
		names.FnOperator:  c.operator(),
		names.FnNotify:    notify.New(c.sender(c.clock(names.FnNotify))),
		names.FnReconcile: reconcile.New(reconcile.Deps{
			Life: c.life(c.clock(names.FnReconcile)), Ends: c.ends(c.clock(names.FnReconcile)), Notices: c.sweeper(),
			Fleet: c.fleet(), Steps: steps, MachineARN: c.Machine, Queue: queue, QueueURL: QueueURL, Now: c.clock(names.FnReconcile),
		}),
	}
	maps.Copy(m, c.texts())
	maps.Copy(m, c.batches())
	maps.Copy(m, c.httpRoad())
	for name, make := range c.opt.Override {
		m[name] = make(c)
	}
	return m
}

func (c *Cloud) passPrecheck(context.Context, names.Run) (names.VerdictOut, error) {
	return names.VerdictOut{Verdict: names.VerdictPass}, nil
}

// plainReport stores a report without pictures under the real keys.
func (c *Cloud) plainReport(ctx context.Context, in names.RenderIn) (names.RenderOut, error) {
	out := names.RenderOut{PDFKey: names.ReportPDFKey(in.AnalysisID, in.Attempt), JSONKey: names.ReportJSONKey(in.AnalysisID, in.Attempt)}
	for _, key := range []string{out.PDFKey, out.JSONKey} {
		if err := c.put(ctx, key, []byte("report of "+in.AnalysisID)); err != nil {
			return names.RenderOut{}, err
		}
	}
	return out, nil
}

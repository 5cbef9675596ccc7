package virtual

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/sfn"

	fnbackfill "fastbowlinglab/functions/backfill"
	fnnightly "fastbowlinglab/functions/nightly"
	"fastbowlinglab/functions/watch"
	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/backfill"
	"fastbowlinglab/shared/batchrun"
	"fastbowlinglab/shared/lease"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/nightly"
	"fastbowlinglab/shared/revise"
	"fastbowlinglab/shared/stamp"
)

// Runs is the store of the batch machines' runs.
func (c *Cloud) Runs() batchrun.Store {
	return batchrun.Store{DB: c.DB, Table: names.Runs.Name, Retry: c.Retry,
		Leases: lease.Store{DB: c.DB, Table: names.Effects.Name, Skew: names.ClockSkew, Retry: c.Retry}}
}

// TagRows is the store of tags.
func (c *Cloud) TagRows() nightly.Rows {
	return nightly.Rows{DB: c.DB, Table: names.Tags.Name, Runs: c.Runs(), Retry: c.Retry}
}

// Nightly is the nightly job with the embedded rules.
func (c *Cloud) Nightly() nightly.Job {
	return nightly.Job{Runs: c.Runs(), Rows: c.TagRows(), Days: c.Life(), Tagger: c.Tagger()}
}

// Tagger tags analyses by the embedded rules.
func (c *Cloud) Tagger() nightly.Tagger {
	return nightly.TaskTagger{Objects: c.Objects(), Bucket: names.Bucket, Retry: c.Retry, Tasks: c.tasks(names.FnNightly)}
}

// Backfill is the backfill with these works by effect.
func (c *Cloud) Backfill(works map[string]backfill.Worker) backfill.Job {
	return backfill.Job{Runs: c.Runs(), Items: batchrun.Items{Store: c.Runs(), Bulk: c.DB}, Objects: c.Objects(), Bucket: names.Bucket,
		Days: c.Life(), Works: works, Retry: c.Retry}
}

// batches are the functions of the batch machines.
func (c *Cloud) batches() map[string]lambda.Handler {
	works := c.Reports()
	works[names.EffectTags] = backfill.Worker{Work: nightly.Redo{Get: c.Life().Get, Tagger: c.Tagger(), Rows: c.TagRows()}, Takeovers: revise.Takeovers}
	return map[string]lambda.Handler{
		names.FnNightly:  fnnightly.New(c.Nightly()),
		names.FnWatch:    watch.New(watch.Deps{Runs: c.Runs()}),
		names.FnBackfill: fnbackfill.New(c.Backfill(works)),
	}
}

// StartBatch starts a batch machine, as an operator does in the console.
func (c *Cloud) StartBatch(ctx context.Context, machine, run string, input any) error {
	b, err := json.Marshal(input)
	if err != nil {
		return fmt.Errorf("encode the input of %s: %w", run, err)
	}
	arn, in := c.Machines[machine], string(b)
	_, err = sfn.NewFromConfig(c.Config).StartExecution(ctx, &sfn.StartExecutionInput{StateMachineArn: &arn, Name: &run, Input: &in})
	return err
}

// BatchARN is the ARN of an execution of a batch machine.
func (c *Cloud) BatchARN(machine, run string) string {
	arn, err := analysis.ExecutionARN(c.Machines[machine], run)
	if err != nil {
		c.T.Error(err)
	}
	return arn
}

// Deliver puts a delivered analysis with a result into the world, as a run would
// have left it. It goes past the gate.
func (c *Cloud) Deliver(ctx context.Context, id string, at time.Time, result []byte) error {
	return c.DeliverTo(ctx, Athlete, id, at, result)
}

// DeliverTo is Deliver for another athlete.
func (c *Cloud) DeliverTo(ctx context.Context, athlete, id string, at time.Time, result []byte) error {
	key := names.PoseResultKey(id, 1, 1)
	c.objects.put(key, result)
	item, err := stamp.MarshalMap(analysis.Row{AnalysisID: id, AthleteID: athlete, Status: analysis.Ready, Attempt: 1,
		CreatedAt: at.Add(-time.Hour), EndedAt: at, EndedDay: at.UTC().Format(time.DateOnly), EndedBy: "deliver", ResultKey: key})
	if err != nil {
		return err
	}
	table := names.Analyses.Name
	_, err = c.Direct.PutItem(ctx, &dynamodb.PutItemInput{TableName: &table, Item: item})
	return err
}

// Put stores an object, as an operator does.
func (c *Cloud) Put(ctx context.Context, key string, body []byte) error { return c.put(ctx, key, body) }

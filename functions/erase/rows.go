package erase

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	ddb "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"fastbowlinglab/shared/aitask"
	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/batchrun"
	"fastbowlinglab/shared/credit"
	"fastbowlinglab/shared/erasure"
	"fastbowlinglab/shared/outbox"
	"fastbowlinglab/shared/retry"
	"fastbowlinglab/shared/tags"
	"fastbowlinglab/shared/usage"
)

// RowsDB is what Rows needs of DynamoDB.
type RowsDB interface {
	analysis.Scanner
	usage.Mover
	DeleteItem(context.Context, *dynamodb.DeleteItemInput, ...func(*dynamodb.Options)) (*dynamodb.DeleteItemOutput, error)
}

// Rows are the tables whose rows go with an analysis, by erasure.Rules.
type Rows struct {
	DB       RowsDB
	Analyses string
	PoseJobs string
	Notices  string
	Effects  string
	Usage    string
	Tags     string
	Runs     string
	Retry    retry.Policy
}

// remove deletes an analysis's pose job, notices and tags.
func (t Rows) remove(ctx context.Context, h erasure.Held) (n int64, err error) {
	type row struct {
		table string
		key   map[string]ddb.AttributeValue
	}
	rows := []row{{t.PoseJobs, analysis.Key(h.ID)}} // the same key as the analysis's
	told, err := outbox.List(ctx, t.DB, t.Notices, h.ID)
	if err != nil {
		return 0, err
	}
	for _, no := range told {
		rows = append(rows, row{t.Notices, outbox.Key(h.ID, no.ID)})
	}
	marks, err := tags.KeysOf(ctx, t.DB, t.Tags, h.Day, h.ID)
	if err != nil {
		return 0, err
	}
	for _, k := range marks {
		rows = append(rows, row{t.Tags, k})
	}
	for _, r := range rows {
		gone, err := t.drop(ctx, r.table, r.key)
		if err != nil {
			return n, err
		}
		if gone {
			n++
		}
	}
	return n, nil
}

// calls removes what guarded an analysis's model calls and moves the calls,
// which are tokens and money, to the pseudonym. The guards go first: the calls
// say which there were.
func (t Rows) calls(ctx context.Context, id, pseudonym string) (n int64, err error) {
	labels, err := usage.Labels(ctx, t.DB, t.Usage, id)
	if err != nil {
		return 0, err
	}
	for _, task := range aitask.Tasks() {
		labels[string(task)] = true
	}
	for label := range labels {
		gone, err := t.drop(ctx, t.Effects, map[string]ddb.AttributeValue{"effect": &ddb.AttributeValueMemberS{Value: aitask.Task(label).EffectKey(id)}})
		if err != nil {
			return n, err
		}
		if gone {
			n++
		}
	}
	moved, err := usage.Move(ctx, t.DB, t.Usage, id, credit.Erased(pseudonym, id))
	return n + moved, err
}

// items removes the items that backfills kept of these analyses. No index leads
// to them: the table is read, for all of them at once.
func (t Rows) items(ctx context.Context, held []erasure.Held) (n int64, err error) {
	if len(held) == 0 {
		return 0, nil
	}
	ids := map[string]bool{}
	for _, h := range held {
		ids[h.ID] = true
	}
	err = batchrun.EachItem(ctx, t.DB, t.Runs, t.Retry, func(set, id string) error {
		if !ids[id] {
			return nil
		}
		if err := enough(ctx); err != nil {
			return err
		}
		gone, err := t.drop(ctx, t.Runs, batchrun.Key(set, id))
		if gone {
			n++
		}
		return err
	})
	return n, err
}

// drop deletes a row; gone is false when there was none.
func (t Rows) drop(ctx context.Context, table string, key map[string]ddb.AttributeValue) (gone bool, err error) {
	err = t.Retry.Do(ctx, func() error {
		out, err := t.DB.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: &table, Key: key, ReturnValues: ddb.ReturnValueAllOld})
		if err == nil {
			gone = gone || len(out.Attributes) > 0
		}
		return err
	})
	if err != nil {
		return false, fmt.Errorf("delete a row of %s: %w", table, err)
	}
	return gone, nil
}

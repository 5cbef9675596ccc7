package batch_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	ddb "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	sfntypes "github.com/aws/aws-sdk-go-v2/service/sfn/types"

	"fastbowlinglab/integration/virtual"
	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/batchrun"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/statemachine"
)

// TestTagsAgain redoes the tags of a day in another version, with workers dying:
// its rows stand beside those of the night, which stay as they were; what cannot
// be tagged says why and keeps nothing else back.
func TestTagsAgain(t *testing.T) {
	const n, seedT = 30, 9
	opt := virtual.Options{Seed: seedT, Faults: func(c virtual.Call) virtual.Decision {
		if !strings.Contains(c.Actor, "/Batch/") || choose(seedT, c.ID) > 0.02 {
			return virtual.Decision{}
		}
		return virtual.Decision{Fault: virtual.CrashAfter}
	}}
	delivered(t, n, opt, func(ctx context.Context, c *virtual.Cloud) {
		night(ctx, t, c, "night-1", n)
		before, err := c.TagRows().Rows(ctx, day, names.TagsVersion)
		if err != nil {
			t.Error(err)
		}
		_, err = c.Direct.UpdateItem(ctx, &dynamodb.UpdateItemInput{TableName: aws.String(names.Analyses.Name), Key: analysis.Key("an-00007"),
			UpdateExpression: aws.String("SET result_key = :k"), ExpressionAttributeValues: map[string]ddb.AttributeValue{
				":k": &ddb.AttributeValueMemberS{Value: names.PoseResultKey("an-00007", 1, 99)}}})
		if err != nil {
			t.Error(err)
		}
		if err := c.StartBatch(ctx, statemachine.Backfill, "redo", map[string]any{"effect": "tags", "version": "tags-2", "from": day, "to": day, "batch_size": 10}); err != nil {
			t.Error(err)
		}
		e := finished(ctx, t, c, statemachine.Backfill, "redo", 6*time.Hour)
		if e.status != sfntypes.ExecutionStatusFailed || !strings.Contains(e.cause, "1 failed, 0 unknown, 0 missing") {
			t.Errorf("%+v", e)
		}
		items, err := batchrun.Items{Store: c.Runs(), Bulk: c.Direct}.Load(ctx, batchrun.SetOf(names.EffectTags, "tags-2"), ids(n))
		if err != nil || items["an-00007"].State != batchrun.Failed || items["an-00007"].Detail == "" {
			t.Errorf("what cannot be tagged: %+v, %v", items["an-00007"], err)
		}
		again, err := c.TagRows().Rows(ctx, day, "tags-2")
		if err != nil || len(again) != n-1 {
			t.Errorf("%d rows of the new version, %v; want %d", len(again), err, n-1)
		}
		for id, row := range again {
			if row.By != "redo" || row.Hash != before[id].Hash { // the same rules say the same
				t.Errorf("%s: %+v; the night wrote %+v", id, row, before[id])
			}
		}
		if after, err := c.TagRows().Rows(ctx, day, names.TagsVersion); err != nil || len(after) != n || after["an-00001"].By != "night-1" {
			t.Errorf("the night's rows: %d, %v", len(after), err)
		}
	})
}

package batch_test

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	ddb "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	sfntypes "github.com/aws/aws-sdk-go-v2/service/sfn/types"

	"fastbowlinglab/integration/virtual"
	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/backfill"
	"fastbowlinglab/shared/batchrun"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/outbox"
	"fastbowlinglab/shared/revise"
	"fastbowlinglab/shared/usage"
	"fastbowlinglab/statemachine"
)

// addressed gives a delivered analysis what its report and its athlete's mail
// need.
func addressed(ctx context.Context, t *testing.T, c *virtual.Cloud, id string) {
	t.Helper()
	_, err := c.Direct.UpdateItem(ctx, &dynamodb.UpdateItemInput{TableName: aws.String(names.Analyses.Name), Key: analysis.Key(id),
		UpdateExpression: aws.String("SET email = :e, report_pdf = :p, report_json = :p"), ExpressionAttributeValues: map[string]ddb.AttributeValue{
			":e": &ddb.AttributeValueMemberS{Value: "a@example.com"}, ":p": &ddb.AttributeValueMemberS{Value: names.ReportPDFKey(id, 1)}}})
	if err == nil {
		err = c.Put(ctx, names.ReportPDFKey(id, 1), []byte("delivered"))
	}
	if err != nil {
		t.Error(err)
	}
}

// TestRevisionsSurviveDeaths makes reports again while workers die before and
// after any of their requests and the driver is stopped and started anew: each
// analysis has one revision, one notice of it, and no text was paid for more than
// twice. One whose worker died twice under the same call, or each time, has none, and
// says so.
func TestRevisionsSurviveDeaths(t *testing.T) {
	const n, seedR = 40, 5
	deaths := 0
	opt := virtual.Options{
		Seed:   seedR,
		Faults: killing(seedR, "/Batch/", 0.03, &deaths),
	}
	delivered(t, n, opt, func(ctx context.Context, c *virtual.Cloud) {
		for _, id := range ids(n) {
			addressed(ctx, t, c, id)
		}
		input := backfill.Spec{Effect: names.EffectReport, Version: "v2", IDs: ids(n), BatchSize: 10, Notice: true}
		tries := 0
		for ; tries < 40; tries++ {
			run := fmt.Sprint("again-", tries)
			if err := c.StartBatch(ctx, statemachine.Backfill, run, input); err != nil {
				t.Error(err)
				return
			}
			if tries < 2 { // the driver is stopped, its workers live on
				wait(ctx, time.Duration(1+tries)*400*time.Millisecond)
				stop(ctx, t, c, statemachine.Backfill, run)
				wait(ctx, names.RunLease)
				continue
			}
			e := finished(ctx, t, c, statemachine.Backfill, run, 12*time.Hour)
			if e.status == sfntypes.ExecutionStatusSucceeded {
				if e.rows.New+e.rows.Already != n {
					t.Errorf("%s reports %+v", run, e.rows)
				}
				break
			}
			if e.fail != "Held" && e.fail != "Incomplete" {
				t.Errorf("%s: %+v", run, e)
				return
			}
			if strings.Contains(e.cause, " 0 missing") { // what is left has failed for good
				break
			}
			wait(ctx, time.Minute)
		}
		items, err := batchrun.Items{Store: c.Runs(), Bulk: c.Direct}.Load(ctx, batchrun.SetOf(names.EffectReport, "v2"), ids(n))
		if err != nil {
			t.Error(err)
		}
		failed := 0
		for _, id := range ids(n) {
			if it := items[id]; it.State == batchrun.Failed && strings.Contains(it.Detail, "outcome unknown") {
				failed++ // its worker died twice under the same paid call
				continue
			}
			if it := items[id]; it.State == batchrun.Unknown && it.Takeovers == revise.Takeovers {
				failed++ // it killed whoever tried
				continue
			}
			revised(ctx, t, c, id)
		}
		if failed > n/8 {
			t.Errorf("%d of %d failed", failed, n)
		}
		t.Logf("%d deaths, %d runs, %d given up, %d requests", deaths, tries+1, failed, c.Gate.Requests)
	})
	if deaths < 30 {
		t.Errorf("only %d deaths: nothing was tried", deaths)
	}
}

// revised wants one revision of an analysis, and what belongs to it once.
func revised(ctx context.Context, t *testing.T, c *virtual.Cloud, id string) {
	t.Helper()
	row, err := analysis.Get(ctx, c.Direct, names.Analyses.Name, id)
	if err != nil || len(row.Revisions) != 1 || row.Revisions[0].Number != 1 || row.ReportPDF != names.ReportPDFKey(id, 1) {
		t.Errorf("%s: revisions %+v, %v", id, row.Revisions, err)
		return
	}
	told, err := outbox.List(ctx, c.Direct, names.Notices.Name, id)
	if err != nil || len(told) != 1 || told[0].ID != "revised-1#email" {
		t.Errorf("%s: notices %+v, %v", id, told, err)
	}
	bill, err := usage.Store{DB: c.Direct, Usage: names.Usage.Name, Prices: names.Prices.Name}.Bill(ctx, id, "")
	if err != nil {
		t.Error(err)
	}
	var tasks []string
	for _, l := range bill.Lines {
		tasks = append(tasks, l.Task)
	}
	slices.Sort(tasks)
	for _, task := range []string{"coaching@report-v2", "findings@report-v2"} {
		if k := len(slices.DeleteFunc(slices.Clone(tasks), func(s string) bool { return s != task })); k < 1 || k > 2 {
			t.Errorf("%s: %d calls of %s", id, k, task)
		}
	}
	for _, key := range []string{row.Revisions[0].ReportPDF, row.ReportPDF} {
		b, err := read(ctx, c, key)
		if err != nil || (string(b) == "delivered") != (key == row.ReportPDF) {
			t.Errorf("%s: %s holds %.40q, %v", id, key, b, err)
		}
	}
}

func read(ctx context.Context, c *virtual.Cloud, key string) ([]byte, error) {
	out, err := c.Objects().GetObject(ctx, &s3.GetObjectInput{Bucket: aws.String(names.Bucket), Key: &key})
	if err != nil {
		return nil, err
	}
	defer out.Body.Close()
	return io.ReadAll(out.Body)
}

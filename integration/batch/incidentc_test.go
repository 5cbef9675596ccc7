package batch_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	ddb "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	sfntypes "github.com/aws/aws-sdk-go-v2/service/sfn/types"

	fnnightly "fastbowlinglab/functions/nightly"
	"fastbowlinglab/integration/virtual"
	"fastbowlinglab/shared/aitask"
	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/fault"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/nightly"
	"fastbowlinglab/statemachine"
)

const day = "2026-02-28" // the day before a world's start

var resultJSON = []byte(`{"version":1,"engine":"e","model":"full","clips":[{"index":0,"frame_rate":120,"arm":"right","confidence":0.9,"measures":[
 {"name":"front_knee_angle","phase":"front_foot_contact","value":150,"unit":"degrees","band":6,"confidence":0.8},
 {"name":"front_knee_angle","phase":"release","value":165,"unit":"degrees","band":6,"confidence":0.8}]}]}`)

// delivered is a world in which a day has delivered n analyses.
func delivered(t *testing.T, n int, opt virtual.Options, body func(ctx context.Context, c *virtual.Cloud)) {
	virtual.Run(t, opt, func(c *virtual.Cloud) {
		ctx, cancel := context.WithCancel(virtual.As(context.Background(), "operator"))
		defer cancel()
		noon := time.Date(2026, 2, 28, 12, 0, 0, 0, time.UTC)
		for i, id := range ids(n) {
			if err := c.Deliver(ctx, id, noon.Add(time.Duration(i)*time.Second), resultJSON); err != nil {
				t.Error(err)
				return
			}
		}
		body(ctx, c)
	})
}

// tags counts the day's rows and checkpoints, all versions, past everything that
// the job says of itself.
func tags(ctx context.Context, t *testing.T, c *virtual.Cloud) (rows, checkpoints int) {
	t.Helper()
	var from map[string]ddb.AttributeValue
	for {
		out, err := c.Direct.Scan(ctx, &dynamodb.ScanInput{TableName: aws.String(names.Tags.Name), ExclusiveStartKey: from})
		if err != nil {
			t.Error(err)
			return
		}
		for _, it := range out.Items {
			switch k := it["item"].(*ddb.AttributeValueMemberS).Value; {
			case strings.HasPrefix(k, "row#"):
				rows++
			case strings.HasPrefix(k, "done#"):
				checkpoints++
			}
		}
		if from = out.LastEvaluatedKey; from == nil {
			return
		}
	}
}

func forget(ctx context.Context, t *testing.T, c *virtual.Cloud) {
	t.Helper()
	done, err := c.TagRows().Checkpoints(ctx, day, names.TagsVersion)
	if err != nil {
		t.Error(err)
	}
	for id := range done {
		_, err := c.Direct.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: aws.String(names.Tags.Name), Key: map[string]ddb.AttributeValue{
			"day": &ddb.AttributeValueMemberS{Value: day}, "item": &ddb.AttributeValueMemberS{Value: "done#" + id + "#" + names.TagsVersion}}})
		if err != nil {
			t.Error(err)
		}
	}
}

// night runs the job once and expects it complete.
func night(ctx context.Context, t *testing.T, c *virtual.Cloud, run string, n int) names.BatchOut {
	t.Helper()
	if err := c.StartBatch(ctx, statemachine.Nightly, run, map[string]string{}); err != nil {
		t.Error(err)
		return names.BatchOut{}
	}
	e := finished(ctx, t, c, statemachine.Nightly, run, 2*time.Hour)
	if e.status != sfntypes.ExecutionStatusSucceeded || e.rows.State != names.BatchComplete || e.rows.Expected != n {
		t.Errorf("%s: %+v", run, e)
	}
	if rows, cps := tags(ctx, t, c); rows != n || cps != n {
		t.Errorf("%s: %d rows, %d checkpoints; want %d of each", run, rows, cps, n)
	}
	return e.rows
}

// TestIncidentC: 200 items; the worker is killed at random points, three runs in
// a row; then every checkpoint is deleted and the next run gives it back.
func TestIncidentC(t *testing.T) {
	const n, seedC = 200, 11
	deaths := 0
	opt := virtual.Options{Seed: seedC, Faults: killing(seedC, "/Work/", 0.004, &deaths)}
	delivered(t, n, opt, func(ctx context.Context, c *virtual.Cloud) {
		first := night(ctx, t, c, "night-1", n)
		if first.New != n {
			t.Errorf("the first run made %d rows, want %d", first.New, n)
		}
		for i := 2; i <= 3; i++ {
			if again := night(ctx, t, c, fmt.Sprint("night-", i), n); again.Already != n {
				t.Errorf("run %d: %+v, want %d already there", i, again, n)
			}
		}
		forget(ctx, t, c)
		if rows, cps := tags(ctx, t, c); rows != n || cps != 0 {
			t.Errorf("%d rows, %d checkpoints after they were deleted", rows, cps)
		}
		if again := night(ctx, t, c, "night-4", n); again.Already != n {
			t.Errorf("after the checkpoints were deleted: %+v", again)
		}
		t.Logf("%d deaths in four runs, %d requests", deaths, c.Gate.Requests)
	})
	if deaths < 5 {
		t.Errorf("only %d deaths: nothing was tried", deaths)
	}
}

// TestTwoWorkersAtOnce lets two workers of one run commit every item side by
// side, past the claim that keeps them apart; and starts two runs, of which one is
// refused.
func TestTwoWorkersAtOnce(t *testing.T) {
	const n = 200
	delivered(t, n, virtual.Options{Seed: 3}, func(ctx context.Context, c *virtual.Cloud) {
		run, err := c.Runs().Begin(ctx, "night-1", names.EffectTags, `{"day":"`+day+`","version":"`+names.TagsVersion+`"}`)
		if err != nil {
			t.Error(err)
			return
		}
		var mu sync.Mutex
		found := map[string]int{}
		var wg sync.WaitGroup
		for _, name := range []string{"worker-a", "worker-b"} {
			wg.Go(func() {
				ctx := virtual.As(ctx, name)
				for _, id := range ids(n) {
					row, err := nightly.NewRow(day, id, names.TagsVersion, run.ID, aitask.Tagged{TagsText: aitask.TagsText{ActionType: "unclear", Arm: "left"}})
					if err != nil {
						t.Error(err)
						return
					}
					how, err := c.TagRows().Commit(ctx, run, row)
					if err != nil {
						t.Errorf("%s: %s: %v", name, id, err)
						return
					}
					mu.Lock()
					found[how]++
					mu.Unlock()
				}
			})
		}
		wg.Wait()
		if rows, cps := tags(ctx, t, c); rows != n || cps != n || found[nightly.New] != n || found[nightly.Already] != n {
			t.Errorf("%d rows, %d checkpoints, %v; want %d rows, each written once and found once", rows, cps, found, n)
		}
		if err := c.StartBatch(ctx, statemachine.Nightly, "night-2", map[string]string{}); err != nil {
			t.Error(err)
		}
		if e := finished(ctx, t, c, statemachine.Nightly, "night-2", time.Hour); e.fail != "Held" || !strings.Contains(e.cause, "night-1 has the effect since 2026-03-01T") {
			t.Errorf("a second run: %+v", e)
		}
		if err := c.StartBatch(ctx, statemachine.Backfill, "redo", map[string]any{"effect": "tags", "version": "tags-2", "ids": ids(1)}); err != nil {
			t.Error(err)
		}
		if e := finished(ctx, t, c, statemachine.Backfill, "redo", time.Hour); e.fail != "Held" {
			t.Errorf("a backfill of the same effect: %+v", e)
		}
	})
}

// TestMismatch: a row that is not what it should be stays as it is, and the day is
// told to be incomplete.
func TestMismatch(t *testing.T) {
	delivered(t, 3, virtual.Options{}, func(ctx context.Context, c *virtual.Cloud) {
		night(ctx, t, c, "night-1", 3)
		forget(ctx, t, c)
		_, err := c.Direct.UpdateItem(ctx, &dynamodb.UpdateItemInput{TableName: aws.String(names.Tags.Name), Key: map[string]ddb.AttributeValue{
			"day": &ddb.AttributeValueMemberS{Value: day}, "item": &ddb.AttributeValueMemberS{Value: "row#an-00001#" + names.TagsVersion}},
			UpdateExpression:          aws.String("SET content_hash = :h"),
			ExpressionAttributeValues: map[string]ddb.AttributeValue{":h": &ddb.AttributeValueMemberS{Value: "other"}}})
		if err != nil {
			t.Error(err)
		}
		if err := c.StartBatch(ctx, statemachine.Nightly, "night-2", map[string]string{}); err != nil {
			t.Error(err)
		}
		e := finished(ctx, t, c, statemachine.Nightly, "night-2", time.Hour)
		if e.fail != "Incomplete" || !strings.Contains(e.cause, "Of 3: 0 new, 2 already there, 1 failed") {
			t.Errorf("%+v", e)
		}
		rows, err := c.TagRows().Rows(ctx, day, names.TagsVersion)
		if err != nil || rows["an-00001"].Hash != "other" {
			t.Errorf("the row was replaced: %+v, %v", rows["an-00001"], err)
		}
	})
}

// pace is a tagger that takes its time, or never gets anywhere.
type pace struct {
	nightly.Tagger
	each  time.Duration
	stuck bool
}

func (p pace) Tag(ctx context.Context, row analysis.Row, version string) (aitask.Tagged, error) {
	wait(ctx, p.each)
	if p.stuck {
		return aitask.Tagged{}, fault.New(fault.Transient, "again and again")
	}
	return p.Tagger.Tag(ctx, row, version)
}

// TestProgress: a worker that loops without progress raises the alarm, one that is
// slow but moves does not, and nobody at work is 0.
func TestProgress(t *testing.T) {
	for _, tc := range []struct {
		name  string
		stuck bool
		each  time.Duration
	}{{"SlowButMoving", false, 40 * time.Second}, {"LoopsWithoutProgress", true, 2 * time.Second}} {
		t.Run(tc.name, func(t *testing.T) {
			opt := virtual.Options{Override: map[string]func(*virtual.Cloud) lambda.Handler{names.FnNightly: func(c *virtual.Cloud) lambda.Handler {
				j := c.Nightly()
				j.Tagger = pace{j.Tagger, tc.each, tc.stuck}
				return fnnightly.New(j)
			}}}
			most := 0.0
			opt.Answered = func(fn string, _, out []byte, fail string) {
				if fn == names.FnWatch {
					most = max(most, since(t, out, fail))
				}
			}
			delivered(t, 40, opt, func(ctx context.Context, c *virtual.Cloud) {
				c.Schedule(names.FnWatch, names.WatchPeriod)
				wait(ctx, 10*time.Minute)
				if most != 0 {
					t.Errorf("%g s since progress while nobody is at work", most)
				}
				if err := c.StartBatch(ctx, statemachine.Nightly, "night", map[string]string{}); err != nil {
					t.Error(err)
				}
				wait(ctx, 30*time.Minute)
				alarm := most >= names.NoProgressAlarm.Seconds()
				t.Logf("at most %.0f s since progress", most)
				if alarm != tc.stuck {
					t.Errorf("the alarm is raised: %t, at %g s", alarm, most)
				}
			})
		})
	}
}

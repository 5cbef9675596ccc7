package reconcile_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	ddb "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	sfntypes "github.com/aws/aws-sdk-go-v2/service/sfn/types"

	"fastbowlinglab/functions/reconcile"
	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/fleet"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/reason"
)

// I8: a deadline for each state.
func TestDeadlines(t *testing.T) {
	w := newWorld(t)
	reserved := w.reserved("reserved")
	w.now = w.now.Add(names.ReservedDeadline - time.Minute)
	w.pass()
	w.want(reserved, analysis.Reserved, "")
	w.now = w.now.Add(2 * time.Minute)
	if out := w.pass(); out.Expired != 1 || out.Open != 1 {
		t.Errorf("out = %+v", out)
	}
	w.want(reserved, analysis.Expired, reason.NotUploaded)

	queued := w.queued("queued")                  // its execution runs and never begins
	waiting, waitingName := w.analysing("nobody") // no worker ever comes
	claimed, claimedName := w.analysing("claimed")
	mark := analysis.MarkClaimed(names.Analyses.Name, claimed, 1, w.now)
	if _, err := w.db.TransactWriteItems(t.Context(), &dynamodb.TransactWriteItemsInput{TransactItems: []ddb.TransactWriteItem{mark}}); err != nil {
		t.Fatal(err)
	}
	w.now = w.now.Add(names.AnalysingDeadline - time.Minute)
	w.pass()
	w.want(claimed, analysis.Analysing, "")
	w.now = w.now.Add(2 * time.Minute)
	if out := w.pass(); out.Failed != 1 {
		t.Errorf("out = %+v", out)
	}
	w.want(claimed, analysis.Failed, reason.DeadlinePassed)
	w.want(waiting, analysis.Analysing, "")
	w.want(queued, analysis.Queued, "")
	w.now = w.now.Add(names.QueuedDeadline)
	if out := w.pass(); out.Failed != 2 {
		t.Errorf("out = %+v", out)
	}
	w.want(waiting, analysis.Failed, reason.DeadlinePassed)
	w.want(queued, analysis.Failed, reason.DeadlinePassed)
	for _, name := range []string{waitingName, claimedName} {
		if w.steps[name].status != sfntypes.ExecutionStatusAborted {
			t.Errorf("execution %s is left %s", name, w.steps[name].status)
		}
	}
	w.refunds(4)
	if out := w.pass(); out.Open != 0 {
		t.Errorf("after all ends: %+v", out)
	}
	w.refunds(4)
}

// staleIndex answers every query of an index as it stood at one time.
type staleIndex struct {
	analysis.DB
	was *dynamodb.QueryOutput
}

func (s staleIndex) Query(context.Context, *dynamodb.QueryInput, ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error) {
	return s.was, nil
}

// The index lags: it shows an analysis as unclaimed and overdue that a worker
// claimed just before its deadline. The pass must not end it under the worker.
func TestAClaimThatTheIndexDoesNotShowYet(t *testing.T) {
	w := newWorld(t)
	id, name := w.analysing("k")
	index, cond := names.IndexOpen, "#o = :mark"
	was, err := w.db.Query(t.Context(), &dynamodb.QueryInput{TableName: &names.Analyses.Name, IndexName: &index, KeyConditionExpression: &cond,
		ExpressionAttributeNames:  map[string]string{"#o": "open"},
		ExpressionAttributeValues: map[string]ddb.AttributeValue{":mark": &ddb.AttributeValueMemberS{Value: analysis.OpenMark}}})
	if err != nil || len(was.Items) != 1 {
		t.Fatalf("index: %v, %v", was, err)
	}
	w.now = w.now.Add(names.QueuedDeadline - time.Second)
	mark := analysis.MarkClaimed(names.Analyses.Name, id, 1, w.now)
	if _, err := w.db.TransactWriteItems(t.Context(), &dynamodb.TransactWriteItemsInput{TransactItems: []ddb.TransactWriteItem{mark}}); err != nil {
		t.Fatal(err)
	}
	w.now = w.now.Add(2 * time.Second)
	w.deps.Life.DB = staleIndex{w.db, was}
	if out := w.pass(); out.Failed != 0 || out.Open != 1 {
		t.Errorf("out = %+v, want one looked at and none failed", out)
	}
	w.want(id, analysis.Analysing, "")
	if st := w.steps[name].status; st != sfntypes.ExecutionStatusRunning {
		t.Errorf("the execution is %s", st)
	}
	w.refunds(0)
}

func TestStartsWhatACrashLeftUnstarted(t *testing.T) {
	w := newWorld(t)
	id := w.queued("k")
	w.pass()
	if len(w.steps) != 0 {
		t.Error("started while the API may be at it")
	}
	w.now = w.now.Add(2 * time.Minute)
	if out := w.pass(); out.Started != 1 || w.steps[analysis.ExecutionName(id, 1)] == nil {
		t.Errorf("out = %+v, executions %v", out, w.steps)
	}
	w.pass()
	if len(w.steps) != 1 {
		t.Errorf("executions %v", w.steps)
	}
}

func TestExecutionsThatEndedWithoutSettling(t *testing.T) {
	for _, tc := range []struct {
		status sfntypes.ExecutionStatus
		err    string
		why    reason.Code
	}{
		{sfntypes.ExecutionStatusAborted, "", reason.Stopped},
		{sfntypes.ExecutionStatusTimedOut, "", reason.DeadlinePassed},
		{sfntypes.ExecutionStatusFailed, "PoseFailed", reason.PoseFailed},
		{sfntypes.ExecutionStatusFailed, "States.Runtime", reason.StageFailed},
		{sfntypes.ExecutionStatusSucceeded, "", reason.StageFailed},
	} {
		t.Run(string(tc.status)+tc.err, func(t *testing.T) {
			w := newWorld(t)
			id, name := w.analysing("k")
			other, _ := w.analysing("healthy")
			*w.steps[name] = execution{tc.status, w.now, tc.err}
			w.pass()
			w.want(id, analysis.Analysing, "") // settle has its chance first
			w.now = w.now.Add(3 * time.Minute)
			w.pass()
			w.want(id, analysis.Failed, tc.why)
			w.want(other, analysis.Analysing, "")
			w.refunds(1)
		})
	}
	t.Run("closed before it began", func(t *testing.T) {
		w := newWorld(t)
		id := w.queued("k")
		w.steps[analysis.ExecutionName(id, 1)] = &execution{sfntypes.ExecutionStatusAborted, w.now, ""}
		w.now = w.now.Add(3 * time.Minute)
		w.pass()
		w.want(id, analysis.Failed, reason.Stopped)
	})
	t.Run("gone without a trace", func(t *testing.T) {
		w := newWorld(t)
		id, name := w.analysing("k")
		delete(w.steps, name)
		w.now = w.now.Add(5 * time.Minute)
		w.pass()
		w.want(id, analysis.Analysing, "")
		w.now = w.now.Add(15 * time.Minute)
		w.pass()
		w.want(id, analysis.Failed, reason.Stopped)
	})
}

// meanwhile is Step Functions with something that happens while it is asked.
type meanwhile struct {
	steps
	happens func()
}

func (m meanwhile) DescribeExecution(ctx context.Context, in *sfn.DescribeExecutionInput, opts ...func(*sfn.Options)) (*sfn.DescribeExecutionOutput, error) {
	out, err := m.steps.DescribeExecution(ctx, in, opts...)
	m.happens()
	return out, err
}

// The execution that was looked at is closed; another one begins the attempt
// before the end is written. It is that one's now.
func TestAnotherExecutionBeginsMeanwhile(t *testing.T) {
	w := newWorld(t)
	id := w.queued("k")
	w.steps[analysis.ExecutionName(id, 1)] = &execution{sfntypes.ExecutionStatusAborted, w.now, ""}
	w.deps.Steps = meanwhile{w.steps, func() {
		w.steps["another"] = &execution{status: sfntypes.ExecutionStatusRunning}
		if _, err := w.deps.Life.Begin(t.Context(), id, 1, "another", nil); err != nil {
			t.Error(err)
		}
	}}
	w.now = w.now.Add(3 * time.Minute)
	w.pass()
	w.want(id, analysis.Analysing, "")
	w.refunds(0)
}

func TestOneBadRowDoesNotStopTheRest(t *testing.T) {
	w := newWorld(t)
	good := w.reserved("good")
	for i, v := range []ddb.AttributeValue{&ddb.AttributeValueMemberS{Value: "upside down"}, &ddb.AttributeValueMemberN{Value: "7"}} {
		if _, err := w.db.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &names.Analyses.Name, Item: map[string]ddb.AttributeValue{
			"analysis_id": &ddb.AttributeValueMemberS{Value: fmt.Sprint("bad", i)}, "status": v, "clips": v,
			"open": &ddb.AttributeValueMemberS{Value: "1"}, "deadline": &ddb.AttributeValueMemberS{Value: "2000-01-01T00:00:00.000Z"}}}); err != nil {
			t.Fatal(err)
		}
	}
	w.notices.err = errors.New("mail is down")
	w.now = w.now.Add(names.ReservedDeadline + time.Minute)
	if out := w.pass(); out.Expired != 1 || out.Errors != 3 || out.Notices != 3 || out.Fleet == "" {
		t.Errorf("out = %+v; want one expired, three errors, notices and fleet seen to", out)
	}
	w.want(good, analysis.Expired, reason.NotUploaded)
}

// Field case 59: what is in hands, delayed or only in the table counts as work.
func TestFleet(t *testing.T) {
	for name, prepare := range map[string]func(w *world){
		"visible":  func(w *world) { w.queue = counts(1, 0, 0) },
		"in hands": func(w *world) { w.queue = counts(0, 1, 0) },
		"delayed":  func(w *world) { w.queue = counts(0, 0, 1) },
		"table":    func(w *world) { w.analysing("k") },
		"queued":   func(w *world) { w.queued("k") },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			prepare(w)
			for range 3 {
				w.pass()
			}
			if w.service.desired != 1 {
				t.Errorf("the fleet was stopped")
			}
		})
	}
	t.Run("nothing to do", func(t *testing.T) {
		w := newWorld(t)
		w.reserved("not confirmed yet")
		if out := w.pass(); out.Fleet != fleet.Idle || w.service.desired != 1 {
			t.Errorf("first pass: %+v", out)
		}
		if out := w.pass(); out.Fleet != fleet.Stopped || w.service.desired != 0 {
			t.Errorf("second pass: %+v", out)
		}
	})
	t.Run("a queue that does not tell", func(t *testing.T) {
		w := newWorld(t)
		w.queue = queue{}
		d := w.deps
		d.Queue = w.queue
		for range 2 {
			if _, err := reconcile.New(d).Invoke(t.Context(), []byte(`{}`)); err == nil {
				t.Error("no error")
			}
		}
		if w.service.desired != 1 {
			t.Error("the fleet was stopped blindly")
		}
	})
}

package reconcile_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	ddb "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/ecs"
	ecstypes "github.com/aws/aws-sdk-go-v2/service/ecs/types"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	sfntypes "github.com/aws/aws-sdk-go-v2/service/sfn/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"fastbowlinglab/functions/reconcile"
	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/credit"
	"fastbowlinglab/shared/dynamotest"
	"fastbowlinglab/shared/fleet"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/outcome"
	"fastbowlinglab/shared/reason"
)

// execution is one of the fake Step Functions.
type execution struct {
	status  sfntypes.ExecutionStatus
	stopped time.Time
	err     string
}

type steps map[string]*execution

func (s steps) StartExecution(_ context.Context, in *sfn.StartExecutionInput, _ ...func(*sfn.Options)) (*sfn.StartExecutionOutput, error) {
	if ex, ok := s[*in.Name]; ok && ex.status != sfntypes.ExecutionStatusRunning {
		return nil, &sfntypes.ExecutionAlreadyExists{}
	} else if !ok {
		s[*in.Name] = &execution{status: sfntypes.ExecutionStatusRunning}
	}
	return &sfn.StartExecutionOutput{}, nil
}

func (s steps) find(arn *string) (*execution, error) {
	if ex, ok := s[(*arn)[strings.LastIndexByte(*arn, ':')+1:]]; ok {
		return ex, nil
	}
	return nil, &sfntypes.ExecutionDoesNotExist{}
}

func (s steps) StopExecution(_ context.Context, in *sfn.StopExecutionInput, _ ...func(*sfn.Options)) (*sfn.StopExecutionOutput, error) {
	ex, err := s.find(in.ExecutionArn)
	if err == nil {
		ex.status = sfntypes.ExecutionStatusAborted
	}
	return &sfn.StopExecutionOutput{}, err
}

func (s steps) DescribeExecution(_ context.Context, in *sfn.DescribeExecutionInput, _ ...func(*sfn.Options)) (*sfn.DescribeExecutionOutput, error) {
	ex, err := s.find(in.ExecutionArn)
	if err != nil {
		return nil, err
	}
	out := &sfn.DescribeExecutionOutput{Status: ex.status}
	if !ex.stopped.IsZero() {
		out.StopDate = &ex.stopped
	}
	if ex.err != "" {
		out.Error = &ex.err
	}
	return out, nil
}

type queue map[string]string

func (q queue) GetQueueAttributes(context.Context, *sqs.GetQueueAttributesInput, ...func(*sqs.Options)) (*sqs.GetQueueAttributesOutput, error) {
	return &sqs.GetQueueAttributesOutput{Attributes: q}, nil
}

func counts(visible, hidden, delayed int) queue {
	return queue{"ApproximateNumberOfMessages": fmt.Sprint(visible), "ApproximateNumberOfMessagesNotVisible": fmt.Sprint(hidden),
		"ApproximateNumberOfMessagesDelayed": fmt.Sprint(delayed)}
}

type service struct{ desired int32 }

func (s *service) DescribeServices(context.Context, *ecs.DescribeServicesInput, ...func(*ecs.Options)) (*ecs.DescribeServicesOutput, error) {
	return &ecs.DescribeServicesOutput{Services: []ecstypes.Service{{DesiredCount: s.desired}}}, nil
}

func (s *service) UpdateService(_ context.Context, in *ecs.UpdateServiceInput, _ ...func(*ecs.Options)) (*ecs.UpdateServiceOutput, error) {
	s.desired = *in.DesiredCount
	return &ecs.UpdateServiceOutput{}, nil
}

type notices struct {
	swept int
	err   error
}

func (n *notices) Sweep(context.Context, int) (int, error) { n.swept++; return 3, n.err }

type world struct {
	t       *testing.T
	db      *dynamodb.Client
	now     time.Time
	steps   steps
	queue   queue
	service *service
	notices *notices
	ledger  credit.Store
	deps    reconcile.Deps
}

func newWorld(t *testing.T) *world {
	db := dynamotest.New(t)
	w := &world{t: t, db: db, now: time.Now(), steps: steps{}, queue: counts(0, 0, 0), service: &service{desired: 1}, notices: &notices{},
		ledger: credit.Store{DB: db, Credits: names.Credits.Name, Effects: names.Effects.Name}}
	if _, err := w.ledger.Enter(t.Context(), credit.Grant{AthleteID: "a", Credits: 20, Operator: "op", Key: "k"}); err != nil {
		t.Fatal(err)
	}
	now := func() time.Time { return w.now }
	w.deps = reconcile.Deps{
		Life:    analysis.Store{DB: db, Analyses: names.Analyses.Name, Credits: names.Credits.Name, Now: now},
		Ends:    outcome.Store{DB: db, Analyses: names.Analyses.Name, Credits: names.Credits.Name, Notices: names.Notices.Name, Now: now},
		Notices: w.notices, Steps: w.steps, MachineARN: "arn:aws:states:eu-west-1:1:stateMachine:m", QueueURL: "q", Now: now,
		Fleet: fleet.Fleet{DB: db, ECS: w.service, Effects: names.Effects.Name, Cluster: "c", Service: "s"},
	}
	return w
}

func (w *world) pass() reconcile.Out {
	w.t.Helper()
	d := w.deps
	d.Queue = w.queue
	b, err := reconcile.New(d).Invoke(w.t.Context(), []byte(`{}`))
	if err != nil {
		w.t.Fatalf("pass: %v", err)
	}
	var out reconcile.Out
	if err := json.Unmarshal(b, &out); err != nil {
		w.t.Fatal(err)
	}
	return out
}

func (w *world) reserved(key string) string {
	w.t.Helper()
	r, _, err := w.deps.Life.Create(w.t.Context(), "a", key, analysis.Submission{Clips: []analysis.Clip{{Name: "c"}}})
	if err != nil {
		w.t.Fatal(err)
	}
	return r.AnalysisID
}

func (w *world) queued(key string) string {
	w.t.Helper()
	id := w.reserved(key)
	if _, err := w.deps.Life.Queue(w.t.Context(), id, []analysis.Clip{{Name: "c"}}); err != nil {
		w.t.Fatal(err)
	}
	return id
}

// analysing makes one that runs, its execution too.
func (w *world) analysing(key string) (id, name string) {
	w.t.Helper()
	id = w.queued(key)
	name = analysis.ExecutionName(id, 1)
	w.steps[name] = &execution{status: sfntypes.ExecutionStatusRunning}
	if _, err := w.deps.Life.Begin(w.t.Context(), id, 1, name, nil); err != nil {
		w.t.Fatal(err)
	}
	return id, name
}

func (w *world) want(id string, st analysis.Status, why reason.Code) {
	w.t.Helper()
	r, err := w.deps.Life.Get(w.t.Context(), id)
	if err != nil || r.Status != st || r.Reason != string(why) {
		w.t.Errorf("analysis is %s %q, %v; want %s %q", r.Status, r.Reason, err, st, why)
	}
}

// refunds asserts the number of refunds and that the ledger adds up.
func (w *world) refunds(n int) {
	w.t.Helper()
	l, err := w.ledger.Read(w.t.Context(), "a")
	got := 0
	for _, e := range l.Entries {
		if e.Kind == credit.KindRefund {
			got++
		}
	}
	if err != nil || got != n || l.Sum() != l.Balance {
		w.t.Errorf("%d refunds, balance %d, sum %d, %v; want %d", got, l.Balance, l.Sum(), err, n)
	}
}

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

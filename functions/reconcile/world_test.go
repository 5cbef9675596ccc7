package reconcile_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
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

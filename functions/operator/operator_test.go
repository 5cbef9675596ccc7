package operator_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/lambda/messages"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	sfntypes "github.com/aws/aws-sdk-go-v2/service/sfn/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	sqstypes "github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"fastbowlinglab/functions/operator"
	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/batchrun"
	"fastbowlinglab/shared/credit"
	"fastbowlinglab/shared/dynamotest"
	"fastbowlinglab/shared/erasure"
	"fastbowlinglab/shared/lease"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/stamp"
	"fastbowlinglab/shared/usage"
)

// steps is Step Functions in memory: executions by name.
type steps struct {
	running map[string]string // version, by name of the execution
	closed  map[string]closed
	tokens  map[string]bool // of redrives
	log     []string
}

// closed is how an execution ended.
type closed struct {
	status     sfntypes.ExecutionStatus
	name, why  string
	redrives   int32
	notAllowed bool
}

func last(arn string) string { return arn[strings.LastIndexByte(arn, ':')+1:] }

func (s *steps) StartExecution(_ context.Context, in *sfn.StartExecutionInput, _ ...func(*sfn.Options)) (*sfn.StartExecutionOutput, error) {
	if _, ok := s.running[*in.Name]; ok {
		return nil, &sfntypes.ExecutionAlreadyExists{}
	}
	s.running[*in.Name] = "2"
	s.log = append(s.log, "start "+*in.Name)
	return &sfn.StartExecutionOutput{}, nil
}

func (s *steps) StopExecution(_ context.Context, in *sfn.StopExecutionInput, _ ...func(*sfn.Options)) (*sfn.StopExecutionOutput, error) {
	s.log = append(s.log, "stop "+last(*in.ExecutionArn))
	return &sfn.StopExecutionOutput{}, nil
}

func (s *steps) DescribeExecution(_ context.Context, in *sfn.DescribeExecutionInput, _ ...func(*sfn.Options)) (*sfn.DescribeExecutionOutput, error) {
	name := last(*in.ExecutionArn)
	x := s.closed[name]
	if v, ok := s.running[name]; ok {
		return &sfn.DescribeExecutionOutput{Status: sfntypes.ExecutionStatusRunning, StateMachineVersionArn: aws.String(v), RedriveCount: aws.Int32(x.redrives)}, nil
	}
	if x.status == "" {
		return nil, &sfntypes.ExecutionDoesNotExist{}
	}
	return &sfn.DescribeExecutionOutput{Status: x.status, Error: &x.name, Cause: &x.why, RedriveCount: aws.Int32(x.redrives), RedriveStatusReason: aws.String("too old")}, nil
}

func (s *steps) RedriveExecution(_ context.Context, in *sfn.RedriveExecutionInput, _ ...func(*sfn.Options)) (*sfn.RedriveExecutionOutput, error) {
	name := last(*in.ExecutionArn)
	if s.tokens[name+*in.ClientToken] {
		return &sfn.RedriveExecutionOutput{}, nil
	}
	x := s.closed[name]
	if _, ok := s.running[name]; ok || x.notAllowed {
		return nil, &sfntypes.ExecutionNotRedrivable{}
	}
	s.tokens[name+*in.ClientToken] = true
	x.redrives++
	s.closed[name], s.running[name] = x, "2"
	s.log = append(s.log, "redrive "+name)
	return &sfn.RedriveExecutionOutput{}, nil
}

// letters is a queue with its dead letters.
type letters struct{ dead, queued []string }

func (q *letters) GetQueueUrl(context.Context, *sqs.GetQueueUrlInput, ...func(*sqs.Options)) (*sqs.GetQueueUrlOutput, error) {
	return &sqs.GetQueueUrlOutput{QueueUrl: aws.String("dead")}, nil
}

func (q *letters) ReceiveMessage(context.Context, *sqs.ReceiveMessageInput, ...func(*sqs.Options)) (*sqs.ReceiveMessageOutput, error) {
	if len(q.dead) == 0 {
		return &sqs.ReceiveMessageOutput{}, nil
	}
	return &sqs.ReceiveMessageOutput{Messages: []sqstypes.Message{{Body: &q.dead[0], ReceiptHandle: aws.String("r")}}}, nil
}

func (q *letters) SendMessage(_ context.Context, in *sqs.SendMessageInput, _ ...func(*sqs.Options)) (*sqs.SendMessageOutput, error) {
	q.queued = append(q.queued, *in.MessageBody)
	return &sqs.SendMessageOutput{}, nil
}

func (q *letters) DeleteMessage(context.Context, *sqs.DeleteMessageInput, ...func(*sqs.Options)) (*sqs.DeleteMessageOutput, error) {
	q.dead = q.dead[1:]
	return &sqs.DeleteMessageOutput{}, nil
}

type world struct {
	db    *dynamodb.Client
	steps *steps
	queue *letters
	deps  operator.Deps
}

const prefix = "arn:aws:states:us-east-1:000000000000:stateMachine:" + names.Prefix

func newWorld(t *testing.T) *world {
	db := dynamotest.New(t)
	w := &world{db: db, steps: &steps{running: map[string]string{}, closed: map[string]closed{}, tokens: map[string]bool{}}, queue: &letters{}}
	w.deps = operator.Deps{
		Life:   analysis.Store{DB: db, Analyses: names.Analyses.Name},
		Ledger: credit.Store{DB: db, Credits: names.Credits.Name, Effects: names.Effects.Name},
		Runs:   batchrun.Store{DB: db, Table: names.Runs.Name, Leases: lease.Store{DB: db, Table: names.Effects.Name}},
		Usage:  usage.Store{DB: db, Usage: names.Usage.Name, Prices: names.Prices.Name}, Erasures: erasure.Store{DB: db, Table: names.Erasures.Name},
		Steps: w.steps, MachineARN: prefix + "analysis", Machines: prefix, Queue: w.queue, QueueURL: "queue",
	}
	return w
}

func (w *world) row(t *testing.T, id string, st analysis.Status) {
	t.Helper()
	now := time.Now()
	r := analysis.Row{AnalysisID: id, AthleteID: "a", Status: st, Attempt: 1, QueuedAt: now, Deadline: now.Add(time.Hour)}
	if !st.Ended() {
		r.Open = analysis.OpenMark
	}
	item, err := stamp.MarshalMap(r)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.db.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &names.Analyses.Name, Item: item}); err != nil {
		t.Fatal(err)
	}
}

// ask sends a form; the answer is JSON, or the error's text.
func (w *world) ask(t *testing.T, form string) string {
	t.Helper()
	b, err := operator.New(w.deps).Invoke(t.Context(), []byte(form))
	if err != nil {
		var e messages.InvokeResponse_Error
		if !errors.As(err, &e) {
			t.Fatal(err)
		}
		return e.Type + ": " + e.Message
	}
	return string(b)
}

func want(t *testing.T, got string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if !strings.Contains(got, p) {
			t.Errorf("got %s\nwant %s in it", got, p)
		}
	}
}

func TestFormsThatAreWrong(t *testing.T) {
	w := newWorld(t)
	for form, says := range map[string]string{
		`[]`:                 `no JSON object`,
		`{"action":"drop"}`:  `there are [drain erase grant redrive release reprice requeue restart]`,
		`{"action":"drain"}`: `say who you are`,
		`{"action":"restart","operator":"ada","analysis":"x"}`:                                                                                  `unknown field`,
		`{"action":"restart","operator":"ada","analysis_id":"an-x"}`:                                                                            `the attempt that it is at`,
		`{"action":"restart","operator":"ada","analysis_id":"an-x","attempt":1}`:                                                                `nothing was restarted`,
		`{"action":"grant","operator":"ada","athlete_id":"a","credits":1000,"key":"k"}`:                                                         `1 to 100 credits`,
		`{"action":"grant","operator":"ada","athlete_id":"` + strings.Repeat("a", names.MaxIDBytes+1) + `","credits":1,"key":"k","reason":"r"}`: `128 bytes at most`,
		`{"action":"reprice","operator":"ada"}`:                                                                                                 `give analysis_id, or from and to`,
		`{"action":"reprice","operator":"ada","from":"2026-01-01","to":"2026-03-01"}`:                                                           `at most 31 apart`,
		`{"action":"release","operator":"ada","effect":"tags","run":"night"}`:                                                                   `does not have tags`,
		`{"action":"requeue","operator":"ada","max":1000}`:                                                                                      `1 to 100`,
	} {
		want(t, w.ask(t, form), "Permanent: ", says)
	}
}

func TestDrain(t *testing.T) {
	w := newWorld(t)
	w.row(t, "an-old", analysis.Analysing)
	w.row(t, "an-new", analysis.Queued)
	w.row(t, "an-none", analysis.Queued)
	w.row(t, "an-ended", analysis.Ready)
	w.steps.running = map[string]string{"an-old-1": "v1", "an-new-1": "v2", "an-ended-1": "v0"}
	want(t, w.ask(t, `{"action":"drain","operator":"ada"}`), `"open":3`, `"versions":{"v1":1,"v2":1}`, `"no_execution":1`)
}

func TestRestartTwiceIsOnce(t *testing.T) {
	w := newWorld(t)
	w.row(t, "an-x", analysis.Analysing)
	w.row(t, "an-done", analysis.Ready)
	for range 2 {
		want(t, w.ask(t, `{"action":"restart","operator":"ada","analysis_id":"an-x","attempt":1}`), `"attempt":2`, `"execution":"an-x-2"`)
	}
	want(t, w.ask(t, `{"action":"restart","operator":"ada","analysis_id":"an-done","attempt":1}`), "Permanent", "ready")
	if n := strings.Count(strings.Join(w.steps.log, " "), "start an-x-2"); n != 1 {
		t.Errorf("%v", w.steps.log)
	}
}

func TestGrantTwiceIsOnce(t *testing.T) {
	w := newWorld(t)
	for range 2 {
		want(t, w.ask(t, `{"action":"grant","operator":"ada","athlete_id":"a","credits":3,"key":"k","reason":"sorry"}`), `"balance":3`)
	}
}

func TestReprice(t *testing.T) {
	w := newWorld(t)
	err := usage.Record(t.Context(), w.db, names.Usage.Name, usage.Call{AnalysisID: "an-x", Task: "tags", Provider: "rules", Model: "nobody-knows",
		At: time.Date(2026, 3, 1, 1, 0, 0, 0, time.UTC), Tokens: usage.Tokens{Input: usage.Count(5), Output: usage.Count(5)}})
	if err != nil {
		t.Fatal(err)
	}
	want(t, w.ask(t, `{"action":"reprice","operator":"ada","from":"2026-03-01","to":"2026-03-02"}`),
		`{"of":"2026-03-01","calls":1,"total_usd":"0.00","unpriced":1`, `{"of":"2026-03-02","calls":0`)
}

func TestReleaseOnlyWhatIsDead(t *testing.T) {
	w := newWorld(t)
	r, err := w.deps.Runs.Begin(t.Context(), "night-7", names.EffectTags, "{}")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.deps.Runs.Take(t.Context(), r, "day", "worker", time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	form := `{"action":"release","operator":"ada","effect":"tags","run":"night-7"}`
	w.steps.running["night-7"] = "v"
	want(t, w.ask(t, form), "Permanent", "is running; stop it first")
	delete(w.steps.running, "night-7")
	want(t, w.ask(t, form), "Permanent", "a worker of night-7 has batch day until")
	w.deps.Now = func() time.Time { return time.Now().Add(2 * time.Hour) }
	for range 2 {
		want(t, w.ask(t, form), `"outcome":"released by ada"`, `"held_by":""`)
	}
	if _, err := w.deps.Runs.Begin(t.Context(), "night-8", names.EffectTags, "{}"); err != nil {
		t.Errorf("after the release: %v", err)
	}
	if _, err := w.deps.Runs.Take(t.Context(), r, "day", "worker", time.Now().Add(time.Hour)); err == nil {
		t.Error("the released run's worker goes on")
	}
	want(t, w.ask(t, form), `"held_by":"night-8"`) // somebody else's lease is left alone
}

func TestRequeue(t *testing.T) {
	w := newWorld(t)
	w.row(t, "an-open", analysis.Queued)
	w.row(t, "an-ended", analysis.Failed)
	w.queue.dead = []string{"an-open", "an-ended", "an-nobody"}
	got := w.ask(t, `{"action":"requeue","operator":"ada"}`)
	want(t, got, `"requeued":["an-open"]`, `"dropped":["an-ended","an-nobody"]`, `"more":false`)
	if len(w.queue.dead) != 0 || len(w.queue.queued) != 1 {
		t.Errorf("%+v", w.queue)
	}
	if !json.Valid([]byte(got)) {
		t.Error(got)
	}
}

package chaosreal

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"syscall"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	ddb "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"fastbowlinglab/integration/local"
	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/retry"
)

// stoppedFor is longer than a pose lease and the skew.
const stoppedFor = names.LeaseDuration + names.ClockSkew + 10*time.Second

// granted is how many credits each athlete gets: enough for one analysis.
const granted = 1

// schedule is one analysis with what happens to it.
type schedule struct {
	c        *campaign
	plan     *plan
	operator client

	id    string
	began time.Time
	row   analysis.Row                  // as it was first seen with its end
	item  map[string]ddb.AttributeValue // the same, whole
}

func (s *schedule) told() Told {
	t := Told{Seed: s.plan.seed, End: s.row.Status, Faults: s.plan.fired}
	if !s.row.EndedAt.IsZero() {
		t.Took = s.row.EndedAt.Sub(s.began).Round(100 * time.Millisecond)
	}
	for _, th := range s.plan.things() {
		t.Things = append(t.Things, fmt.Sprint(th.kind, "@", th.at.Round(100*time.Millisecond)))
	}
	return t
}

func (s *schedule) athlete() string { return fmt.Sprint("athlete-chaos-", s.plan.seed) }
func (s *schedule) email() string   { return fmt.Sprintf("chaos-%d@example.com", s.plan.seed) }

// run plays the schedule to the analysis's end.
func (s *schedule) run(ctx context.Context) {
	found := s.c.violation(s.plan.seed)
	token, err := s.c.cloud.AthleteToken(s.athlete(), 2*time.Hour)
	if err != nil {
		found("I9", "%v", err)
		return
	}
	grant := map[string]any{"athlete_id": s.athlete(), "credits": granted, "reason": "chaos"}
	if err := s.operator.call(ctx, http.MethodPost, "/v1/operator/grants", fmt.Sprint("chaos-", s.plan.seed), grant, nil); err != nil {
		found("I9", "grant: %v", err)
		return
	}
	s.began = time.Now()
	app := client{s.c.cloud.API, token}
	if err := app.submit(ctx, "key", s.email(), s.c.cfg.Clip, s.know); err != nil {
		found("I9", "%v", err)
		return
	}
	var things sync.WaitGroup
	for _, th := range s.plan.things() {
		things.Go(func() {
			if retry.Sleep(ctx, th.at) == nil {
				s.thing(ctx, app, th)
			}
		})
	}
	s.follow(ctx)
	things.Wait()
}

// know maps the analysis to its schedule, so that its requests meet its faults.
func (s *schedule) know(id string) {
	s.id = id
	s.c.mu.Lock()
	s.c.byID[id] = s
	s.c.mu.Unlock()
}

// follow waits for the end and keeps the row as it was then.
func (s *schedule) follow(ctx context.Context) {
	for time.Since(s.began) < limit {
		item, err := s.c.item(ctx, names.Analyses, analysis.Key(s.id))
		if err == nil && item != nil {
			if r, err := analysis.Decode(item); err == nil && r.Status.Ended() {
				s.row, s.item = r, item
				return
			}
		}
		if retry.Sleep(ctx, 300*time.Millisecond) != nil {
			return
		}
	}
}

// thing lets one thing happen. What it may do comes too late as often as not:
// its error is an answer, and the end is what counts.
func (s *schedule) thing(ctx context.Context, app client, th thing) {
	s.plan.fire(th.kind)
	row, err := analysis.Get(ctx, s.c.db, names.Analyses.Name, s.id)
	if err != nil {
		return
	}
	switch th.kind {
	case restart:
		in := fmt.Sprintf(`{"action":"restart","operator":"chaos","analysis_id":%q,"attempt":%d}`, s.id, row.Attempt)
		_, _, _ = s.c.cloud.Lambda().Invoke(ctx, names.FnOperator, []byte(in))
	case duplicate:
		_, _ = analysis.Start(ctx, s.c.steps, local.StateMachineARN, s.id, row.Attempt)
	case foreign:
		_, _ = s.c.steps.StartExecution(ctx, &sfn.StartExecutionInput{StateMachineArn: aws.String(local.StateMachineARN),
			Name: aws.String(fmt.Sprintf("%s%s-%d", foreignPrefix, analysis.ExecutionName(s.id, row.Attempt), th.n)), Input: aws.String(fmt.Sprintf(`{"analysis_id":%q,"attempt":%d}`, s.id, row.Attempt))})
	case abort, redrive:
		s.stop(ctx, row, th)
	case cancel:
		_ = app.call(ctx, http.MethodPost, "/v1/analyses/"+s.id+"/cancel", "", struct{}{}, nil)
	case secondCheck:
		url := s.c.cloud.Endpoint + "/" + local.Account + "/" + names.PoseQueue.Name
		_, _ = s.c.queue.SendMessage(ctx, &sqs.SendMessageInput{QueueUrl: &url, MessageBody: &s.id})
	case killWorker, stopWorker:
		s.worker(ctx, th)
	}
}

const foreignPrefix = "foreign-"

// stop stops the execution that holds the analysis and, for a redrive, redrives
// it at once or after its end.
func (s *schedule) stop(ctx context.Context, row analysis.Row, th thing) {
	arn, err := analysis.ExecutionARN(local.StateMachineARN, row.Holder())
	if err != nil {
		return
	}
	_, _ = s.c.steps.StopExecution(ctx, &sfn.StopExecutionInput{ExecutionArn: &arn})
	if th.kind != redrive {
		return
	}
	_ = retry.Sleep(ctx, s.plan.dice.Between(0, 10*time.Second, fmt.Sprint("redrive ", th.n)))
	_, _ = s.c.steps.RedriveExecution(ctx, &sfn.RedriveExecutionInput{ExecutionArn: &arn})
}

// worker kills a worker, or stops it for longer than its lease.
func (s *schedule) worker(ctx context.Context, th thing) {
	pids := s.c.cloud.Tasks().Pids()
	if len(pids) == 0 {
		return
	}
	pid := pids[s.plan.dice.IntN(len(pids), fmt.Sprint("worker ", th.n))]
	if th.kind == killWorker {
		_ = syscall.Kill(pid, syscall.SIGKILL)
		return
	}
	if syscall.Kill(pid, syscall.SIGSTOP) != nil {
		return
	}
	_ = retry.Sleep(ctx, stoppedFor)
	_ = syscall.Kill(pid, syscall.SIGCONT) // it may have been killed meanwhile
}

package chaosreal

import (
	"context"
	"fmt"
	"maps"
	"os"
	"regexp"
	"sync"
	"syscall"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"fastbowlinglab/integration/bedrock"
	"fastbowlinglab/integration/local"
	"fastbowlinglab/integration/local/endpoint"
	"fastbowlinglab/integration/promises"
	"fastbowlinglab/shared/aitask"
	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/retry"
)

// Config says what to play.
type Config struct {
	Runs  int
	Seed  uint64 // of the first schedule; the others count up from it
	Clip  []byte
	Every time.Duration // between the starts of two schedules; default 6 s
	Local local.Config  // what of the cloud is to be different
}

// limit is how long an analysis may take to its end. On an idle machine most take
// one minute, a worker that dies costs a lease and a skew, and a lost answer of the
// model a claim of five minutes; the limit is far beyond, since a busy machine is
// no violation.
const limit = 45 * time.Minute

// workerApp is the application id of the pose worker's requests.
const workerApp = names.PoseWorker

// Result is what a campaign came to.
type Result struct {
	Runs       int
	Ends       map[analysis.Status]int
	Fired      map[string]int // faults and things, by kind
	Executions int
	Calls      int // that the model saw
	Violations []Violation
	Took       time.Duration
	Each       []Told
}

// Told is one schedule as it went.
type Told struct {
	Seed   uint64
	End    analysis.Status
	Took   time.Duration // from the submission to the end that was seen
	Things []string      // what was done to it, and when
	Faults map[string]int
}

// Violation is a promise that did not hold, with the seed that shows it.
type Violation struct {
	Seed uint64
	promises.Violation
}

// campaign is a running one.
type campaign struct {
	cfg    Config
	cloud  *local.Cloud
	models *bedrock.Server
	plan   *plan // of what belongs to no analysis
	db     *dynamodb.Client
	steps  *sfn.Client
	queue  *sqs.Client

	mu     sync.Mutex
	byID   map[string]*schedule
	events int
	found  []Violation
}

// Run starts a cloud, plays the schedules on it and checks what they have left.
func Run(ctx context.Context, cfg Config) (Result, error) {
	if cfg.Every == 0 {
		cfg.Every = 6 * time.Second
	}
	began := time.Now()
	c := &campaign{cfg: cfg, plan: newPlan(cfg.Seed), byID: map[string]*schedule{}}
	c.plan.rate, c.plan.most = max(c.plan.rate, 0.01), faulty*cfg.Runs
	c.models = &bedrock.Server{AccessKey: local.AccessKey, SecretKey: local.SecretKey, Region: local.Region,
		Script: func(n int, _ bedrock.Call) *bedrock.Act { return c.plan.act(n) }}
	lc := cfg.Local
	lc.Bedrock, lc.Intercept, lc.Duplicate = c.models, c.intercept, c.twice
	lc.EventRetries = []time.Duration{time.Second, 2 * time.Second}
	lc.Schedules = map[string]time.Duration{names.FnReconcile: 10 * time.Second}
	lc.Env = map[string]string{names.EnvPoseModel: "lite", names.EnvPasses: "1"}
	cloud, err := local.Start(ctx, lc)
	if err != nil {
		return Result{}, err
	}
	c.cloud = cloud
	res, err := c.play(ctx)
	if closeErr := cloud.Close(); err == nil {
		err = closeErr
	}
	res.Took = time.Since(began)
	return res, err
}

func (c *campaign) play(ctx context.Context) (Result, error) {
	aws := c.cloud.AWS()
	c.db, c.steps, c.queue = dynamodb.NewFromConfig(aws), sfn.NewFromConfig(aws), sqs.NewFromConfig(aws)
	for _, t := range []aitask.Task{aitask.Findings, aitask.Coaching} {
		if err := c.cloud.SetParameter(ctx, t.Setting(names.Parameters), "bedrock:"+local.StandInModel); err != nil {
			return Result{}, err
		}
	}
	operator, err := c.cloud.OperatorToken("operator", 2*time.Hour)
	if err != nil {
		return Result{}, err
	}
	var all []*schedule
	var wg sync.WaitGroup
	for i := range c.cfg.Runs {
		s := &schedule{c: c, plan: newPlan(c.cfg.Seed + uint64(i)), operator: client{c.cloud.API, operator}}
		all = append(all, s)
		wg.Go(func() { s.run(ctx) })
		if err := retry.Sleep(ctx, c.cfg.Every); err != nil {
			break
		}
	}
	wg.Wait()
	if err := ctx.Err(); err != nil {
		return Result{}, fmt.Errorf("the campaign was cut short: %w", err)
	}
	left, err := c.remains(ctx, all)
	if err != nil {
		return Result{}, err
	}
	if err := left.check(c.violation); err != nil {
		return Result{}, err
	}
	res := Result{Runs: len(all), Ends: map[analysis.Status]int{}, Fired: map[string]int{}, Executions: left.executions(), Calls: left.sent, Violations: c.found}
	for _, s := range append(all, &schedule{plan: c.plan}) {
		if s.row.Status != "" {
			res.Ends[s.row.Status]++
		}
		s.plan.mu.Lock()
		for k, n := range s.plan.fired {
			res.Fired[k] += n
		}
		s.plan.mu.Unlock()
		if s.c != nil {
			res.Each = append(res.Each, s.told())
		}
	}
	return res, nil
}

var analysisID = regexp.MustCompile(`an-[a-z2-7]{26}`)

// intercept decides about every request of the programs: by the plan of the
// analysis that it is about or, where it names none, of the campaign.
func (c *campaign) intercept(q *endpoint.Request) endpoint.Fault {
	if q.Caller == "" { // the campaign itself, and presigned URLs
		return endpoint.Fault{}
	}
	text := q.HTTP.URL.Path
	if q.Service != endpoint.S3 {
		body, err := q.Body()
		if err != nil {
			return endpoint.Fault{}
		}
		text += string(body)
	}
	id := analysisID.FindString(text)
	p := c.plan
	c.mu.Lock()
	if s := c.byID[id]; s != nil {
		p = s.plan
	}
	c.mu.Unlock()
	d := p.request(q.Service, q.Operation, q.Caller)
	if d.crash != "" {
		c.cloud.Lambda().Signal(syscall.SIGKILL, q.Caller, func(payload []byte) bool {
			return id == "" || analysisID.FindString(string(payload)) == id
		})
	}
	return d.fault
}

// twice decides whether an event comes twice.
func (c *campaign) twice(source string) bool {
	c.mu.Lock()
	c.events++
	n := c.events
	c.mu.Unlock()
	if !c.plan.dice.Chance(0.1, fmt.Sprint("twice ", source, n)) {
		return false
	}
	c.plan.fire(eventTwice)
	return true
}

// violation notes one.
func (c *campaign) violation(seed uint64) promises.Found {
	return func(invariant, format string, args ...any) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.found = append(c.found, Violation{seed, promises.Violation{Invariant: invariant, Detail: fmt.Sprintf(format, args...)}})
	}
}

// Figures are the numbers of a result by kind, for a summary line.
func (r Result) Figures() map[string]any {
	by := map[string]int{}
	for _, v := range r.Violations {
		by[v.Invariant]++
	}
	ends := map[string]int{}
	for s, n := range r.Ends {
		ends[string(s)] = n
	}
	return map[string]any{"runs": r.Runs, "ends": ends, "faults": maps.Clone(r.Fired), "executions": r.Executions,
		"model_calls": r.Calls, "violations": by, "seconds": int(r.Took.Seconds())}
}

// Missing names what the campaign needs and is not there; "" when all is.
func Missing(root string) string {
	for _, need := range []string{".local/bin/" + names.PoseWorker, ".local/bin/" + names.FnAudit + "/bootstrap", ".local/fonts",
		"node_modules/@dynoxide/linux-x64/dynoxide"} {
		if _, err := os.Stat(root + "/" + need); err != nil {
			return need
		}
	}
	return ""
}

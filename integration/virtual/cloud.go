package virtual

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"fastbowlinglab/functions/poseworker"
	"fastbowlinglab/integration/stepfn"
	"fastbowlinglab/shared/budget"
	"fastbowlinglab/shared/dynamotest"
	"fastbowlinglab/shared/flags"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/retry"
	"fastbowlinglab/statemachine"
)

// Options of a run. Every function given must decide by its arguments alone.
type Options struct {
	Seed        uint64
	Start       time.Time                                         // when the run begins; zero: 2026-03-01
	Faults      func(Call) Decision                               // of a request; nil: none
	Invocations func(Invocation) InvokeFault                      // of an invocation by the state machine; nil: none
	Events      func(kind, id string) []time.Duration             // deliveries of an event, by their delays; nil: one, at once
	Skew        func(actor string) time.Duration                  // how far ahead a function's or worker's clock is; nil: not
	Rewrite     func(Call) [][]byte                               // the requests carried out in a request's stead; nil: itself
	Reply       func(Call, []byte) []byte                         // the answer given in an answer's stead; nil: itself
	Observe     func(*Cloud, Call)                                // told of each request carried out, before anything else happens
	Answered    func(fn string, in, out []byte, fail string)      // told of each function's answer
	After       func(*Cloud)                                      // called when everything has stopped
	Override    map[string]func(*Cloud) lambda.Handler            // functions replaced, by name
	Vision      func(worker *Proc) poseworker.Vision              // nil: a pass of ten chunks, three seconds each
	Model       func(ctx context.Context, key string) ModelAnswer // how the paid model answers; nil: at once, well
	Lease       time.Duration                                     // of pose jobs; 0: as declared
	EffectSkew  time.Duration                                     // of effects; 0: as declared
	Takeovers   int                                               // of paid calls; 0: as declared, one
	Budget      budget.Limit                                      // of the paid model; zero: none
	Poll        time.Duration                                     // a worker's long poll; 0: as declared
	Workers     int                                               // workers beside those that the fleet wants, while it wants any
	ColdStart   time.Duration                                     // from a worker's being asked for to its first poll; 0: a minute
	NoFleet     bool                                              // the fleet never starts a worker, whatever is asked of it
	RenewOnPass bool                                              // workers renew their leases between chunks, not by a keeper
	NoSweep     bool                                              // the reconciler sends no notices
	Keep        bool                                              // keep the request log's lines
}

// Cloud is one virtual world. It is used inside the function given to Run.
type Cloud struct {
	T        *testing.T
	Gate     *Gate
	Engine   *stepfn.Engine
	Machine  string            // ARN of the analysis state machine
	Machines map[string]string // ARNs of all state machines, by definition
	Config   aws.Config
	DB       *dynamodb.Client
	Direct   *dynamodb.Client // past the gate: for observers
	Retry    retry.Policy

	opt       Options
	functions map[string]lambda.Handler
	queue     *queueService
	objects   *bucket
	params    *paramStore
	service   *containerService
	balancer  balancer
	served    map[string]int // requests that the gateway handed on, by function and who asked; counted in turns
	mail      *mailService
	push      *topicService
	model     *modelService
	ctx       context.Context
	cancel    context.CancelFunc
	wg        sync.WaitGroup // goroutines of the world itself: events, schedule, workers, invocations
}

// defaultStart is when a run begins unless told otherwise.
var defaultStart = time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)

// secret signs every request of a world.
const secret = "virtual"

// QueueURL is the pose queue's URL in every virtual world.
const QueueURL = "https://sqs.us-east-1.amazonaws.com/000000000000/" + names.Prefix + "pose-jobs"

// Run makes a world in a synctest bubble and calls body in it. When body
// returns the world ends: executions stop, goroutines leave.
func Run(t *testing.T, opt Options, body func(c *Cloud)) {
	t.Helper()
	RunOn(t, dynamotest.Start(t), opt, body)
}

// RunOn is Run on a database that is there already, and empty.
func RunOn(t *testing.T, db *dynamotest.Server, opt Options, body func(c *Cloud)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { // the database is a real process outside the bubble
		c := build(t, opt, strings.TrimPrefix(db.URL, "http://"))
		stop := make(chan struct{})
		go func() {
			defer close(stop)
			body(c)
			c.Gate.end()
			c.cancel()
			if err := c.Engine.Close(); err != nil {
				t.Errorf("close the engine: %v", err)
			}
			c.wg.Wait()
			if opt.After != nil {
				opt.After(c)
			}
		}()
		c.Gate.run(stop)
	})
}

func build(t *testing.T, opt Options, addr string) *Cloud {
	if opt.Start.IsZero() {
		opt.Start = defaultStart
	}
	time.Sleep(time.Until(opt.Start)) // bubbles start in the year 2000
	conn, err := dialBare(addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.conn.Close() })
	c := &Cloud{
		T: t, opt: opt,
		queue:   newQueue(names.QueueVisibility, names.PoseQueue.MaxReceiveCount),
		objects: &bucket{objects: map[string][]object{}},
		params:  &paramStore{values: map[string]string{}},
		service: &containerService{changed: make(chan struct{})}, mail: &mailService{}, push: &topicService{}, model: &modelService{}, served: map[string]int{},
		Retry: retry.Policy{Rand: func() float64 { return 1 }},
	}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	engineAPI := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { c.Engine.ServeHTTP(w, r) })
	c.Gate = newGate(opt.Seed, map[string]http.Handler{
		"dynamodb": conn, "sqs": c.queue, "s3": c.objects, "ssm": c.params,
		"ecs": c.service, "ses": c.mail, "sns": c.push, "states": engineAPI, modelHost: c.model,
	})
	c.Gate.faults, c.Gate.rewrite, c.Gate.reply, c.Gate.keep = opt.Faults, opt.Rewrite, opt.Reply, opt.Keep
	c.Gate.arrival = func() <-chan struct{} { return c.queue.arrived }
	c.Gate.after = func(call Call) {
		if opt.Observe != nil {
			opt.Observe(c, call)
		}
		c.stream(call)
	}
	c.Config = aws.Config{
		Region: "us-east-1", Credentials: credentials.NewStaticCredentialsProvider("virtual", secret, ""),
		BaseEndpoint: aws.String("http://" + addr), HTTPClient: c.Gate,
		Retryer: func() aws.Retryer { return aws.NopRetryer{} },
	}
	c.DB = rows(c.Config)
	c.Direct = rows(c.Config, func(o *dynamodb.Options) { o.HTTPClient = direct{conn} })
	c.Engine, err = stepfn.New(stepfn.Options{
		Invoker: c, Seed: fmt.Sprint("seed-", opt.Seed), OnStatusChange: c.statusChanged,
		Logger: slog.New(slog.NewTextHandler(io.Discard, nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	c.params.values[names.Parameters+"/flags/pose_road"] = flags.RoadQueue
	c.machine()
	c.functions = c.handlers()
	if !opt.NoFleet {
		c.wg.Go(c.keepFleet)
	}
	return c
}

// machine puts the real definitions into the engine.
func (c *Cloud) machine() {
	c.Machines = map[string]string{}
	defs, err := definitions()
	if err != nil {
		c.T.Fatal(err)
	}
	for _, name := range statemachine.Names() {
		m, err := c.Engine.CreateStateMachine(stepfn.CreateStateMachineInput{
			Name: names.MachineName(name), Definition: defs[name], RoleARN: "arn:aws:iam::000000000000:role/virtual",
		})
		if err != nil {
			c.T.Fatal(err)
		}
		c.Machines[name] = m.StateMachineARN
	}
	c.Machine = c.Machines[statemachine.Analysis]
}

// definitions are those of all state machines, filled in: the same in every world.
var definitions = sync.OnceValues(func() (map[string]string, error) {
	all := map[string]string{}
	for _, name := range statemachine.Names() {
		def, err := statemachine.Fill(name, statemachine.Substitutions(name, functionARN))
		if err != nil {
			return nil, err
		}
		all[name] = string(def)
	}
	return all, nil
})

func functionARN(name string) string {
	return "arn:aws:lambda:us-east-1:000000000000:function:" + names.Prefix + name + ":1"
}

// functionName is the inverse of functionARN.
func functionName(arn string) string {
	p := strings.Split(arn, ":")
	if len(p) < 7 {
		return arn
	}
	return strings.TrimPrefix(p[6], names.Prefix)
}

// Go runs f as a process of its own, which ends with the world.
func (c *Cloud) Go(actor string, f func(ctx context.Context)) {
	c.wg.Go(func() { f(As(c.ctx, actor)) })
}

// clock is the clock of a function or worker.
func (c *Cloud) clock(actor string) func() time.Time {
	if c.opt.Skew == nil {
		return nil
	}
	d := c.opt.Skew(actor)
	return func() time.Time { return time.Now().Add(d) }
}

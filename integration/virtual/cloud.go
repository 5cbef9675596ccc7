package virtual

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
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
	"fastbowlinglab/shared/dynamotest"
	"fastbowlinglab/shared/flags"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/retry"
	"fastbowlinglab/statemachine"
)

// Options of a run.
type Options struct {
	Seed     uint64
	Start    time.Time                              // when the run begins; zero: 2026-03-01
	Faults   func(*rand.Rand, Call) Fault           // nil: none
	Events   func(*rand.Rand, string) int           // how often an event (notice, ended) is delivered; nil: once
	Override map[string]func(*Cloud) lambda.Handler // functions replaced, by name
	Vision   poseworker.Vision                      // nil: a pass of ten chunks, three seconds each
	NoFleet  bool                                   // the fleet never starts a worker, whatever is asked of it
	Keep     bool                                   // keep the request log's lines
}

// Cloud is one virtual world. It is used inside the function given to Run.
type Cloud struct {
	T       *testing.T
	Gate    *Gate
	Engine  *stepfn.Engine
	Machine string // ARN of the analysis state machine
	Config  aws.Config
	DB      *dynamodb.Client
	Retry   retry.Policy

	opt       Options
	functions map[string]lambda.Handler
	queue     *queueService
	objects   *bucket
	params    *paramStore
	service   *containerService
	mail      *mailService
	ctx       context.Context
	cancel    context.CancelFunc
	wg        sync.WaitGroup // goroutines of the world itself: events, schedule, workers
	mu        sync.Mutex
	events    int
}

// defaultStart is when a run begins unless told otherwise.
var defaultStart = time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)

// QueueURL is the pose queue's URL in every virtual world.
const QueueURL = "https://sqs.us-east-1.amazonaws.com/000000000000/" + names.Prefix + "pose-jobs"

// Run makes a world in a synctest bubble and calls body in it. When body
// returns the world ends: executions stop, goroutines leave.
func Run(t *testing.T, opt Options, body func(c *Cloud)) {
	t.Helper()
	db := dynamotest.Start(t) // outside the bubble: a real process
	synctest.Test(t, func(t *testing.T) {
		c := build(t, opt, strings.TrimPrefix(db.URL, "http://"))
		stop := make(chan struct{})
		go func() {
			defer close(stop)
			body(c)
			c.cancel()
			if err := c.Engine.Close(); err != nil {
				t.Errorf("close the engine: %v", err)
			}
			c.wg.Wait()
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
		service: &containerService{changed: make(chan struct{})}, mail: &mailService{},
		Retry: retry.Policy{Rand: func() float64 { return 1 }},
	}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	engineAPI := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { c.Engine.ServeHTTP(w, r) })
	c.Gate = newGate(opt.Seed, map[string]http.Handler{
		"dynamodb": conn, "sqs": c.queue, "s3": c.objects, "ssm": c.params,
		"ecs": c.service, "ses": c.mail, "states": engineAPI,
	}, opt.Faults)
	c.Gate.keep = opt.Keep
	c.Gate.arrival = func() <-chan struct{} { return c.queue.arrived }
	c.Gate.after = c.carriedOut
	c.Config = aws.Config{
		Region: "us-east-1", Credentials: credentials.NewStaticCredentialsProvider("virtual", "virtual", ""),
		BaseEndpoint: aws.String("http://" + addr), HTTPClient: c.Gate,
		Retryer: func() aws.Retryer { return aws.NopRetryer{} },
	}
	c.DB = dynamodb.NewFromConfig(c.Config)
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
		c.Go("fleet", c.keepFleet)
	}
	return c
}

// machine puts the real definition into the engine.
func (c *Cloud) machine() {
	subs := map[string]string{}
	for _, f := range names.Functions() {
		if f.State {
			subs[f.ARNPlaceholder()] = functionARN(f.Name)
		}
	}
	def, err := statemachine.Fill(names.StateMachine[len(names.Prefix):], subs)
	if err != nil {
		c.T.Fatal(err)
	}
	m, err := c.Engine.CreateStateMachine(stepfn.CreateStateMachineInput{
		Name: names.StateMachine, Definition: string(def), RoleARN: "arn:aws:iam::000000000000:role/virtual",
	})
	if err != nil {
		c.T.Fatal(err)
	}
	c.Machine = m.StateMachineARN
}

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

// Go runs f as an actor of its own, which ends with the world.
func (c *Cloud) Go(actor string, f func(ctx context.Context)) {
	c.wg.Go(func() { f(As(c.ctx, actor)) })
}

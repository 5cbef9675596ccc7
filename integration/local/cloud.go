package local

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"fastbowlinglab/integration/local/alb"
	"fastbowlinglab/integration/local/dynoxide"
	"fastbowlinglab/integration/local/ecs"
	"fastbowlinglab/integration/local/endpoint"
	"fastbowlinglab/integration/local/httpapi"
	"fastbowlinglab/integration/local/kumo"
	"fastbowlinglab/integration/local/lambdaapi"
	"fastbowlinglab/integration/local/pump"
	"fastbowlinglab/integration/local/signin"
	"fastbowlinglab/integration/stepfn"
	"fastbowlinglab/integration/web"
	"fastbowlinglab/shared/names"
)

// Prepare makes sure that this process can keep its state in dir. Call it first
// in main: it may start the program again, with the same arguments and pid.
func Prepare(dir string) error { return kumo.Prepare(kumoDir(dir)) }

// Cloud is a running embedded cloud.
type Cloud struct {
	Endpoint string // URL of the one endpoint, http://127.0.0.1:port
	API      string // base URL of the HTTP API
	PoseURL  string // base URL of the pose workers' load balancer
	SignIn   string // origin of the user pool's pages
	Logs     string // folder of the log files

	cfg                                                 Config
	listener, apiListener, poseListener, signInListener net.Listener
	server, apiServer, poseServer, signInServer         *http.Server

	issuer   *httpapi.Issuer
	services *endpoint.Router // without faults: for the cloud's own calls
	kumo     http.Handler
	db       *dynoxide.DB
	lambda   *lambdaapi.Service
	states   *stepfn.Engine
	tasks    *ecs.Cluster
	balancer *alb.Balancer
	mails    int // sent before this start, in memory only

	running sync.WaitGroup
	undo    []func() error // in the order in which it was made
	once    sync.Once
	closed  error
}

// Start starts everything and waits until it can be used. One cloud at a time
// runs in a process, and on a Dir.
func Start(ctx context.Context, cfg Config) (*Cloud, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, fmt.Errorf("embedded cloud: %w", err)
	}
	c := &Cloud{cfg: cfg}
	if err := c.start(ctx); err != nil {
		return nil, fmt.Errorf("embedded cloud: %w", errors.Join(err, c.Close()))
	}
	return c, nil
}

// start goes from the bottom to the top; whatever it made is in undo.
func (c *Cloud) start(ctx context.Context) error {
	for _, step := range []func(context.Context) error{
		c.folders, c.listen, c.data, c.servers, c.compute, c.serve, c.sources,
	} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (c *Cloud) later(f func() error) { c.undo = append(c.undo, f) }

// folders makes the folders, and takes the state folder for this process alone.
func (c *Cloud) folders(context.Context) error {
	if c.cfg.Dir != "" {
		if err := os.MkdirAll(c.cfg.Dir, 0o755); err != nil {
			return err
		}
		lock, err := os.OpenFile(filepath.Join(c.cfg.Dir, "lock"), os.O_CREATE|os.O_RDWR, 0o644)
		if err != nil {
			return err
		}
		c.later(lock.Close)
		if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
			return fmt.Errorf("the state folder %s is in use: a demo or `make up` runs on it; end that one first, or use another folder (-state)", c.cfg.Dir)
		}
		if c.cfg.Logs == "" {
			c.cfg.Logs = filepath.Join(c.cfg.Dir, "logs")
		}
	}
	if c.cfg.Logs == "" {
		dir, err := os.MkdirTemp("", "fbl-cloud-")
		if err != nil {
			return err
		}
		c.later(func() error { return os.RemoveAll(dir) })
		c.cfg.Logs = dir
	}
	c.Logs = c.cfg.Logs
	if err := os.MkdirAll(c.cfg.Logs, 0o755); err != nil {
		return err
	}
	return c.openIssuer()
}

// listen takes the addresses, which everything else must know; they are served
// once all is there.
func (c *Cloud) listen(ctx context.Context) (err error) {
	if c.listener, err = c.loopback(ctx, c.cfg.Addr); err != nil {
		return fmt.Errorf("endpoint: %w", err)
	}
	if c.apiListener, err = c.loopback(ctx, c.cfg.APIAddr); err != nil {
		return fmt.Errorf("HTTP API: %w", err)
	}
	if c.poseListener, err = c.loopback(ctx, "127.0.0.1:0"); err != nil {
		return fmt.Errorf("load balancer: %w", err)
	}
	if c.signInListener, err = c.loopback(ctx, "127.0.0.1:0"); err != nil {
		return fmt.Errorf("sign-in: %w", err)
	}
	c.SignIn = "http://" + c.signInListener.Addr().String()
	c.PoseURL = "http://" + c.poseListener.Addr().String()
	c.Endpoint = "http://" + c.listener.Addr().String()
	c.API = "http://" + c.apiListener.Addr().String()
	return nil
}

// loopback listens on an address of this machine alone: the cloud checks no
// signatures.
func (c *Cloud) loopback(ctx context.Context, addr string) (net.Listener, error) {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	c.later(func() error {
		if err := l.Close(); !errors.Is(err, net.ErrClosed) { // its server closes it too
			return err
		}
		return nil
	})
	if !l.Addr().(*net.TCPAddr).IP.IsLoopback() {
		return nil, fmt.Errorf("%s is not on loopback", addr)
	}
	return l, nil
}

// state is a path in the state folder, "" when state lives in memory.
func (c *Cloud) state(name string) string {
	if c.cfg.Dir == "" {
		return ""
	}
	return filepath.Join(c.cfg.Dir, name)
}

// data starts what holds data and creates what shared/names declares.
func (c *Cloud) data(ctx context.Context) error {
	file, log := c.state("dynamodb.sqlite"), filepath.Join(c.cfg.Logs, "dynoxide.log")
	db, err := dynoxide.Start(ctx, dynoxide.Config{Path: c.cfg.dynoxide(), File: file, Log: log})
	if err != nil && file != "" {
		return fmt.Errorf("%w; %s says why (if %s is damaged, `make clean` forgets all state)", err, log, file)
	}
	if err != nil {
		return err
	}
	c.db = db
	c.later(func() error { db.Close(); return nil })
	k, release, err := kumo.New(kumo.Config{Dir: c.state("kumo"), URL: c.Endpoint})
	if err != nil {
		return err
	}
	c.kumo = k
	c.later(release)
	c.services = &endpoint.Router{Services: map[string]http.Handler{
		endpoint.DynamoDB: db, endpoint.Streams: db,
		endpoint.S3: k, endpoint.SQS: k, endpoint.SES: k, endpoint.SSM: k,
		endpoint.SecretsManager: k, endpoint.Events: k, endpoint.STS: k, endpoint.SNS: k,
	}}
	cr := creator{c.ownAWS()}
	if c.cfg.Dir == "" {
		if err := cr.wipe(ctx); err != nil { // what an earlier cloud of this process left in memory
			return err
		}
	}
	if err := cr.create(ctx); err != nil {
		return err
	}
	if c.cfg.Dir == "" {
		ms, err := c.allMails(ctx)
		if err != nil {
			return err
		}
		c.mails = len(ms)
	}
	return nil
}

// ownAWS reaches the services directly: no socket, no faults.
func (c *Cloud) ownAWS() aws.Config {
	cfg := c.AWS()
	cfg.BaseEndpoint = aws.String(c.Endpoint)
	cfg.HTTPClient = &http.Client{Transport: endpoint.Transport{Handler: c.services}}
	return cfg
}

// AWS configures an SDK client of the endpoint.
func (c *Cloud) AWS() aws.Config {
	return aws.Config{Region: Region, BaseEndpoint: aws.String(c.Endpoint),
		Credentials: credentials.NewStaticCredentialsProvider(AccessKey, SecretKey, "")}
}

// place says where things are.
func (c *Cloud) place() Place {
	return Place{Endpoint: c.Endpoint, APIURL: c.API, PoseURL: c.PoseURL, Root: c.cfg.Root, Fonts: c.cfg.Fonts}
}

// compute starts Lambda, Step Functions and ECS. ECS comes last: it may start
// tasks at once, and they use the rest.
func (c *Cloud) compute(context.Context) error {
	lc, err := c.cfg.lambdaConfig(c.place())
	if err != nil {
		return err
	}
	c.lambda = lambdaapi.New(lc)
	c.later(c.lambda.Close)
	c.services.Services[endpoint.Lambda] = c.lambda
	c.watched()
	c.startModels()
	if err := c.startStates(); err != nil {
		return err
	}
	return c.startTasks()
}

// servers makes the servers. They open last and are made here, so that they
// close after the workers and functions, which use them to leave in order.
func (c *Cloud) servers(context.Context) error {
	for _, s := range []**http.Server{&c.server, &c.apiServer, &c.poseServer, &c.signInServer} {
		*s = &http.Server{ReadHeaderTimeout: 10 * time.Second}
		c.later((*s).Close)
	}
	return nil
}

// serve opens the endpoint and the HTTP API.
func (c *Cloud) serve(context.Context) error {
	api, err := httpapi.New(httpapi.Config{Lambda: c.lambda, Auth: c.issuer.Authorizer(), Log: c.cfg.Log,
		CORS: &httpapi.CORS{Origins: c.webOrigins()}})
	if err != nil {
		return fmt.Errorf("HTTP API: %w", err)
	}
	c.server.Handler = bucketCORS(c.webOrigins(), &endpoint.Router{Services: c.services.Services, Intercept: c.cfg.Intercept})
	page, err := web.Handler(c.Page())
	if err != nil {
		return err
	}
	c.apiServer.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, web.Path) {
			page.ServeHTTP(w, r)
			return
		}
		api.ServeHTTP(w, r)
	})
	c.signInServer.Handler = signin.New(c.Page(), c.issuer, GuideAthlete, nil)
	c.running.Go(func() { _ = c.signInServer.Serve(c.signInListener) })
	c.running.Go(func() { _ = c.server.Serve(c.listener) }) // ends when Close closes it
	c.running.Go(func() { _ = c.apiServer.Serve(c.apiListener) })
	c.balance()
	return nil
}

// sources starts what invokes functions by itself: streams and schedules.
func (c *Cloud) sources(context.Context) error {
	ctx, cancel := context.WithCancel(context.Background())
	c.later(func() error { cancel(); return nil })
	for _, f := range c.cfg.Functions {
		if f.Stream != nil {
			s := pump.Stream{Table: f.Stream.Name, Common: pump.Common{Function: f.Name, Invoker: c.lambda,
				Service: c.services, Region: Region, Poll: c.cfg.StreamPoll, Log: c.cfg.Log,
				Duplicate: func() bool { return c.cfg.Duplicate("stream") }}}
			if c.cfg.Dir != "" {
				s.Positions = filepath.Join(c.cfg.Dir, "streams", f.Name+".json")
			}
			c.running.Go(func() { s.Run(ctx) })
		}
		every := f.Every
		if d, ok := c.cfg.Schedules[f.Name]; ok {
			every = d
		}
		if every > 0 {
			c.running.Go(func() { c.schedule(ctx, f, every) })
		}
	}
	if !c.has(names.FnNightly) || c.cfg.Schedules[names.FnNightly] < 0 { // the first: a cloud with functions of its own
		return nil
	}
	return c.timetable(ctx)
}

func (c *Cloud) has(function string) bool {
	return slices.ContainsFunc(c.cfg.Functions, func(f names.Function) bool { return f.Name == function })
}

// Wait returns nil when ctx ends, or an error when the database has died:
// nothing can go on without it.
func (c *Cloud) Wait(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return nil
	case <-c.db.Done():
		return errors.New("the database process has ended; see " + filepath.Join(c.Logs, "dynoxide.log"))
	}
}

// Close stops everything, from the top to the bottom. Workers get SIGTERM and a
// few seconds. State in Dir stays.
func (c *Cloud) Close() error {
	c.once.Do(func() {
		var errs []error
		for i := len(c.undo) - 1; i >= 0; i-- {
			errs = append(errs, c.undo[i]())
		}
		c.running.Wait()
		c.closed = errors.Join(errs...)
	})
	return c.closed
}

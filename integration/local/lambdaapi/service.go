package lambdaapi

import (
	"context"
	"crypto/rand"
	"fmt"
	"net"
	"net/http"
	"runtime"
	"sync"
	"time"

	"fastbowlinglab/shared/names"
)

// Limits of AWS on what goes in and out of a function, in bytes.
const (
	MaxRequest      = 6 << 20       // synchronous payload
	MaxEventRequest = 1 << 20       // asynchronous payload
	MaxResponse     = 6<<20 + 100   // AWS allows 6 MB and a little
	maxEvents       = 1000          // Event invocations waiting or running
	maxEventAge     = 6 * time.Hour // after which a throttled event is dropped
)

// Config says what to run and where.
type Config struct {
	// Functions that exist. Default: names.Functions().
	Functions []names.Function
	// Binary gives the path of a function's program. It must be set.
	Binary func(function string) string
	// Env gives the environment ("KEY=value") of a function beside the AWS_*
	// variables that Lambda itself sets. May be nil.
	Env func(names.Function) []string
	// Versions is the folder of published versions. Empty: every function has
	// one version, "1", run from where Binary says.
	Versions string
	// Logs is a folder for one log file a function. Empty: output is dropped.
	Logs string
	// Concurrency is how many processes a function (and version) may have.
	// Default 32.
	Concurrency int
	// Idle is after how long without work a process is stopped. Default 10 min.
	Idle time.Duration
	// Init is how long a process may take to ask for its first work before that
	// time counts against the function's timeout. Default 10 s, as in AWS.
	Init time.Duration
	// EventRetries are the waits before an Event invocation that failed is tried
	// again. Default 1 and 2 minutes, as in AWS.
	EventRetries []time.Duration
}

func (c Config) withDefaults() Config {
	if c.Functions == nil {
		c.Functions = names.Functions()
	}
	if c.Concurrency <= 0 {
		c.Concurrency = 32
	}
	if c.Idle <= 0 {
		c.Idle = 10 * time.Minute
	}
	if c.Init <= 0 {
		c.Init = 10 * time.Second
	}
	if c.EventRetries == nil {
		c.EventRetries = []time.Duration{time.Minute, 2 * time.Minute}
	}
	return c
}

// Service is the Lambda service. Its methods may be called from any goroutine.
type Service struct {
	cfg       Config
	functions map[string]names.Function
	published versions
	logs      *logs
	record    record
	ctx       context.Context // ends when the service closes
	cancel    context.CancelFunc
	events    chan struct{} // one slot for each Event invocation under way
	running   sync.WaitGroup

	once    sync.Once // opens the Runtime API with the first process
	openErr error
	addr    string
	server  *http.Server
	spawn   chan func()

	mu        sync.Mutex
	closed    bool
	pools     map[string]*pool     // by name:version
	instances map[string]*instance // by instance id
	versions  map[string]string    // function -> version published by this service
}

// New makes a Service. Nothing runs until the first invocation.
func New(cfg Config) *Service {
	cfg = cfg.withDefaults()
	ctx, cancel := context.WithCancel(context.Background())
	s := &Service{
		cfg: cfg, functions: map[string]names.Function{}, published: versions{cfg.Versions, keepVersions},
		logs: newLogs(cfg.Logs), ctx: ctx, cancel: cancel, events: make(chan struct{}, maxEvents),
		pools: map[string]*pool{}, instances: map[string]*instance{}, versions: map[string]string{},
	}
	for _, f := range cfg.Functions {
		s.functions[f.Name] = f
	}
	return s
}

// keepVersions is how many versions of a function stay published.
const keepVersions = 5

// Publish makes the function's present program a version and gives the ARN of
// that version. The program is looked at once in the life of a Service, and again
// after Deploy.
func (s *Service) Publish(name string) (string, error) {
	if _, ok := s.functions[name]; !ok {
		return "", notFound(ARN(name, ""))
	}
	if s.cfg.Versions == "" {
		return ARN(name, "1"), nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	v := s.versions[name]
	if v == "" {
		var err error
		if v, err = s.published.publish(name, s.cfg.Binary(name)); err != nil {
			return "", err
		}
		s.versions[name] = v
	}
	return ARN(name, v), nil
}

// pool finds the processes of a function's version.
func (s *Service) pool(ref, qualifier string) (*pool, error) {
	name, version, err := parse(ref, qualifier)
	if err != nil {
		return nil, err
	}
	f, ok := s.functions[name]
	if !ok {
		return nil, notFound(ARN(name, version))
	}
	program := s.binary(name)
	switch {
	case version == Latest:
	case s.cfg.Versions == "" && version == "1":
	default:
		if program, ok = s.published.program(name, version); !ok || s.cfg.Versions == "" {
			return nil, notFound(ARN(name, version))
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, serviceError("the service is closed")
	}
	key := name + ":" + version
	p := s.pools[key]
	if p == nil {
		p = &pool{service: s, function: f, version: version, program: program}
		s.pools[key] = p
	}
	return p, nil
}

// open starts the Runtime API and the thread that starts processes.
func (s *Service) open() error {
	s.once.Do(func() {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			s.openErr = fmt.Errorf("listen for the Lambda Runtime API: %w", err)
			return
		}
		s.addr = l.Addr().String()
		s.server = &http.Server{Handler: http.HandlerFunc(s.serveRuntime), ReadHeaderTimeout: 10 * time.Second}
		go func() { _ = s.server.Serve(l) }() // returns when Close closes it
		s.spawn = make(chan func())
		go s.spawner()
	})
	return s.openErr
}

// spawner starts every process from one thread that lives as long as the
// service: the kernel kills a process with Pdeathsig when the thread that
// started it ends, not when the program does.
func (s *Service) spawner() {
	runtime.LockOSThread()
	for {
		select {
		case f := <-s.spawn:
			f()
		case <-s.ctx.Done():
			<-s.drained()
			return
		}
	}
}

// drained is closed when no process is left.
func (s *Service) drained() <-chan struct{} {
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			in := s.anyInstance()
			if in == nil {
				return
			}
			in.kill()
			<-in.dead
		}
	}()
	return done
}

func (s *Service) anyInstance() *instance {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, in := range s.instances {
		return in
	}
	return nil
}

// Close refuses new work, kills every process and waits until they are gone.
func (s *Service) Close() error {
	s.mu.Lock()
	already := s.closed
	s.closed = true
	s.mu.Unlock()
	if already {
		return nil
	}
	s.cancel()
	<-s.drained()
	s.running.Wait()
	s.once.Do(func() {}) // from here on nothing opens
	var err error
	if s.server != nil {
		err = s.server.Close()
	}
	if e := s.logs.close(); err == nil {
		err = e
	}
	return err
}

// newID makes an id in the form of AWS's request ids.
func newID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

package virtual

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"math/rand/v2"
	"net/http"
	"sort"
	"strconv"
	"strings"
	"sync"
	"testing/synctest"
	"time"
)

// ErrConnection is what a client sees of a request that was not carried out,
// or whose answer was lost: it cannot tell which.
var ErrConnection = errors.New("connection reset by peer")

// Fault is what happens to one request on its way.
type Fault string

// The faults of a request. Late and Twice are about order: a late request is
// held for a while, a doubled one is carried out twice and its second answer
// is the one that arrives.
const (
	OK        Fault = ""
	NotDone   Fault = "not_done"
	Lost      Fault = "done_answer_lost"
	Twice     Fault = "twice"
	Late      Fault = "late"
	Throttled Fault = "throttled"
	Conflict  Fault = "conflict"
)

// Call is a request as the fault chooser sees it.
type Call struct {
	Actor   string
	Service string // dynamodb, s3, sqs, ses, ssm, ecs, states
	Op      string // operation, for example PutItem; method and path for REST services
	Body    []byte
}

// call is a request parked in the gate.
type call struct {
	Call
	key    string
	req    *http.Request
	waited bool // it waited for a message already
	held   bool // it had its fault, or waits for something: no further fault
	done   chan answer
}

type answer struct {
	resp *http.Response
	err  error
}

type actorKey struct{}

// As names the actor on whose behalf ctx's requests are made.
func As(ctx context.Context, actor string) context.Context {
	return context.WithValue(ctx, actorKey{}, actor)
}

// Gate is the HTTP client through which every AWS request passes.
type Gate struct {
	services map[string]http.Handler
	faults   func(*rand.Rand, Call) Fault
	after    func(Call)             // told of every request that was carried out
	arrival  func() <-chan struct{} // closed when a message arrives in a queue

	mu      sync.Mutex
	parked  []*call
	wake    chan struct{}
	stopped chan struct{}
	rnd     *rand.Rand
	log     hash.Hash
	lines   []string // kept when keep is set
	keep    bool

	Requests int
	Faulted  map[Fault]int
}

func newGate(seed uint64, services map[string]http.Handler, faults func(*rand.Rand, Call) Fault) *Gate {
	return &Gate{
		services: services, faults: faults, wake: make(chan struct{}, 1), stopped: make(chan struct{}),
		rnd: rand.New(rand.NewPCG(seed, 0x6b72)), log: sha256.New(), Faulted: map[Fault]int{},
	}
}

// Do implements the SDK's HTTP client: it parks the request and waits for its turn.
func (g *Gate) Do(req *http.Request) (*http.Response, error) {
	c, err := describe(req)
	if err != nil {
		return nil, err
	}
	g.park(c)
	select {
	case a := <-c.done:
		return a.resp, a.err
	case <-req.Context().Done():
		return nil, req.Context().Err()
	}
}

func (g *Gate) park(c *call) {
	g.mu.Lock()
	g.parked = append(g.parked, c)
	g.mu.Unlock()
	select {
	case g.wake <- struct{}{}:
	default:
	}
}

// describe reads the request and gives it the key by which parked requests are ordered.
func describe(req *http.Request) (*call, error) {
	var body []byte
	if req.Body != nil {
		b, err := io.ReadAll(req.Body)
		if err != nil {
			return nil, fmt.Errorf("read the request's body: %w", err)
		}
		body = b
	}
	actor, _ := req.Context().Value(actorKey{}).(string)
	svc := serviceOf(req)
	op := req.Method + " " + req.URL.Path
	if t := req.Header.Get("X-Amz-Target"); t != "" {
		op = t[strings.LastIndexByte(t, '.')+1:]
	}
	c := &call{Call: Call{Actor: actor, Service: svc, Op: op, Body: body}, req: req, done: make(chan answer, 1)}
	c.key = strings.Join([]string{actor, svc, op, canonical(body)}, " ")
	return c, nil
}

// canonical is a JSON body without what the SDK makes up by itself.
func canonical(body []byte) string {
	var m map[string]any
	if json.Unmarshal(body, &m) != nil {
		return string(body)
	}
	delete(m, "ClientRequestToken")
	out, err := json.Marshal(m) // map keys come out sorted
	if err != nil {
		return string(body)
	}
	return string(out)
}

// serviceOf tells the service by the scope of the request's signature.
func serviceOf(req *http.Request) string {
	if _, scope, ok := strings.Cut(req.Header.Get("Authorization"), "Credential="); ok {
		if p := strings.Split(scope, "/"); len(p) > 4 {
			return p[3]
		}
	}
	return "s3"
}

// wait reads a service's wish that an empty answer be held back (long polling).
func (g *Gate) wait(resp *http.Response) (time.Duration, <-chan struct{}) {
	s, err := strconv.Atoi(resp.Header.Get(holdHeader))
	if err != nil || s <= 0 {
		return 0, nil
	}
	return time.Duration(s) * time.Second, g.arrival()
}

// run lets requests through, one at a time, until stop is closed.
func (g *Gate) run(stop <-chan struct{}) {
	defer close(g.stopped)
	for {
		select {
		case <-stop:
			return
		case <-g.wake:
		}
		for g.step() {
		}
	}
}

// step waits until all else is still and answers one parked request.
func (g *Gate) step() bool {
	synctest.Wait()
	g.mu.Lock()
	live := g.parked[:0]
	for _, c := range g.parked {
		if c.req.Context().Err() == nil {
			live = append(live, c)
		}
	}
	g.parked = live
	if len(live) == 0 {
		g.mu.Unlock()
		return false
	}
	sort.SliceStable(live, func(i, j int) bool { return live[i].key < live[j].key })
	i := g.rnd.IntN(len(live))
	c := live[i]
	g.parked = append(live[:i:i], live[i+1:]...)
	f := OK
	if g.faults != nil && !c.held {
		f = g.faults(g.rnd, c.Call)
	}
	g.mu.Unlock()
	g.answer(c, f)
	return true
}

// answer carries out a request under a fault.
func (g *Gate) answer(c *call, f Fault) {
	g.Requests++
	g.Faulted[f]++
	switch f {
	case NotDone:
		g.note(c, f, 0)
		c.done <- answer{err: ErrConnection}
		return
	case Throttled, Conflict:
		resp := refusal(c.req, f)
		g.note(c, f, resp.StatusCode)
		c.done <- answer{resp: resp}
		return
	case Late:
		g.note(c, f, 0)
		g.hold(c, lateBy, nil)
		return
	}
	g.carryOut(c, f)
}

// lateBy is how long a late request is held.
const lateBy = 7 * time.Second

// hold takes the request out of the gate and parks it again, without a further
// fault, after d or when early is closed.
func (g *Gate) hold(c *call, d time.Duration, early <-chan struct{}) {
	c.held = true
	go func() {
		t := time.NewTimer(d)
		defer t.Stop()
		select {
		case <-t.C:
		case <-early:
		case <-c.req.Context().Done():
			return
		case <-g.stopped:
			return
		}
		g.park(c)
	}()
}

func (g *Gate) carryOut(c *call, f Fault) {
	resp := g.send(c)
	if w, early := g.wait(resp); w > 0 && !c.waited {
		c.waited = true
		g.hold(c, w, early)
		return
	}
	if f == Twice {
		resp = g.send(c)
	}
	g.note(c, f, resp.StatusCode)
	if g.after != nil && resp.StatusCode < 300 {
		g.after(c.Call)
	}
	if f == Lost {
		c.done <- answer{err: ErrConnection}
		return
	}
	c.done <- answer{resp: resp}
}

func (g *Gate) send(c *call) *http.Response {
	h := g.services[c.Service]
	if h == nil {
		return plain(c.req, http.StatusNotImplemented, `{"__type":"UnknownService","message":"virtual: no service `+c.Service+`"}`)
	}
	r := c.req.Clone(context.Background())
	r.Body = io.NopCloser(bytes.NewReader(c.Body))
	r.ContentLength = int64(len(c.Body))
	rec := &recorder{header: http.Header{}}
	h.ServeHTTP(rec, r)
	return rec.response(c.req)
}

// note adds a line to the log whose hash two runs of one seed share.
func (g *Gate) note(c *call, f Fault, status int) {
	line := fmt.Sprintf("%d %s %s %d", time.Now().UnixMilli(), c.key, f, status)
	g.mu.Lock()
	defer g.mu.Unlock()
	fmt.Fprintln(g.log, line)
	if g.keep {
		g.lines = append(g.lines, line)
	}
}

// Hash is the hash of everything that went through, in order.
func (g *Gate) Hash() string { return hex.EncodeToString(g.log.Sum(nil))[:12] }

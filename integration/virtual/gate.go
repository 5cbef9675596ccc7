package virtual

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
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

// The faults of a request.
const (
	OK          Fault = ""
	NotDone     Fault = "not_done"         // cut before it arrived
	Lost        Fault = "done_answer_lost" // carried out; the client sees a cut connection
	Twice       Fault = "twice"            // carried out twice; the second answer arrives
	Late        Fault = "late"             // held, then carried out
	Straggler   Fault = "straggler"        // the client sees a cut connection; carried out later all the same
	Throttled   Fault = "throttled"        // refused by the service
	Conflict    Fault = "conflict"         // refused: a transaction in conflict
	CrashBefore Fault = "crash_before"     // its process is killed before the request arrives
	CrashAfter  Fault = "crash_after"      // its process is killed before it sees the answer
	Paused      Fault = "paused"           // carried out; its process is stopped before it sees the answer
)

// Decision is a fault, and for how long where it takes time.
type Decision struct {
	Fault Fault
	For   time.Duration
}

// Gate is the HTTP client through which every AWS request passes.
type Gate struct {
	services map[string]http.Handler
	faults   func(Call) Decision
	rewrite  func(Call) [][]byte       // guards switched off: what is carried out in a request's stead
	reply    func(Call, []byte) []byte // and what is answered
	after    func(Call)                // told of every request that was carried out with success
	arrival  func() <-chan struct{}    // closed when a message arrives in a queue
	seen     map[string]int            // requests by ID without its number
	Requests int
	Faulted  map[Fault]int

	mu      sync.Mutex
	calm    bool
	over    bool // the world has ended: nothing is noted any more
	parked  []*call
	wake    chan struct{}
	stopped chan struct{}
	rnd     *rand.Rand
	log     hash.Hash
	lines   []string // kept when keep is set
	keep    bool
}

func newGate(seed uint64, services map[string]http.Handler) *Gate {
	return &Gate{
		services: services, wake: make(chan struct{}, 1), stopped: make(chan struct{}), seen: map[string]int{},
		rnd: rand.New(rand.NewPCG(seed, 0x6b72)), log: sha256.New(), Faulted: map[Fault]int{},
	}
}

// Do implements the SDK's HTTP client: it parks the request and waits for its turn.
func (g *Gate) Do(req *http.Request) (*http.Response, error) { return g.do(req, ProcOf(req.Context())) }

func (g *Gate) do(req *http.Request, p *Proc) (*http.Response, error) {
	if p != nil && p.Dead() {
		return nil, ErrDead
	}
	c, err := describe(req, p)
	if err != nil {
		return nil, err
	}
	return g.await(c)
}

// await parks c and waits for its answer.
func (g *Gate) await(c *call) (*http.Response, error) {
	var killed <-chan struct{}
	if c.proc != nil {
		if c.proc.Dead() {
			return nil, ErrDead
		}
		killed = c.proc.Killed()
	}
	g.park(c)
	select {
	case a := <-c.done:
		return a.resp, a.err
	case <-killed:
		return nil, ErrDead
	case <-c.ctx.Done():
		return nil, c.ctx.Err()
	}
}

func (g *Gate) park(c *call) {
	g.mu.Lock()
	g.parked = append(g.parked, c)
	g.mu.Unlock()
	g.nudge()
}

func (g *Gate) nudge() {
	select {
	case g.wake <- struct{}{}:
	default:
	}
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
	c, d := g.take()
	if c == nil {
		return false
	}
	g.answer(c, d)
	return true
}

// take chooses a parked request, and its fault.
func (g *Gate) take() (*call, Decision) {
	g.mu.Lock()
	defer g.mu.Unlock()
	live := make([]*call, 0, len(g.parked))
	ready := make([]*call, 0, len(g.parked))
	for _, c := range g.parked {
		if c.gone() {
			continue
		}
		live = append(live, c)
		if !c.paused() {
			ready = append(ready, c)
		}
	}
	g.parked = live
	if len(ready) == 0 {
		return nil, Decision{}
	}
	if hasty := slices.DeleteFunc(slices.Clone(ready), func(c *call) bool { return c.last }); len(hasty) > 0 {
		ready = hasty
	}
	slices.SortStableFunc(ready, func(a, b *call) int { return strings.Compare(a.key, b.key) })
	c := ready[g.rnd.IntN(len(ready))]
	for i, x := range live {
		if x == c {
			g.parked = append(live[:i:i], live[i+1:]...)
		}
	}
	if c.held || c.orphan || c.turn != nil {
		return c, Decision{}
	}
	id := c.Actor + " " + c.Service + " " + c.Op + " " + c.Table()
	g.seen[id]++
	c.ID = id + " " + strconv.Itoa(g.seen[id])
	if g.faults == nil || g.calm {
		return c, Decision{}
	}
	return c, g.faults(c.Call)
}

// answer carries out a request under a fault.
func (g *Gate) answer(c *call, d Decision) {
	if c.turn != nil {
		g.note(c, OK, 0)
		c.turn()
		c.done <- answer{}
		return
	}
	g.Requests++
	g.Faulted[d.Fault]++
	switch d.Fault {
	case NotDone:
		g.note(c, d.Fault, 0)
		c.done <- answer{err: ErrConnection}
	case CrashBefore:
		g.note(c, d.Fault, 0)
		c.proc.Kill()
	case Throttled, Conflict:
		resp := refusal(c.req, d.Fault)
		g.note(c, d.Fault, resp.StatusCode)
		c.done <- answer{resp: resp}
	case Late:
		g.note(c, d.Fault, 0)
		g.hold(c, d.For, nil)
	case Straggler:
		g.note(c, d.Fault, 0)
		o := *c
		o.orphan, o.done = true, make(chan answer, 1)
		g.hold(&o, d.For, nil)
		c.done <- answer{err: ErrConnection}
	default:
		g.carryOut(c, d)
	}
}

// hold takes the request out of the gate and parks it again, without a further
// fault, after d or when early is closed.
func (g *Gate) hold(c *call, d time.Duration, early <-chan struct{}) {
	c.held = true
	given := c.ctx.Done()
	if c.orphan {
		given = nil
	}
	go func() {
		t := time.NewTimer(d)
		defer t.Stop()
		select {
		case <-t.C:
		case <-early:
		case <-given:
			return
		case <-g.stopped:
			return
		}
		g.park(c)
	}()
}

// pause stops a process for d and gives it its answer then, in a turn of its own.
func (g *Gate) pause(c *call, d time.Duration, a answer) {
	c.proc.pause(time.Now().Add(d))
	resume := &call{Call: c.Call, key: c.key, ctx: context.Background(), orphan: true,
		turn: func() { c.done <- a }, done: make(chan answer, 1)}
	g.hold(resume, d, nil)
}

func (g *Gate) carryOut(c *call, d Decision) {
	if c.serve != nil {
		g.forward(c, d)
		return
	}
	resp := g.send(c)
	if w, early := g.wait(resp); w > 0 && !c.waited && !c.orphan {
		c.waited = true
		g.hold(c, w, early)
		return
	}
	if d.Fault == Twice {
		resp = g.send(c)
	}
	g.note(c, d.Fault, resp.StatusCode)
	switch d.Fault {
	case Lost:
		c.done <- answer{err: ErrConnection}
	case CrashAfter:
		c.proc.Kill()
	case Paused:
		g.pause(c, d.For, answer{resp: resp})
	default:
		c.done <- answer{resp: resp}
	}
}

// wait reads a service's wish that an empty answer be held back (long polling).
func (g *Gate) wait(resp *http.Response) (time.Duration, <-chan struct{}) {
	s, err := strconv.Atoi(resp.Header.Get(holdHeader))
	if err != nil || s <= 0 {
		return 0, nil
	}
	return time.Duration(s) * time.Second, g.arrival()
}

// send carries the request out: itself, or what stands in its stead while a
// guard is switched off.
func (g *Gate) send(c *call) *http.Response {
	bodies := [][]byte{c.Body}
	if g.rewrite != nil {
		if other := g.rewrite(c.Call); other != nil {
			bodies = other
		}
	}
	var resp *http.Response
	for _, b := range bodies {
		resp = g.sendBody(c, b)
		if resp.StatusCode >= 300 {
			break
		}
		if g.after != nil {
			done := c.Call
			done.Body, done.Original = b, c.Body
			g.after(done)
		}
	}
	return resp
}

func (g *Gate) sendBody(c *call, body []byte) *http.Response {
	h := g.services[c.Service]
	if h == nil {
		return plain(c.req, http.StatusNotImplemented, `{"__type":"UnknownService","message":"virtual: no service `+c.Service+`"}`)
	}
	r := c.req.Clone(context.Background())
	r.Body = io.NopCloser(bytes.NewReader(body))
	r.ContentLength = int64(len(body))
	rec := &recorder{header: http.Header{}}
	h.ServeHTTP(rec, r)
	if g.reply != nil {
		if other := g.reply(c.Call, rec.body.Bytes()); other != nil {
			rec.body.Reset()
			rec.body.Write(other)
			rec.header.Del("X-Amz-Crc32") // both are of the answer that is not given
			rec.header.Del("Content-Length")
		}
	}
	return rec.response(c.req)
}

// note adds a line to the log whose hash two runs of one seed share.
func (g *Gate) note(c *call, f Fault, status int) {
	if g.over {
		return
	}
	line := strconv.FormatInt(time.Now().UnixMilli(), 10) + " " + c.key + " " + string(f) + " " + strconv.Itoa(status) + "\n"
	_, _ = io.WriteString(g.log, line) // a hash cannot fail
	if g.keep {
		g.lines = append(g.lines, strings.TrimSuffix(line, "\n"))
	}
}

// Hash is the hash of everything that went through, in order.
func (g *Gate) Hash() string { return hex.EncodeToString(g.log.Sum(nil))[:16] }

// Lines is the log, if Options.Keep asked for it.
func (g *Gate) Lines() []string { return g.lines }

package virtual

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
)

// Call is a request as the chooser of faults and the observers see it.
type Call struct {
	Actor   string
	Service string // dynamodb, s3, sqs, ses, sns, ssm, ecs, states, model; ServiceWorker, ServiceGateway
	Op      string // operation, for example PutItem; method and path for REST services
	Body    []byte
	// ID names the request across runs: actor, operation, table, and the how
	// manieth of these it is. It holds neither a time nor anything random.
	ID string
	// Original is the body as its client sent it, where a guard is switched off and
	// another was carried out.
	Original []byte
}

// Table is the first table that a DynamoDB request names, without its prefix.
func (c Call) Table() string {
	if m := tableName.FindSubmatch(c.Body); m != nil {
		return string(m[1])
	}
	return ""
}

var tableName = regexp.MustCompile(`"TableName":"fbl-([a-z-]+)"`)

// call is a request parked in the gate.
type call struct {
	Call
	key    string
	req    *http.Request
	ctx    context.Context // of whoever waits for the answer
	proc   *Proc
	turn   func()                  // no request: what is done alone when everything else is still
	serve  func(out chan<- answer) // a request to a process of this world, which answers on out in its own time
	last   bool                    // chosen only when nothing else is ready
	waited bool                    // it waited for a message already
	held   bool                    // it had its fault, or waits for something: no further fault
	orphan bool                    // nobody waits for its answer any more; it is still on its way
	done   chan answer
}

type answer struct {
	resp *http.Response
	err  error
}

// gone reports whether nobody would see the request's effect: its client gave up
// or died before it was sent.
func (c *call) gone() bool {
	return !c.orphan && (c.ctx.Err() != nil || c.proc != nil && c.proc.Dead())
}

func (c *call) paused() bool { return !c.orphan && c.proc != nil && c.proc.isPaused() }

// describe reads the request and gives it the key by which parked requests are ordered.
func describe(req *http.Request, p *Proc) (*call, error) {
	var body []byte
	if req.Body != nil {
		b, err := io.ReadAll(req.Body)
		if err != nil {
			return nil, fmt.Errorf("read the request's body: %w", err)
		}
		body = b
	}
	actor := ""
	if p != nil {
		actor = p.Name
	}
	svc := serviceOf(req)
	op := req.Method + " " + req.URL.Path
	if t := req.Header.Get("X-Amz-Target"); t != "" {
		op = t[strings.LastIndexByte(t, '.')+1:]
	} else if svc == "sns" {
		op, _, _ = strings.Cut(strings.TrimPrefix(string(body), "Action="), "&")
	}
	c := &call{Call: Call{Actor: actor, Service: svc, Op: op, Body: body}, req: req, ctx: req.Context(), proc: p, done: make(chan answer, 1)}
	c.key = strings.Join([]string{actor, svc, op, canonical(body)}, " ")
	return c, nil
}

// mask takes out of a text what is random in a request: names of owners
// (crypto/rand.Text, 26 characters; or 10 of them behind a host and a process id,
// as host/12/ABCDEFGHIJ). They are compared for equality alone, so two runs that
// differ in nothing else are the same run.
func mask(text string) string {
	const whole, suffix = 26, 10
	var out []byte
	done := 0 // text up to here is in out
	for i := 0; i < len(text); {
		n := 0
		for i+n < len(text) && n < whole && base32[text[i+n]] {
			n++
		}
		from := i
		if n >= suffix && n < whole {
			if from = claimant(text, done, i); from == i {
				n = 0 // a word
			} else {
				n = suffix
			}
		}
		if n < suffix {
			i++
			for i < len(text) && base32[text[i]] && base32[text[i-1]] { // no run begins in a run
				i++
			}
			continue
		}
		out = append(append(out, text[done:from]...), '*')
		i += n
		done = i
	}
	if done == 0 {
		return text
	}
	return string(append(out, text[done:]...))
}

// base32 is the alphabet of crypto/rand.Text.
var base32 = func() (set [256]bool) {
	for _, c := range []byte("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567") {
		set[c] = true
	}
	return set
}()

// claimant gives where "host/12/" before i begins, not before least; i if there is
// none.
func claimant(text string, least, i int) int {
	k := i - 1
	if k <= least || text[k] != '/' {
		return i
	}
	for k--; k > least && text[k] >= '0' && text[k] <= '9'; k-- {
	}
	if text[k] != '/' || k == i-2 {
		return i
	}
	for k > least && text[k-1] != '"' && text[k-1] != '/' {
		k--
	}
	return k
}

// canonical is a body without what is random in it: JSON with its keys sorted and
// without client tokens. A long one is cut and hashed.
func canonical(body []byte) string {
	text := string(body)
	var m map[string]any
	if json.Unmarshal(body, &m) == nil {
		delete(m, "ClientRequestToken")
		if out, err := json.Marshal(m); err == nil { // map keys come out sorted
			text = string(out)
		}
	}
	text = mask(text)
	const long = 400
	if len(text) > long {
		h := sha256.Sum256([]byte(text))
		text = text[:long] + "…" + hex.EncodeToString(h[:8])
	}
	return text
}

// serviceOf tells the service by the scope of the request's signature; the model
// service is not AWS's and is told by its host.
func serviceOf(req *http.Request) string {
	if req.URL.Host == modelHost {
		return modelHost
	}
	if _, scope, ok := strings.Cut(req.Header.Get("Authorization"), "Credential="); ok {
		if p := strings.Split(scope, "/"); len(p) > 4 {
			return p[3]
		}
	}
	return "s3"
}

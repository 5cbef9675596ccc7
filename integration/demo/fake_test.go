package demo

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"context"

	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/credit"
	"fastbowlinglab/shared/usage"
)

// backend is an API and a store with the rules that the demo leans on: a key
// stands for one body and one analysis, a credit is taken once.
type backend struct {
	*httptest.Server
	t *testing.T

	mu       sync.Mutex
	faults   map[string][]fault // by "METHOD path-pattern", taken in order
	balance  int
	entries  []credit.Entry
	bodies   map[string]string // by key
	rows     map[string]*row
	uploaded map[string][]byte // by analysis
	calls    []string
	end      analysis.Status
	reason   string
	looks    int    // how many looks until the end
	third    func() // called at the third look of an analysis; nil: nothing
}

type row struct {
	status analysis.Status
	looks  int
}

// fault is what happens to one request.
type fault string

const (
	dropBefore fault = "drop before" // the connection ends; nothing is done
	dropAfter  fault = "drop after"  // done, and the answer is lost
	status500  fault = "500"
	status429  fault = "429"
	denied     fault = "403"
)

func newBackend(t *testing.T) *backend {
	t.Helper()
	b := &backend{t: t, faults: map[string][]fault{}, bodies: map[string]string{}, rows: map[string]*row{},
		uploaded: map[string][]byte{}, end: analysis.Ready, looks: 2}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/analyses", b.create)
	mux.HandleFunc("POST /v1/analyses/{id}/uploads", b.renew)
	mux.HandleFunc("POST /v1/analyses/{id}/confirm", b.confirm)
	mux.HandleFunc("GET /v1/analyses/{id}", b.look)
	mux.HandleFunc("GET /v1/analyses/{id}/report", b.report)
	mux.HandleFunc("GET /v1/credits", b.credits)
	mux.HandleFunc("POST /v1/operator/grants", b.grant)
	mux.HandleFunc("GET /v1/usage", b.usage)
	mux.HandleFunc("POST /bucket", b.store)
	mux.HandleFunc("GET /bucket/{id}/{file}", b.fetch)
	b.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, pattern := mux.Handler(r)
		b.mu.Lock()
		defer b.mu.Unlock()
		b.calls = append(b.calls, pattern)
		f := b.take(pattern)
		switch f {
		case dropBefore:
			panic(http.ErrAbortHandler)
		case dropAfter:
			mux.ServeHTTP(httptest.NewRecorder(), r)
			panic(http.ErrAbortHandler)
		case status500:
			http.Error(w, `{"message":"Internal Server Error"}`, 500)
		case status429:
			http.Error(w, `{"message":"Too Many Requests"}`, http.StatusTooManyRequests)
		case denied:
			http.Error(w, `{"status":403,"title":"Operators only."}`, http.StatusForbidden)
		default:
			mux.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(b.Close)
	return b
}

func (b *backend) take(pattern string) fault {
	fs := b.faults[pattern]
	if len(fs) == 0 {
		return ""
	}
	b.faults[pattern] = fs[1:]
	return fs[0]
}

func (b *backend) count(pattern string) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := 0
	for _, c := range b.calls {
		if c == pattern {
			n++
		}
	}
	return n
}

func problem(w http.ResponseWriter, status int, title string) {
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(status)
	fmt.Fprintf(w, `{"type":"urn:x","status":%d,"title":%q,"code":"c"}`, status, title)
}

func reply(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}

func who(r *http.Request) string { return strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ") }

func (b *backend) create(w http.ResponseWriter, r *http.Request) {
	key, body := r.Header.Get("Idempotency-Key"), readAll(r.Body)
	id := analysis.ID(who(r), key)
	if was, ok := b.bodies[key]; ok && was != body {
		problem(w, 422, "The key was used for another request.")
		return
	}
	if b.rows[id] == nil {
		if b.balance == 0 {
			problem(w, 402, "There is no credit left.")
			return
		}
		b.balance--
		b.entries = append(b.entries, credit.Entry{Entry: "reserve#" + id, Kind: credit.KindReserve, Credits: -1, AnalysisID: id})
		b.bodies[key], b.rows[id] = body, &row{status: analysis.Reserved}
	}
	reply(w, 201, b.created(id))
}

func (b *backend) created(id string) map[string]any {
	out := map[string]any{"analysis_id": id, "status": b.rows[id].status, "uploads": []any{}}
	if b.rows[id].status == analysis.Reserved {
		out["uploads"] = []any{map[string]any{"clip": 0, "url": b.URL + "/bucket?signature=secret",
			"fields": map[string]string{"key": "clips/" + id + "/0", "policy": "p"}, "expires_at": time.Now()}}
	}
	return out
}

func (b *backend) renew(w http.ResponseWriter, r *http.Request) {
	reply(w, 200, b.created(r.PathValue("id")))
}

func (b *backend) store(w http.ResponseWriter, r *http.Request) {
	if r.ContentLength < 0 {
		problem(w, 411, "MissingContentLength")
		return
	}
	if err := r.ParseMultipartForm(1 << 20); err != nil {
		problem(w, 400, err.Error())
		return
	}
	f, _, err := r.FormFile("file")
	if err != nil || r.FormValue("policy") != "p" {
		problem(w, 403, "the policy is missing")
		return
	}
	id := strings.Split(r.FormValue("key"), "/")[1]
	b.uploaded[id] = []byte(readAll(f))
	w.WriteHeader(204)
}

func (b *backend) confirm(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("id")
	if _, ok := b.uploaded[id]; !ok {
		problem(w, 409, "The clips are not there.")
		return
	}
	if b.rows[id].status == analysis.Reserved {
		b.rows[id].status = analysis.Queued
	}
	reply(w, 202, map[string]any{"analysis_id": id, "status": b.rows[id].status})
}

func (b *backend) look(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("id")
	row := b.rows[id]
	if row.status != analysis.Reserved && !row.status.Ended() {
		row.status = analysis.Analysing
		if row.looks++; row.looks == 3 && b.third != nil {
			b.third()
		}
		if row.looks > b.looks {
			row.status = b.end
			if b.end != analysis.Ready {
				b.balance++
				b.entries = append(b.entries, credit.Entry{Entry: "refund#" + id, Kind: credit.KindRefund, Credits: 1, AnalysisID: id})
			}
		}
	}
	v := map[string]any{"analysis_id": id, "status": row.status, "stage": "clip 1 of 1: pose", "progress": nil, "attempt": 1}
	if row.status.Ended() && row.status != analysis.Ready {
		v["reason"], v["message"] = b.reason, "What went wrong."
	}
	reply(w, 200, v)
}

func (b *backend) report(w http.ResponseWriter, r *http.Request) {
	u := b.URL + "/bucket/" + r.PathValue("id")
	reply(w, 200, map[string]any{"report_pdf": map[string]any{"url": u + "/report.pdf?signature=secret"},
		"report_json": map[string]any{"url": u + "/report.json?signature=secret"}})
}

func (b *backend) fetch(w http.ResponseWriter, r *http.Request) {
	fmt.Fprintf(w, "the %s", r.PathValue("file"))
}

func (b *backend) credits(w http.ResponseWriter, _ *http.Request) {
	reply(w, 200, map[string]any{"balance": b.balance, "entries": b.entries})
}

func (b *backend) grant(w http.ResponseWriter, r *http.Request) {
	if who(r) != "operator" {
		problem(w, 403, "Operators only.")
		return
	}
	entry := "grant#" + r.Header.Get("Idempotency-Key")
	if !slices.ContainsFunc(b.entries, func(e credit.Entry) bool { return e.Entry == entry }) {
		b.balance++
		b.entries = append(b.entries, credit.Entry{Entry: entry, Kind: credit.KindGrant, Credits: 1})
	}
	reply(w, 201, map[string]any{})
}

func (b *backend) usage(w http.ResponseWriter, r *http.Request) {
	cost := "0.000000"
	reply(w, 200, usage.Bill{TotalUSD: cost, Lines: []usage.Line{
		{Task: "precheck", Provider: "rules", Model: "rules", CostUSD: &cost, Tokens: usage.Tokens{Input: usage.Count(0), Output: usage.Count(0)}},
		{Task: "findings", Provider: "rules", Model: "rules", CostUSD: &cost, Tokens: usage.Tokens{Input: usage.Count(0)}},
	}})
}

func readAll(r io.Reader) string {
	b, _ := io.ReadAll(r)
	return string(b)
}

func token(name string) Token { return func(context.Context) (string, error) { return name, nil } }

// config runs the demo against the backend, quickly.
func (b *backend) config(clip string) Config {
	return Config{API: b.URL, Athlete: token, Operator: token("operator"), Clip: clip, Dir: b.t.TempDir(), Poll: time.Millisecond}
}

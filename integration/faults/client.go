package faults

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"fastbowlinglab/integration/virtual"
)

// Routes that the athletes of a schedule ask.
const (
	routeCreate  = "POST /v1/analyses"
	routeConfirm = "POST /v1/analyses/{analysis_id}/confirm"
	routeCancel  = "POST /v1/analyses/{analysis_id}/cancel"
	routeRerun   = "POST /v1/analyses/{analysis_id}/rerun"
	routeShow    = "GET /v1/analyses/{analysis_id}"
	routeCredits = "GET /v1/credits"
	routeMe      = "GET /v1/me"
	routeChoose  = "PUT /v1/me"
	routeErase   = "DELETE /v1/me"
	routeExport  = "GET /v1/me/export"
	routeUploads = "POST /v1/analyses/{analysis_id}/uploads"
	routeReport  = "GET /v1/analyses/{analysis_id}/report"
	routeGrant   = "POST /v1/operator/grants"
	routePayment = "POST /v1/payments/events"
)

// client is an athlete with one analysis.
func (w *world) client(c *virtual.Cloud, key string) {
	ctx := virtual.As(context.Background(), submitter+key)
	d := w.plan.dice
	pause(ctx, d.Between(0, time.Minute, "arrives "+key))
	var twin sync.WaitGroup
	if w.plan.event(doTwoClients, key, 0.2) { // the app was tapped twice
		tctx := virtual.As(context.Background(), twinSubmitter+key)
		twin.Go(func() { w.submit(tctx, c, key) })
	}
	id, ok := w.submit(ctx, c, key)
	twin.Wait()
	if id == "" {
		return
	}
	var things sync.WaitGroup
	defer things.Wait()
	w.reads(c, id, key, &things)
	if !ok {
		return
	}
	if w.plan.event(doSecondOwner, key, 0.45) {
		things.Go(func() {
			ctx := virtual.As(context.Background(), "client-queue/"+key)
			when := d.Between(5*time.Second, 50*time.Second, "second "+key) // beside the first, before a worker is up
			if d.Chance(0.4, "second later "+key) {
				when = d.Between(time.Minute, 5*time.Minute, "second "+key)
			}
			pause(ctx, when)
			_ = c.SendClaimCheck(ctx, id)
		})
	}
	if w.plan.event(doRedrive, key, 0.3) {
		things.Go(func() { w.redrive(c, id, key) })
	}
	if w.plan.event(doRerun, key, 0.12) {
		things.Go(func() { w.rerun(c, id, key) })
	}
	if w.plan.event(doRedo, key, w.redoes) {
		things.Go(func() { w.redo(c, id, key) })
	}
	for k := range d.IntN(5, "things "+key) {
		things.Go(func() { w.thing(c, id, fmt.Sprintf("%s/%d", key, k)) })
	}
}

// Who submits, by the names of their processes.
const (
	submitter     = "client/"
	twinSubmitter = "client-twin/"
)

// created is what the answer to a new analysis says.
type created struct {
	AnalysisID string         `json:"analysis_id"`
	Uploads    []virtual.Form `json:"uploads"`
}

// submit creates, uploads and confirms. An athlete without a credit is told so.
func (w *world) submit(ctx context.Context, c *virtual.Cloud, key string) (id string, ok bool) {
	now := w.reserve(ctx, c, key, virtual.Ask{Route: routeCreate, Key: key, Body: w.submission(key)})
	if id = now.AnalysisID; id == "" || w.plan.event(doNoUpload, key, 0.07) {
		return id, false
	}
	for _, form := range now.Uploads { // none when a twin has confirmed
		if !w.insist(ctx, func() error { return w.upload(ctx, c, form, "clip") }) {
			return id, false
		}
	}
	confirm := virtual.Ask{Route: routeConfirm, Analysis: id}
	if w.plan.event(doNoStart, key, 0.1) { // the function is killed before the start (Plan.request), and nobody asks again
		_, _ = c.API(ctx, confirm)
		return id, true
	}
	_, ok = w.ask(ctx, c, confirm)
	return id, ok
}

// submission is the body of a new analysis.
func (w *world) submission(key string) map[string]any {
	return map[string]any{"athlete": map[string]any{"name": "A. Athlete"}, "email": "athlete@example.com", "time_zone": "Asia/Colombo", "consent": true,
		"push": w.plan.dice.Chance(0.4, "push "+key), "clips": []any{map[string]any{"name": "clip.mp4", "type": "video/mp4", "size_bytes": 4}}}
}

// reserve asks for an analysis under a key of the client's and notes what was
// told: what is told exists, and a key is one analysis however often it is used.
func (w *world) reserve(ctx context.Context, c *virtual.Cloud, key string, a virtual.Ask) (out created) {
	w.mu.Lock()
	if _, known := w.asked[key]; !known {
		w.asked[key] = "" // it may come into being, whatever is answered
	}
	was := w.asked[key]
	w.mu.Unlock()
	before := w.obs.row(was)
	r, ok := w.ask(ctx, c, a)
	if !ok || r.Status != http.StatusCreated || r.Into(&out) != nil {
		return created{}
	}
	w.signed(before, out)
	w.mu.Lock()
	was = w.asked[key]
	w.asked[key], w.wanted[out.AnalysisID] = out.AnalysisID, true
	w.mu.Unlock()
	if was != "" && was != out.AnalysisID {
		w.obs.tell("I3", "%s was answered with %s, and then with %s", key, was, out.AnalysisID)
	}
	return out
}

// ask asks the API until its answer is one that asking again cannot change, as an
// app does, for up to an hour.
func (w *world) ask(ctx context.Context, c *virtual.Cloud, a virtual.Ask) (r virtual.Reply, ok bool) {
	ok = w.insist(ctx, func() (err error) {
		if r, err = c.API(ctx, a); err == nil && again(r) {
			err = fmt.Errorf("answer %d %s", r.Status, r.Code())
		}
		return err
	})
	return r, ok
}

// again reports whether an answer asks for another try. A signature is refused
// when it was long on its way; the next one is of its own time.
func again(r virtual.Reply) bool {
	return r.Status >= http.StatusInternalServerError || r.Code() == "signature_refused"
}

// forgotten reports whether a request is the start of an execution by a function
// that a client asked who will not ask again.
func (p *Plan) forgotten(c virtual.Call) bool {
	if c.Op != "StartExecution" {
		return false
	}
	for _, by := range []string{submitter, twinSubmitter} {
		if rest, ok := strings.CutPrefix(c.Actor, "api/"+by); ok {
			key, _, _ := strings.Cut(rest, "/")
			return p.event(doNoStart, key, 0.1)
		}
	}
	return false
}

// insist calls fn until it succeeds, as an app does, for up to an hour.
func (w *world) insist(ctx context.Context, fn func() error) bool {
	for range 120 {
		if fn() == nil {
			return true
		}
		pause(ctx, 30*time.Second)
	}
	return false
}

// pause lets virtual time pass.
func pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

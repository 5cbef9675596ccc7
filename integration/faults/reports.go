package faults

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"fastbowlinglab/integration/virtual"
	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/names"
)

// signedLink is a link that the API signed.
type signedLink struct {
	URL       string    `json:"url"`
	ExpiresAt time.Time `json:"expires_at"`
}

// shownReport is what the API tells of a report.
type shownReport struct {
	Revision  int
	Revisions []struct {
		Number int
		PDF    signedLink `json:"report_pdf"`
		JSON   signedLink `json:"report_json"`
	}
}

// reports is an athlete who looks for their report now and then, until some time
// after the end, and follows every link.
func (w *world) reports(c *virtual.Cloud, id, key string) {
	ctx := virtual.As(context.Background(), "client-report/"+key)
	d := w.plan.dice
	for n := range 4 {
		pause(ctx, d.Between(0, []time.Duration{time.Minute, 10 * time.Minute, 30 * time.Minute, 4 * time.Hour}[n], fmt.Sprint("report ", key, n)))
		w.report(ctx, c, id)
	}
}

// report asks for the report once, and looks at every file of it.
func (w *world) report(ctx context.Context, c *virtual.Cloud, id string) {
	before := w.obs.row(id)
	r, ok := w.ask(ctx, c, virtual.Ask{Route: routeReport, Analysis: id})
	if !ok {
		return
	}
	after := w.obs.row(id)
	var out shownReport
	if r.Status != http.StatusOK || r.Into(&out) != nil {
		if before.Status == analysis.Ready && !w.gone.Load() {
			w.obs.tell("I9", "%s is ready, and its report is answered with %d %s", id, r.Status, r.Code())
		}
		return
	}
	if after.Status != analysis.Ready {
		w.obs.tell("I9", "a report of %s is shown, which is %s", id, after.Status)
	}
	if n := len(out.Revisions) - 1; out.Revision != n || n < len(before.Revisions) || n > len(after.Revisions) {
		w.obs.tell("I9", "of %s revision %d of %d is shown; it had %d before, and %d after", id, out.Revision, n, len(before.Revisions), len(after.Revisions))
	}
	for _, v := range out.Revisions {
		w.follow(ctx, c, id, fmt.Sprint(v.Number, " pdf"), v.PDF)
		w.follow(ctx, c, id, fmt.Sprint(v.Number, " json"), v.JSON)
	}
	if len(out.Revisions) > 0 && w.plan.dice.Chance(0.3, "late link "+virtual.ProcOf(ctx).Name) {
		w.late(ctx, c, id, out.Revisions[0].PDF)
	}
}

// follow reads a file of a report. As long as its link is good it is there, it is
// the analysis's own, and it is what was read before: a revision stands beside what
// was delivered.
func (w *world) follow(ctx context.Context, c *virtual.Cloud, id, what string, l signedLink) {
	if life := time.Until(l.ExpiresAt); life > names.LinkLifetime+names.ClockSkew {
		w.obs.tell("I9", "a link to report %s of %s is good for %s", what, id, life)
	}
	var status int
	var body []byte
	if !w.insist(ctx, func() (err error) {
		if status, body, err = c.Fetch(ctx, l.URL); err == nil && status >= http.StatusInternalServerError {
			err = fmt.Errorf("store: %d", status)
		}
		return err
	}) {
		return
	}
	if status != http.StatusOK {
		if time.Now().Before(l.ExpiresAt.Add(-names.ClockSkew)) && !w.gone.Load() { // by the clock of the function that signed
			w.obs.tell("I9", "a link to report %s of %s is answered with %d", what, id, status)
		}
		return
	}
	w.saw(id, what, string(body))
}

// saw looks at a file of a report.
func (w *world) saw(id, what, body string) {
	if !strings.Contains(body, id) {
		w.obs.tell("I9", "report %s of %s is not of it: %.80q", what, id, body)
	}
	w.mu.Lock()
	was, known := w.read[id+" "+what]
	w.read[id+" "+what] = body
	w.mu.Unlock()
	if known && was != body {
		w.obs.tell("I1", "report %s of %s was %.80q and is %.80q", what, id, was, body)
	}
}

// late follows a link after its end.
func (w *world) late(ctx context.Context, c *virtual.Cloud, id string, l signedLink) {
	pause(ctx, time.Until(l.ExpiresAt)+2*names.ClockSkew)
	var status int
	if w.insist(ctx, func() (err error) { status, _, err = c.Fetch(ctx, l.URL); return err }) && status == http.StatusOK {
		w.obs.tell("I9", "a link to the report of %s is good after %s", id, l.ExpiresAt)
	}
}

package faults

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"fastbowlinglab/integration/virtual"
	"fastbowlinglab/shared/analysis"
)

// upload sends a file through a form, as an app does; an error is one that another
// try may mend.
func (w *world) upload(ctx context.Context, c *virtual.Cloud, f virtual.Form, body string) error {
	status, err := c.Upload(ctx, f, []byte(body))
	if err == nil && status >= http.StatusInternalServerError {
		err = fmt.Errorf("upload: %d", status)
	}
	return err
}

// signed looks at an answer with forms: nobody gets one for what was no longer
// waiting for its clips when they asked, and each is for a clip of that analysis.
func (w *world) signed(before analysis.Row, got created) {
	if st := before.Status; len(got.Uploads) > 0 && st != "" && st != analysis.Reserved {
		w.obs.tell("I9", "%s was %s, and forms for its clips were signed", got.AnalysisID, st)
	}
	row := w.obs.row(got.AnalysisID)
	for _, f := range got.Uploads {
		key := f.Fields["key"]
		if !slices.ContainsFunc(row.Clips, func(c analysis.Clip) bool { return c.Key == key }) {
			w.obs.tell("I9", "a form for %s lets %s be written", got.AnalysisID, key)
		}
	}
}

// forms is an athlete, or whoever saw their requests, who asks for forms again and
// uploads something else through every one that they have, before the confirm and
// long after it: until the forms end, and then once more.
func (w *world) forms(c *virtual.Cloud, id, key string) {
	ctx := virtual.As(context.Background(), "client-forms/"+key)
	d := w.plan.dice
	var kept []virtual.Form
	for n := range 4 {
		who := fmt.Sprint(key, "/", n)
		pause(ctx, d.Between(0, []time.Duration{20 * time.Second, 3 * time.Minute, 10 * time.Minute, 90 * time.Minute}[n], "forms "+who))
		before := w.obs.row(id)
		var got created
		if r, ok := w.ask(ctx, c, virtual.Ask{Route: routeUploads, Analysis: id}); ok && r.Status == http.StatusOK && r.Into(&got) == nil {
			w.signed(before, got)
			kept = append(kept, got.Uploads...)
		}
		w.replay(ctx, c, id, key, &kept)
		for _, f := range kept {
			var status int
			if w.insist(ctx, func() (err error) { status, err = c.Upload(ctx, f, []byte("other "+who)); return err }) {
				w.uploaded(f, status)
			}
		}
	}
}

// replay is whoever has the key of a submission and sends it again: the same gives
// the same analysis, with forms only while it waits for its clips; anything else
// under that key is refused.
func (w *world) replay(ctx context.Context, c *virtual.Cloud, id, key string, kept *[]virtual.Form) {
	d := w.plan.dice
	switch who := virtual.ProcOf(ctx).Name + fmt.Sprint(len(*kept)); d.IntN(3, "replays "+who) {
	case 0:
		*kept = append(*kept, w.reserve(ctx, c, key, virtual.Ask{Route: routeCreate, Key: key, Body: w.submission(key)}).Uploads...)
	case 1:
		other := w.submission(key)
		other["email"] = "other@example.com"
		if r, ok := w.ask(ctx, c, virtual.Ask{Route: routeCreate, Key: key, Body: other}); ok {
			w.reused(id, r)
		}
	}
}

// reused looks at the answer to something else under a key that was used.
func (w *world) reused(id string, r virtual.Reply) {
	if r.Status/100 == 2 {
		w.obs.tell("I3", "the key of %s was used for another submission, and answered with %d", id, r.Status)
	}
}

// uploaded looks at what the store said to an upload: after its end no form is any
// good.
func (w *world) uploaded(f virtual.Form, status int) {
	if status/100 == 2 && time.Now().After(f.ExpiresAt.Add(time.Second)) {
		w.obs.tell("I9", "a form that ended at %s was good at %s", f.ExpiresAt, time.Now())
	}
}

// source looks at a clip that a pass reads: it is the one that was confirmed, in the
// version that it was pinned to, whatever was uploaded since.
func (w *world) source(id, src string) {
	u, err := url.Parse(src)
	if err != nil {
		w.obs.tell("I9", "clip of %s: %v", id, err)
		return
	}
	_, key, _ := strings.Cut(strings.TrimPrefix(u.Path, "/"), "/") // behind the bucket's name
	version := u.Query().Get("versionId")
	pinned := slices.ContainsFunc(w.obs.row(id).Clips, func(c analysis.Clip) bool { return c.Key == key && c.VersionID == version })
	if !pinned || version == "" {
		w.obs.tell("I9", "a pass of %s reads %s in version %q, which was not confirmed", id, key, version)
	}
}

// reads lets an athlete, and a stranger, read and try what they may of an analysis,
// beside what else happens to it.
func (w *world) reads(c *virtual.Cloud, id, key string, all *sync.WaitGroup) {
	for _, r := range []struct {
		kind   string
		chance float64
		do     func(c *virtual.Cloud, id, key string)
	}{{doForms, 0.15, w.forms}, {doReport, 0.15, w.reports}, {doExport, 0.1, w.exports}, {doStranger, 0.1, w.stranger}} {
		if w.plan.event(r.kind, key, r.chance) {
			all.Go(func() { r.do(c, id, key) })
		}
	}
}

package faults

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"fastbowlinglab/integration/virtual"
)

// stranger is another athlete, who was delivered more analyses than a page of an
// export holds before the schedule begins, and has no credit.
const stranger = "athlete-2"

// neighbours are the analyses of the stranger.
var neighbours = func() (ids []string) {
	for _, c := range "bcdefg" {
		ids = append(ids, "an-"+strings.Repeat(string(c), 26))
	}
	return ids
}()

// neighbour puts what the stranger has into the world.
func (w *world) neighbour(ctx context.Context, c *virtual.Cloud) {
	for i, id := range neighbours {
		if err := c.DeliverTo(ctx, stranger, id, time.Now().Add(-time.Duration(i+1)*time.Hour), []byte("of another")); err != nil {
			w.obs.tell("I9", "another athlete: %v", err)
		}
	}
}

// notOf lists the analyses that are not an athlete's.
func (w *world) notOf(athlete string) []string {
	if athlete == stranger {
		return w.obs.ids()
	}
	return neighbours
}

// stranger is the other athlete, who has come by the id of an analysis and by the key
// that it was submitted with, and tries every route.
func (w *world) stranger(c *virtual.Cloud, id, key string) {
	ctx := virtual.As(context.Background(), "client-stranger/"+key)
	d := w.plan.dice
	for n := range 2 {
		pause(ctx, d.Between(0, []time.Duration{10 * time.Minute, 2 * time.Hour}[n], fmt.Sprint("stranger ", key, n)))
		for _, route := range []string{routeShow, routeReport, routeUploads, routeConfirm, routeRerun, routeCancel} {
			ask := virtual.Ask{Route: route, Analysis: id, By: stranger}
			if route == routeRerun {
				ask.Key = key
			}
			if r, ok := w.ask(ctx, c, ask); ok {
				w.strange(id, route, r)
			}
		}
		if r, ok := w.ask(ctx, c, virtual.Ask{Route: routeCreate, Key: key, Body: w.submission(key), By: stranger}); ok {
			w.strange(id, routeCreate, r)
		}
		if got := w.export(ctx, c, stranger); got != nil {
			w.strangers(got)
		}
	}
}

// strange looks at what a stranger was answered: nothing of theirs is there, and they
// have no credit for anything of their own.
func (w *world) strange(id, route string, r virtual.Reply) {
	if r.Status != http.StatusNotFound && r.Status != http.StatusPaymentRequired {
		w.obs.tell("I9", "%s of %s by another athlete is answered with %d %s", route, id, r.Status, r.Code())
	}
}

// strangers looks at the stranger's own export, which has several pages: it is what
// they have.
func (w *world) strangers(got *exportPage) {
	var ids []string
	for _, a := range got.Analyses {
		ids = append(ids, a.ID)
	}
	if slices.Sort(ids); !slices.Equal(ids, neighbours) {
		w.obs.tell("I9", "of another athlete %v are exported, they have %v", ids, neighbours)
	}
}

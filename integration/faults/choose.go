package faults

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"

	"fastbowlinglab/integration/virtual"
)

// channels is how an athlete wants to be told.
type channels struct {
	Email bool `json:"email"`
	Push  bool `json:"push"`
}

// choose is an athlete who says how they want to be told, in one tab or in two at
// one time, each of which shows what stood when it was opened.
func (w *world) choose(c *virtual.Cloud, key string) {
	d := w.plan.dice
	w.obs.mu.Lock()
	w.obs.chose = true
	w.obs.mu.Unlock()
	var tabs sync.WaitGroup
	for n := range 1 + d.IntN(2, "tabs "+key) {
		tabs.Go(func() { w.tab(c, fmt.Sprint(key, "/tab-", n)) })
	}
	tabs.Wait()
}

func (w *world) tab(c *virtual.Cloud, tab string) {
	ctx := virtual.As(context.Background(), "client-choice/"+tab)
	d := w.plan.dice
	var shown struct{ Version int64 }
	if r, ok := w.ask(ctx, c, virtual.Ask{Route: routeMe}); !ok || r.Into(&shown) != nil {
		return
	}
	pause(ctx, d.Between(0, 20*time.Second, "thinks "+tab))
	want := channels{d.Chance(0.5, "mail "+tab), d.Chance(0.5, "push "+tab)}
	r, ok := w.ask(ctx, c, virtual.Ask{Route: routeChoose, Body: map[string]any{"channels": want, "version": shown.Version}})
	if ok && r.Status == http.StatusOK {
		w.chosen(shown.Version+1, want)
	}
}

// chosen notes a choice that was told to stand: what was chosen with one version in
// sight is one choice, or somebody's was lost.
func (w *world) chosen(version int64, want channels) {
	w.mu.Lock()
	was, ok := w.choices[version]
	w.choices[version] = want
	w.mu.Unlock()
	if ok && was != want {
		w.obs.tell("I9", "as version %d of the channels both %v and %v are told to stand", version, was, want)
	}
}

package stepfn

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"fastbowlinglab/integration/stepfn/asl"
)

// inlineConcurrency is how many iterations of an inline Map AWS runs at once at
// most, and when MaxConcurrency is 0.
const inlineConcurrency = 40

// branches carries out one attempt of a Parallel state.
func (v *visit) branches() (any, time.Time, error) {
	name, from := v.generation(evParallelStarted)
	in, err := v.effectiveInput()
	if err == nil && v.s.Parameters != nil {
		in, err = v.s.Parameters.Eval(in, v.context(""))
	}
	if err != nil {
		return nil, now(), err
	}
	if err := v.addRecord(record{Event: Event{Type: evParallelStarted}, Branches: name, From: from}); err != nil {
		return nil, now(), err
	}
	list := v.s.Parallel.Branches
	out, err := v.fan(name, from, len(list), len(list), func(ctx context.Context, i int, sc *scope, at *position) (any, error) {
		sc.item = v.sc.item
		return v.child(ctx, sc, at, list[i], in)
	})
	return v.joined("Parallel", out, err)
}

// mapItems carries out one attempt of a Map state.
func (v *visit) mapItems() (any, time.Time, error) {
	name, from := v.generation(evMapStarted)
	in, err := v.effectiveInput()
	if err != nil {
		return nil, now(), err
	}
	items, err := v.items(in)
	if err != nil {
		return nil, now(), err
	}
	started := record{Event: Event{Type: evMapStarted, MapStarted: &MapDetails{len(items)}}, Branches: name, From: from}
	if err := v.addRecord(started); err != nil {
		return nil, now(), err
	}
	limit := v.s.Map.MaxConcurrency
	if limit == 0 || limit > inlineConcurrency {
		limit = inlineConcurrency
	}
	out, err := v.fan(name, from, len(items), limit, func(ctx context.Context, i int, sc *scope, at *position) (any, error) {
		sc.item = map[string]any{"Index": json.Number(strconv.Itoa(i)), "Value": items[i]}
		return v.iteration(ctx, sc, at, i, in, items[i])
	})
	return v.joined("Map", out, err)
}

func (v *visit) items(in any) ([]any, error) {
	at := in
	if p := v.s.Map.ItemsPath; p != nil {
		var ok bool
		if at, ok = p.Get(in, v.context("")); !ok {
			return nil, &asl.Error{Name: asl.ErrRuntime, Cause: fmt.Sprintf("Invalid path '%s': no value for ItemsPath", p)}
		}
	}
	items, ok := at.([]any)
	if !ok {
		return nil, &asl.Error{Name: asl.ErrRuntime, Cause: "The items of Map state '" + v.s.Name + "' are not an array"}
	}
	return items, nil
}

func (v *visit) iteration(ctx context.Context, sc *scope, at *position, i int, in, item any) (any, error) {
	d := &IterationDetails{v.s.Name, i}
	inner := &visit{r: v.r, ctx: ctx, sc: sc, s: v.s, when: v.when}
	if err := inner.add(Event{Type: "MapIterationStarted", IterationStarted: d}); err != nil {
		return nil, err
	}
	input := item
	var err error
	if v.s.Map.ItemSelector != nil {
		input, err = v.s.Map.ItemSelector.Eval(in, inner.context(""))
	}
	var out any
	if err == nil {
		out, err = v.child(ctx, sc, at, v.s.Map.Processor, input)
	}
	ev := Event{Type: "MapIterationSucceeded", IterationSucceeded: d}
	var fail *asl.Error
	switch {
	case errors.As(err, &fail):
		ev = Event{Type: "MapIterationFailed", IterationFailed: d}
	case err != nil:
		ev = Event{Type: "MapIterationAborted", IterationAborted: d}
	}
	if addErr := inner.add(ev); err == nil {
		err = addErr
	}
	return out, err
}

// child runs a branch from its first state or, in a redrive, from the one that
// it stood in.
func (v *visit) child(ctx context.Context, sc *scope, at *position, m *asl.Machine, input any) (any, error) {
	first := &visit{r: v.r, ctx: ctx, sc: sc, s: m.States[m.StartAt], input: input}
	if at != nil && at.state != "" {
		input, err := asl.Decode([]byte(at.input))
		if err != nil {
			return nil, fmt.Errorf("recorded input of %s: %w", sc.path, err)
		}
		sc.visit, first.s, first.input = at.visit, m.States[at.state], input
		first.resumed, first.when, first.prior = at.entered, at.when.Time, at.prior
	}
	return v.r.machine(m, first)
}

// generation names this attempt's branches, and those that it goes on with: the
// first attempt of a redrive runs only what had no end. A restart runs a Map or
// Parallel state again from where its run began; the name counts that too, so
// that a token of the interrupted run stays a token of the past.
func (v *visit) generation(started string) (name, from string) {
	from, v.prior = v.prior, ""
	for _, r := range v.recorded {
		switch r.Event.Type {
		case started:
			v.attempt++
		case evMapFailed, evParallelFailed:
			from = "" // a retrier's attempt runs all of them
		}
	}
	v.recorded = nil
	name = fmt.Sprintf("%s/%s:%d#%d", v.sc.path, v.s.Name, v.sc.visit, v.attempt)
	if v.sc.drive > 0 {
		name += fmt.Sprintf("r%d", v.sc.drive)
	}
	return name, from
}

// fan runs n branches, at most limit at once, and gives their outputs in order.
// The first failure cancels the others; all have returned when fan does. Those
// that a redrive finds ended are not run.
func (v *visit) fan(name, from string, n, limit int, run func(ctx context.Context, i int, sc *scope, at *position) (any, error)) (any, error) {
	ctx, cancel := context.WithCancel(v.ctx)
	defer cancel()
	out, errs := make([]any, n), make([]error, n)
	stood := make([]*position, n)
	v.r.e.mu.Lock()
	prev := v.sc.prev
	for i := range n {
		if p := v.r.x.inner[branch(name, i)]; p != nil && from != "" {
			c := *p
			stood[i] = &c
		}
	}
	v.r.e.mu.Unlock()
	var wg sync.WaitGroup
	slots := make(chan struct{}, max(limit, 1))
	for i := range n {
		if stood[i].finished() {
			out[i], errs[i] = asl.Decode([]byte(stood[i].input))
			continue
		}
		slots <- struct{}{}
		if ctx.Err() != nil {
			errs[i] = errStopped
			<-slots
			continue
		}
		wg.Go(func() {
			defer func() { <-slots }()
			sc := &scope{path: branch(name, i), prev: prev, drive: v.sc.drive}
			if out[i], errs[i] = run(ctx, i, sc, stood[i]); errs[i] != nil {
				cancel()
			}
		})
	}
	wg.Wait()
	return out, firstFailure(errs)
}

// branch is the path of one branch.
func branch(name string, i int) string { return fmt.Sprintf("%s[%d]", name, i) }

// firstFailure prefers a state's failure to the unwinding of the others.
func firstFailure(errs []error) error {
	var first error
	for _, err := range errs {
		var fail *asl.Error
		if errors.As(err, &fail) {
			return fail
		}
		if first == nil || errors.Is(first, errStopped) && err != nil {
			first = err
		}
	}
	return first
}

// joined records how the branches came out.
func (v *visit) joined(typ string, out any, err error) (any, time.Time, error) {
	ev := Event{Type: typ + "StateSucceeded"}
	var fail *asl.Error
	switch {
	case errors.As(err, &fail):
		ev.Type = typ + "StateFailed"
	case err != nil:
		return nil, now(), err
	}
	if addErr := v.add(ev); addErr != nil {
		return nil, now(), addErr
	}
	return out, now(), err
}

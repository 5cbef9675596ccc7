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
	name := v.generation(evParallelStarted)
	in, err := v.effectiveInput()
	if err == nil && v.s.Parameters != nil {
		in, err = v.s.Parameters.Eval(in, v.context(""))
	}
	if err != nil {
		return nil, now(), err
	}
	if err := v.add(Event{Type: evParallelStarted}); err != nil {
		return nil, now(), err
	}
	list := v.s.Parallel.Branches
	out, err := v.fan(len(list), len(list), func(ctx context.Context, i int, sc *scope) (any, error) {
		sc.path, sc.item = fmt.Sprintf("%s[%d]", name, i), v.sc.item
		return v.child(ctx, sc, list[i], in)
	})
	return v.joined("Parallel", out, err)
}

// mapItems carries out one attempt of a Map state.
func (v *visit) mapItems() (any, time.Time, error) {
	name := v.generation(evMapStarted)
	in, err := v.effectiveInput()
	if err != nil {
		return nil, now(), err
	}
	items, err := v.items(in)
	if err != nil {
		return nil, now(), err
	}
	if err := v.add(Event{Type: evMapStarted, MapStarted: &MapDetails{len(items)}}); err != nil {
		return nil, now(), err
	}
	limit := v.s.Map.MaxConcurrency
	if limit == 0 || limit > inlineConcurrency {
		limit = inlineConcurrency
	}
	out, err := v.fan(len(items), limit, func(ctx context.Context, i int, sc *scope) (any, error) {
		sc.path = fmt.Sprintf("%s[%d]", name, i)
		sc.item = map[string]any{"Index": json.Number(strconv.Itoa(i)), "Value": items[i]}
		return v.iteration(ctx, sc, i, in, items[i])
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

func (v *visit) iteration(ctx context.Context, sc *scope, i int, in, item any) (any, error) {
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
		out, err = v.child(ctx, sc, v.s.Map.Processor, input)
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

// child runs a branch from its first state.
func (v *visit) child(ctx context.Context, sc *scope, m *asl.Machine, input any) (any, error) {
	return v.r.machine(m, &visit{r: v.r, ctx: ctx, sc: sc, s: m.States[m.StartAt], input: input})
}

// generation names this attempt's branches. A restart runs a Map or Parallel
// state again from its beginning; the name counts that too, so that a token of
// the interrupted run stays a token of the past.
func (v *visit) generation(started string) string {
	for _, r := range v.recorded {
		if r.Event.Type == started {
			v.attempt++
		}
	}
	v.recorded = nil
	return fmt.Sprintf("%s/%s:%d#%d", v.sc.path, v.s.Name, v.sc.visit, v.attempt)
}

// fan runs n branches, at most limit at once, and gives their outputs in order.
// The first failure cancels the others; all have returned when fan does.
func (v *visit) fan(n, limit int, run func(ctx context.Context, i int, sc *scope) (any, error)) (any, error) {
	ctx, cancel := context.WithCancel(v.ctx)
	defer cancel()
	out, errs := make([]any, n), make([]error, n)
	v.r.e.mu.Lock()
	prev := v.sc.prev
	v.r.e.mu.Unlock()
	var wg sync.WaitGroup
	slots := make(chan struct{}, max(limit, 1))
	for i := range n {
		slots <- struct{}{}
		if ctx.Err() != nil {
			errs[i] = errStopped
			<-slots
			continue
		}
		wg.Go(func() {
			defer func() { <-slots }()
			if out[i], errs[i] = run(ctx, i, &scope{prev: prev}); errs[i] != nil {
				cancel()
			}
		})
	}
	wg.Wait()
	return out, firstFailure(errs)
}

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

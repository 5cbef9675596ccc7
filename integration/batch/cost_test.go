package batch_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	sfntypes "github.com/aws/aws-sdk-go-v2/service/sfn/types"

	fnbackfill "fastbowlinglab/functions/backfill"
	"fastbowlinglab/infra/cost"
	"fastbowlinglab/integration/virtual"
	"fastbowlinglab/shared/backfill"
	"fastbowlinglab/shared/batchrun"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/statemachine"
)

// memory keeps items as batchrun.Items does, in memory, and counts the requests
// that the real one would make: one for each claim, one for each end, and one
// for each hundred items read.
type memory struct {
	mu                   sync.Mutex
	items                map[string]batchrun.Item
	loads, claims, marks int
}

func (m *memory) Load(_ context.Context, _ string, ids []string) (map[string]batchrun.Item, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.loads += (len(ids) + 99) / 100
	out := map[string]batchrun.Item{}
	for _, id := range ids {
		if it, ok := m.items[id]; ok {
			out[id] = it
		}
	}
	return out, nil
}

func (m *memory) Claim(_ context.Context, r batchrun.Run, seen batchrun.Item, owner string, until time.Time) (batchrun.Item, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.claims++
	if was := m.items[seen.ID]; was.Final() {
		return was, batchrun.ErrTaken
	}
	seen.State, seen.By, seen.Owner, seen.Until, seen.Calls = batchrun.Claimed, r.ID, owner, until, seen.Calls+1
	m.items[seen.ID] = seen
	return seen, nil
}

func (m *memory) Settle(_ context.Context, it batchrun.Item, state string) (batchrun.Item, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.marks++
	it.State = state
	m.items[it.ID] = it
	return it, nil
}

// steady is a work that takes half a second: four at a time are eight a second.
type steady struct{}

func (steady) Do(ctx context.Context, o backfill.Order) (backfill.Made, error) {
	wait(ctx, 500*time.Millisecond)
	return backfill.Made{Key: o.AnalysisID}, nil
}

// What a claim, an end and a place in the budget write. A transaction costs twice
// what its items would: item, and the checks of run and lease.
const (
	claimWrites  = 2 * 3
	endWrites    = 1
	budgetWrites = 1
	readUnits    = 100 // of a hundred rows below 4 KB, read consistently
)

type bill struct {
	items, transitions, events, calls, requests int
	hours, dollars                              float64
}

// TestTooManyAreRefused: what one run cannot take is refused with the number, before
// anything begins.
func TestTooManyAreRefused(t *testing.T) {
	virtual.Run(t, virtual.Options{}, func(c *virtual.Cloud) {
		ctx, cancel := context.WithCancel(virtual.As(context.Background(), "operator"))
		defer cancel()
		list, err := json.Marshal(ids(2001))
		if err == nil {
			err = c.Put(ctx, names.PrefixWork+"lists/all.json", list)
		}
		if err == nil {
			err = c.StartBatch(ctx, statemachine.Backfill, "all", backfill.Spec{Effect: names.EffectTags, Version: "v1", IDsKey: names.PrefixWork + "lists/all.json", BatchSize: 20})
		}
		if err != nil {
			t.Error(err)
			return
		}
		e := finished(ctx, t, c, statemachine.Backfill, "all", time.Hour)
		if e.status != sfntypes.ExecutionStatusFailed || e.fail != "Permanent" ||
			!strings.Contains(e.cause, "2001 analyses; one run takes 100 batches of 20: split it") {
			t.Errorf("%+v", e)
		}
		if _, err := c.Runs().Get(ctx, "all"); !errors.Is(err, batchrun.ErrNotFound) {
			t.Errorf("the run was opened: %v", err)
		}
	})
}

// TestCostOf100000 runs a backfill of 100,000 items, and smaller ones beside it:
// what it costs rises with the items and with nothing else.
func TestCostOf100000(t *testing.T) {
	var bills []bill
	for _, n := range []int{10_000, 50_000, 100_000} {
		b := simulate(t, n)
		if t.Failed() {
			return
		}
		bills = append(bills, b)
		t.Logf("%d items: %d transitions, %d events, %d calls of the function, %d requests to the database, %.1f h, $%.2f (%.4f cents an item)",
			b.items, b.transitions, b.events, b.calls, b.requests, b.hours, b.dollars, 100*b.dollars/float64(b.items))
		line, err := json.Marshal(map[string]any{"bench": "backfill", "items": b.items, "transitions": b.transitions, "events": b.events,
			"requests": b.requests, "dollars": fmt.Sprintf("%.4f", b.dollars)})
		if err != nil {
			t.Fatal(err)
		}
		t.Log(string(line))
	}
	most := bills[len(bills)-1]
	if most.events > statemachine.MaxEvents/4 {
		t.Errorf("%d events: too near the limit of %d", most.events, statemachine.MaxEvents)
	}
	for _, b := range bills[:2] {
		for what, ratio := range map[string]float64{
			"dollars":  (most.dollars / float64(most.items)) / (b.dollars / float64(b.items)),
			"requests": (float64(most.requests) / float64(most.items)) / (float64(b.requests) / float64(b.items)),
		} {
			if ratio > 1.1 || ratio < 0.8 {
				t.Errorf("%s an item: %d items cost %.2f times what %d do", what, most.items, ratio, b.items)
			}
		}
	}
}

func simulate(t *testing.T, n int) (b bill) {
	t.Helper()
	mem := &memory{items: map[string]batchrun.Item{}}
	gets, puts, others, seconds := 0, 0, 0, 0.0
	var mu sync.Mutex
	opt := virtual.Options{
		Override: map[string]func(*virtual.Cloud) lambda.Handler{names.FnBackfill: func(c *virtual.Cloud) lambda.Handler {
			j := c.Backfill(map[string]backfill.Worker{names.EffectReport: {Work: steady{}}})
			j.Items = mem
			return timed{fnbackfill.New(j), func(d time.Duration) { mu.Lock(); seconds += d.Seconds(); b.calls++; mu.Unlock() }}
		}},
		Observe: func(_ *virtual.Cloud, c virtual.Call) {
			switch {
			case c.Service == "dynamodb":
				others++
			case strings.HasPrefix(c.Op, "PUT"):
				puts++
			case strings.HasPrefix(c.Op, "GET"):
				gets++
			}
		},
	}
	virtual.Run(t, opt, func(c *virtual.Cloud) {
		ctx, cancel := context.WithCancel(virtual.As(context.Background(), "operator"))
		defer cancel()
		list, err := json.Marshal(ids(n))
		if err != nil {
			t.Error(err)
			return
		}
		key := names.PrefixWork + "lists/all.json"
		if err := c.Put(ctx, key, list); err != nil {
			t.Error(err)
			return
		}
		began := time.Now()
		if err := c.StartBatch(ctx, statemachine.Backfill, "all", backfill.Spec{Effect: names.EffectReport, Version: "v1", IDsKey: key}); err != nil {
			t.Error(err)
			return
		}
		e := finished(ctx, t, c, statemachine.Backfill, "all", 24*time.Hour)
		b.hours = time.Since(began).Hours()
		if e.status != sfntypes.ExecutionStatusSucceeded || e.rows.New != n {
			t.Errorf("%+v", e)
		}
		b.transitions, b.events = history(ctx, t, c, c.BatchARN(statemachine.Backfill, "all"))
	})
	p, _, err := cost.Load() // list prices with their date and sources: infra/cost/prices.json
	if err != nil {
		t.Fatal(err)
	}
	b.items = n
	b.requests = others + mem.claims + mem.marks + mem.loads + mem.claims // the last: a place in the budget each
	price := func(name string, n float64) float64 { return p.Prices[name] * n }
	b.dollars = price("dynamodb_write", float64(mem.claims*(claimWrites+budgetWrites)+mem.marks*endWrites+others*claimWrites)) +
		price("dynamodb_read", float64(mem.loads*readUnits)) + price("states_transition", float64(b.transitions)) +
		price("lambda_request", float64(b.calls)) + price("lambda_arm_gb_second", memoryGB()*seconds) +
		price("s3_put", float64(puts)) + price("s3_get", float64(gets))
	return b
}

// memoryGB is what the function is given.
func memoryGB() float64 {
	for _, f := range names.Functions() {
		if f.Name == names.FnBackfill {
			return float64(f.MemoryMB) / 1024
		}
	}
	return 0
}

// timed tells how long each call of a function took.
type timed struct {
	lambda.Handler
	tell func(time.Duration)
}

func (h timed) Invoke(ctx context.Context, in []byte) ([]byte, error) {
	start := time.Now()
	defer func() { h.tell(time.Since(start)) }()
	return h.Handler.Invoke(ctx, in)
}

// history counts an execution's state transitions and events.
func history(ctx context.Context, t *testing.T, c *virtual.Cloud, arn string) (transitions, events int) {
	t.Helper()
	p := sfn.NewGetExecutionHistoryPaginator(sfn.NewFromConfig(c.Config), &sfn.GetExecutionHistoryInput{ExecutionArn: &arn, MaxResults: 1000})
	for p.HasMorePages() {
		out, err := p.NextPage(ctx)
		if err != nil {
			t.Error(err)
			return
		}
		for _, e := range out.Events {
			events++
			if strings.HasSuffix(string(e.Type), "StateEntered") {
				transitions++
			}
		}
	}
	return
}

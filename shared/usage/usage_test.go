package usage_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"fastbowlinglab/shared/dynamotest"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/stamp"
	"fastbowlinglab/shared/usage"
)

type world struct {
	t  *testing.T
	db *dynamodb.Client
	usage.Store
}

func newWorld(t *testing.T) *world {
	db := dynamotest.New(t)
	return &world{t, db, usage.Store{DB: db, Usage: names.Usage.Name, Prices: names.Prices.Name}}
}

func (w *world) price(p usage.Price) {
	w.t.Helper()
	item, err := stamp.MarshalMap(p)
	if err == nil {
		_, err = w.db.PutItem(w.t.Context(), &dynamodb.PutItemInput{TableName: &names.Prices.Name, Item: item})
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) record(c usage.Call) {
	w.t.Helper()
	if err := usage.Record(w.t.Context(), w.db, names.Usage.Name, c); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) bill(id, day string) usage.Bill {
	w.t.Helper()
	b, err := w.Bill(w.t.Context(), id, day)
	if err != nil {
		w.t.Fatal(err)
	}
	return b
}

func day(s string) time.Time {
	t, err := time.Parse(time.DateTime, s+" 12:00:00")
	if err != nil {
		panic(err)
	}
	return t
}

func tokens(in, out, read, write int64) usage.Tokens {
	return usage.Tokens{Input: &in, Output: &out, CacheRead: &read, CacheWrite: &write}
}

func call(task string, fence int64, at time.Time, tk usage.Tokens) usage.Call {
	return usage.Call{AnalysisID: "an-1", Attempt: 1, Task: task, Fence: fence, Provider: "p", Model: "us.test-model", PromptVersion: "1", At: at, Outcome: "ok", Tokens: tk}
}

// Field case 40.
func TestBill(t *testing.T) {
	w := newWorld(t)
	w.price(usage.Price{Model: "test-model", From: "2025-06-01", Input: "0.1", Output: "0.2", CacheRead: "0.01", CacheWrite: "0.3"})
	w.price(usage.Price{Model: "test-model", From: "2025-06-15", Input: "1", Output: "2", CacheRead: "", CacheWrite: "0"})
	w.record(call("findings", 1, day("2025-06-10"), tokens(3, 1, 10, 100)))
	w.record(call("findings", 2, day("2025-06-15"), tokens(3, 1, 0, 5))) // a duplicate try costs too; cache writes are free
	w.record(call("coaching", 1, day("2025-06-20"), tokens(1, 1, 7, 0))) // cache reads have no price now
	w.record(call("precheck", 1, day("2025-05-31"), tokens(1, 1, 0, 0))) // before the first price
	w.record(call("unknown", 1, day("2025-06-10"), usage.Tokens{Input: usage.Count(1)}))
	want := map[string]string{ // dollars, by hand: tokens x price / 10^6
		"findings#1": "0.0000306", // 3*0.1 + 1*0.2 + 10*0.01 + 100*0.3 = 30.6
		"findings#2": "0.000005",  // 3*1 + 1*2
	}
	b := w.bill("an-1", "")
	if len(b.Lines) != 5 || b.Unpriced != 3 || b.TotalUSD != "0.0000356" {
		t.Errorf("bill %+v", b)
	}
	for _, l := range b.Lines {
		key := l.Task + "#" + string(rune('0'+l.Try))
		if cost, ok := want[key]; ok {
			if l.CostUSD == nil || *l.CostUSD != cost || l.Error != "" {
				t.Errorf("%s costs %v (%s), want %s", key, l.CostUSD, l.Error, cost)
			}
		} else if l.CostUSD != nil || l.Error == "" {
			t.Errorf("%s costs %v, want an error", key, *l.CostUSD)
		}
	}
	if b := w.bill("", "2025-06-15"); len(b.Lines) != 1 || b.TotalUSD != "0.000005" {
		t.Errorf("bill of a day: %+v", b)
	}
	if b := w.bill("an-none", ""); len(b.Lines) != 0 || b.TotalUSD != "0.00" {
		t.Errorf("bill of nothing: %+v", b)
	}
	// A corrected price re-prices history.
	w.price(usage.Price{Model: "test-model", From: "2025-06-01", Input: "0", Output: "0", CacheRead: "0", CacheWrite: "0"})
	if b := w.bill("an-1", ""); b.TotalUSD != "0.000005" {
		t.Errorf("total after the correction: %s", b.TotalUSD)
	}
}

func TestRecordAgainReplaces(t *testing.T) {
	w := newWorld(t)
	c := call("findings", 1, day("2025-06-10"), usage.Tokens{})
	c.Outcome = "sent"
	w.record(c)
	if b := w.bill("an-1", ""); len(b.Lines) != 1 || b.Lines[0].Outcome != "sent" || b.Lines[0].Tokens.Input != nil || b.Unpriced != 1 {
		t.Errorf("sent: %+v", b)
	}
	c.Tokens, c.Outcome = tokens(1, 2, 3, 4), "ok"
	w.record(c)
	if b := w.bill("an-1", ""); len(b.Lines) != 1 || b.Lines[0].Outcome != "ok" || *b.Lines[0].Tokens.CacheWrite != 4 {
		t.Errorf("answered: %+v", b)
	}
	c.Model = ""
	if err := usage.Record(t.Context(), w.db, names.Usage.Name, c); err == nil {
		t.Error("a call without a model is recorded")
	}
}

// The table's price of a day stands over the shipped one of that day.
func TestShippedPrices(t *testing.T) {
	w := newWorld(t)
	seen := map[string]bool{}
	for _, p := range usage.Shipped() {
		if _, err := time.Parse(time.DateOnly, p.From); err != nil || p.Source == "" || seen[p.Model+p.From] {
			t.Errorf("price %+v: needs a day, a source, and to be the only one", p)
		}
		seen[p.Model+p.From] = true
		if _, err := p.Cost(tokens(1, 1, 1, 0)); err != nil {
			t.Errorf("price %+v: %v", p, err)
		}
	}
	c := call("findings", 1, day("2025-06-10"), tokens(1_000_000, 0, 0, 0))
	c.Model = "arn:aws:bedrock:us-east-1:1:inference-profile/us.amazon.nova-lite-v1:0"
	w.record(c)
	if b := w.bill("an-1", ""); b.TotalUSD != "0.06" {
		t.Errorf("shipped price: %+v", b)
	}
	w.price(usage.Price{Model: "amazon.nova-lite-v1:0", From: "2024-12-03", Input: "0.07"})
	if b := w.bill("an-1", ""); b.TotalUSD != "0.07" {
		t.Errorf("corrected price: %+v", b)
	}
}

func TestBadPriceIsAnError(t *testing.T) {
	for _, bad := range []string{"-1", "1e3", "0,5", "1/3", ".5", "free", "1."} {
		p := usage.Price{Model: "m", From: "2025-01-01", Input: bad, Output: "0"}
		if _, err := p.Cost(tokens(1, 0, 0, 0)); err == nil {
			t.Errorf("price %q is accepted", bad)
		}
	}
	if _, err := (usage.Price{Input: "1"}).Cost(tokens(-1, 0, 0, 0)); err == nil {
		t.Error("a negative number of tokens is accepted")
	}
}

// The model's own account of its tokens keeps its shape in JSON: null is not 0.
func TestTokensInJSON(t *testing.T) {
	b, err := json.Marshal(usage.Tokens{Input: usage.Count(0)})
	if err != nil || string(b) != `{"input":0,"output":null,"cache_read":null,"cache_write":null}` {
		t.Errorf("%s, %v", b, err)
	}
}

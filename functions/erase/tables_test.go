package erase_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	ddb "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"fastbowlinglab/functions/erase"
	"fastbowlinglab/shared/aitask"
	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/athlete"
	"fastbowlinglab/shared/batchrun"
	"fastbowlinglab/shared/erasure"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/stamp"
	"fastbowlinglab/shared/tags"
	"fastbowlinglab/shared/usage"
)

func (w *world) put(table string, v any) {
	w.Helper()
	item, err := stamp.MarshalMap(v)
	if err != nil {
		w.Fatal(err)
	}
	if _, err := w.db.PutItem(w.Context(), &dynamodb.PutItemInput{TableName: &table, Item: item}); err != nil {
		w.Fatal(err)
	}
}

// plant writes, for a delivered analysis, what every part of the system keeps of
// it beside what live wrote.
func (w *world) plant(id, day string) {
	w.put(names.PoseJobs.Name, map[string]any{"analysis_id": id, "state": "done", "attempt": 1})
	for _, part := range []string{tags.PartRow, tags.PartDone} {
		for _, version := range []string{names.TagsVersion, "tags-2"} {
			w.put(names.Tags.Name, map[string]any{"day": day, "item": part + id + "#" + version, "analysis_id": id, "content_hash": "h"})
		}
	}
	for _, set := range []string{batchrun.SetOf(names.EffectReport, "2"), batchrun.SetOf(names.EffectTags, "3")} {
		w.put(names.Runs.Name, batchrun.Item{Set: set, ID: id, State: batchrun.Done})
	}
	for _, label := range []string{"precheck", "findings", "coaching", "findings@rev-2"} {
		w.put(names.Effects.Name, map[string]any{"effect": aitask.Task(label).EffectKey(id), "state": "done"})
		err := usage.Record(w.Context(), w.db, names.Usage.Name, usage.Call{AnalysisID: id, Attempt: 1, Task: label, Fence: 1, Provider: "rules",
			Model: "m", At: w.now, Outcome: "ok", Tokens: usage.Tokens{Input: usage.Count(7), Output: usage.Count(3)}})
		if err != nil {
			w.Fatal(err)
		}
	}
}

// calls counts model calls of the day and their tokens, whoever's.
func (w *world) calls() (n, tokens int) {
	out, err := w.db.Scan(w.Context(), &dynamodb.ScanInput{TableName: aws.String(names.Usage.Name), IndexName: aws.String(names.IndexByDay)})
	if err != nil {
		w.Fatal(err)
	}
	for _, it := range out.Items {
		n++
		if v, ok := it["input_tokens"].(*ddb.AttributeValueMemberN); ok && v.Value == "7" {
			tokens += 7
		}
	}
	return n, tokens
}

// Every table has a rule, holds rows of the athlete, and afterwards what its rule
// says: nothing, or nothing that leads to anybody. Somebody else's rows stay.
func TestEveryTableIsErasedByItsRule(t *testing.T) {
	w := newWorld(t)
	mine, others := w.live("ath-1"), w.live("ath-2")
	day := w.now.UTC().Format(time.DateOnly)
	for i := range mine {
		if i%4 == 3 { // delivered
			w.plant(mine[i], day)
			w.plant(others[i], day)
		}
	}
	if err := w.deps.People.Suppress(t.Context(), "ath-1@example.com", athlete.Bounced); err != nil {
		t.Fatal(err)
	}
	w.put(names.Prices.Name, map[string]any{"model": "m", "from": day})
	w.put(names.Runs.Name, map[string]any{"run": "nightly-1", "part": "run", "state": "ended"})
	if err := w.deps.Life.Scrub(t.Context(), "an-nobody"); err != nil {
		t.Fatal(err)
	}
	if _, err := w.deps.Erasures.Ask(t.Context(), "ath-1"); err != nil {
		t.Fatal(err)
	}
	rules := erasure.Rules()
	before := map[string]int{}
	for _, tb := range names.Tables() {
		rule, ok := rules[tb.Name]
		if !ok {
			t.Errorf("table %s has no rule of erasure and export (shared/erasure.Rules)", tb.Name)
		}
		if rule.Erased != erasure.Gone && rule.Why == "" && len(rule.Exported) > 0 || len(rule.Exported) == 0 && rule.Unseen == "" {
			t.Errorf("table %s: its rule says too little: %+v", tb.Name, rule)
		}
		before[tb.Name] = strings.Count(w.table(tb.Name), "\n")
		if before[tb.Name] == 0 {
			t.Errorf("table %s holds no row in this test: plant one", tb.Name)
		}
		delete(rules, tb.Name)
	}
	if len(rules) != 0 {
		t.Errorf("rules for tables that do not exist: %v", rules)
	}
	calls, tokens := w.calls()
	if out := w.run(); out.Finished != 0 {
		t.Errorf("%+v at once", out)
	}
	if left := w.table(names.Effects.Name); !strings.Contains(left, aitask.Findings.EffectKey(mine[3])) {
		t.Error("the guard of a paid call went while somebody may be at work on it")
	}
	w.now = w.now.Add(names.ErasureSettle + time.Second)
	for range 3 {
		w.run()
	}
	proof, err := w.deps.Erasures.Look(t.Context(), "ath-1")
	if err != nil || proof.State != erasure.Done {
		t.Fatalf("%+v, %v", proof, err)
	}
	for _, tb := range names.Tables() {
		left := w.table(tb.Name)
		for _, trace := range append([]string{"ath-1", "Zoë of ath-1"}, mine...) {
			if strings.Contains(left, trace) {
				t.Errorf("table %s (%s) still holds %q", tb.Name, erasure.Rules()[tb.Name].Erased, trace)
			}
		}
		if after := strings.Count(left, "\n"); erasure.Rules()[tb.Name].Erased == erasure.Gone && after >= before[tb.Name] {
			t.Errorf("table %s has %d rows, had %d", tb.Name, after, before[tb.Name])
		}
	}
	for _, tb := range []names.Table{names.Analyses, names.PoseJobs, names.Notices, names.Tags, names.Runs, names.Effects, names.Usage} {
		if !strings.Contains(w.table(tb.Name), others[3]) {
			t.Errorf("table %s: somebody else's rows are gone", tb.Name)
		}
	}
	if n, sum := w.calls(); n != calls || sum != tokens {
		t.Errorf("%d calls with %d tokens, were %d with %d: the day costs something else", n, sum, calls, tokens)
	}
	if want := int64(9 * (1 + 1 + 4 + 2 + 4 + 4)); proof.Rows < want { // job, notice, tags, items, guards, calls
		t.Errorf("%d rows in the proof, want at least %d", proof.Rows, want)
	}
}

// table is a table as text, a row a line.
func (w *world) table(name string) string {
	w.Helper()
	var b strings.Builder
	in := &dynamodb.ScanInput{TableName: &name}
	for {
		out, err := w.db.Scan(w.Context(), in)
		if err != nil {
			w.Fatal(err)
		}
		for _, it := range out.Items {
			j, _ := json.Marshal(it)
			b.Write(append(j, '\n'))
		}
		if in.ExclusiveStartKey = out.LastEvaluatedKey; in.ExclusiveStartKey == nil {
			return b.String()
		}
	}
}

// A deletion that is killed after any of its writes is finished by the next
// passes, with everything gone and the ledger whole.
func TestEraseKilledAnywhere(t *testing.T) {
	w := newWorld(t)
	ids := w.few("ath-1")
	day := w.now.UTC().Format(time.DateOnly)
	w.plant(ids[3], day)
	balances, entries, _ := w.total()
	if _, err := w.deps.Erasures.Ask(t.Context(), "ath-1"); err != nil {
		t.Fatal(err)
	}
	w.now = w.now.Add(names.ErasureSettle + time.Second)
	kills := 0
	for n := 1; ; n++ {
		ctx, dying := w.dying(1 + n%15)
		w.now = w.now.Add(time.Minute)
		_, err := erase.New(dying).Invoke(ctx, []byte(`{}`))
		e, lookErr := w.deps.Erasures.Look(t.Context(), "ath-1")
		if lookErr != nil {
			t.Fatal(lookErr)
		}
		if e.State == erasure.Done {
			break
		}
		if ctx.Err() != nil {
			kills++
		}
		if n > 500 {
			t.Fatalf("not done after %d passes; the last: %v", n, err)
		}
	}
	t.Logf("killed %d times", kills)
	if kills < 20 {
		t.Errorf("only %d kills: the test is broken", kills)
	}
	all := w.everything()
	for _, trace := range append([]string{"ath-1"}, ids...) {
		if strings.Contains(all, trace) {
			t.Errorf("%q is left", trace)
		}
	}
	if b, e, lines := w.total(); b != balances+3 || e != entries+3 || lines != 1+4+3 { // three open ones are refunded
		t.Errorf("balances %d, entries %d by %d lines; before %d and %d", b, e, lines, balances, entries)
	}
}

// Two deletions at once, of the stream and the schedule, do what one does.
func TestEraseTwiceAtOnce(t *testing.T) {
	w := newWorld(t)
	ids := w.few("ath-1")
	w.plant(ids[3], w.now.UTC().Format(time.DateOnly))
	if _, err := w.deps.Erasures.Ask(t.Context(), "ath-1"); err != nil {
		t.Fatal(err)
	}
	for range 6 {
		w.now = w.now.Add(names.ErasureSettle + time.Second)
		done := make(chan error, 3)
		for range 3 {
			go func() {
				_, err := erase.New(w.deps).Invoke(t.Context(), []byte(`{}`))
				done <- err
			}()
		}
		for range 3 {
			if err := <-done; err != nil {
				t.Log(err) // a pass may lose a race; the next goes on
			}
		}
	}
	e, err := w.deps.Erasures.Look(t.Context(), "ath-1")
	if err != nil || e.State != erasure.Done {
		t.Fatalf("%+v, %v", e, err)
	}
	if balances, entries, lines := w.total(); balances != 40-1 || entries != balances || lines != 1+4+3 {
		t.Errorf("balances %d, entries %d by %d lines", balances, entries, lines)
	}
}

// Every field of an analysis's row that says something of the athlete is
// scrubbed by the retention sweep or named here with the reason why it stays.
func TestScrubKnowsEveryField(t *testing.T) {
	stays := strings.Fields(`AnalysisID AthleteID RequestHash Status Attempt Execution Clips TimeZone Consent ConsentBy RerunOf Flags
		CreatedAt QueuedAt StartedAt ClaimedAt EndedAt EndedDay EndedBy Open Deadline Reason ReportPDF ReportJSON ResultKey Revisions SweptAt`)
	known := map[string]bool{"AthleteName": true, "Email": true, "Notes": true, "Push": true}
	for _, f := range stays {
		known[f] = true
	}
	typ := reflect.TypeFor[analysis.Row]()
	for i := range typ.NumField() {
		if !known[typ.Field(i).Name] {
			t.Errorf("analysis.Row.%s: scrub it (analysis.Store.Scrub) or say here that it stays", typ.Field(i).Name)
		}
	}
}

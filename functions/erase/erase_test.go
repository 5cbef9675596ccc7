package erase_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	s3types "github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/aws-sdk-go-v2/service/sfn"

	"fastbowlinglab/functions/erase"
	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/athlete"
	"fastbowlinglab/shared/credit"
	"fastbowlinglab/shared/dynamotest"
	"fastbowlinglab/shared/erasure"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/outbox"
	"fastbowlinglab/shared/outcome"
)

func TestMain(m *testing.M) {
	slog.SetDefault(slog.New(slog.DiscardHandler))
	os.Exit(m.Run())
}

// bucket holds versions, "key@version".
type bucket struct {
	mu      sync.Mutex
	objects map[string]bool
	fails   int // deletions from now that fail once
}

func (b *bucket) put(keys ...string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, k := range keys {
		b.objects[k+"@1"], b.objects[k+"@2"] = true, true
	}
}

func (b *bucket) left(part string) (n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for k := range b.objects {
		if strings.Contains(k, part) {
			n++
		}
	}
	return n
}

func (b *bucket) ListObjectVersions(_ context.Context, in *s3.ListObjectVersionsInput, _ ...func(*s3.Options)) (*s3.ListObjectVersionsOutput, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := &s3.ListObjectVersionsOutput{}
	for k := range b.objects {
		if key, v, _ := strings.Cut(k, "@"); strings.HasPrefix(key, *in.Prefix) {
			if v == "2" {
				out.DeleteMarkers = append(out.DeleteMarkers, s3types.DeleteMarkerEntry{Key: &key, VersionId: &v})
			} else {
				out.Versions = append(out.Versions, s3types.ObjectVersion{Key: &key, VersionId: &v})
			}
		}
	}
	return out, nil
}

func (b *bucket) DeleteObject(ctx context.Context, in *s3.DeleteObjectInput, _ ...func(*s3.Options)) (*s3.DeleteObjectOutput, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.fails > 0 {
		b.fails--
		return nil, context.DeadlineExceeded
	}
	delete(b.objects, *in.Key+"@"+*in.VersionId)
	return &s3.DeleteObjectOutput{}, nil
}

type steps struct{ stopped []string }

func (s *steps) StartExecution(context.Context, *sfn.StartExecutionInput, ...func(*sfn.Options)) (*sfn.StartExecutionOutput, error) {
	panic("nothing is started")
}

func (s *steps) StopExecution(_ context.Context, in *sfn.StopExecutionInput, _ ...func(*sfn.Options)) (*sfn.StopExecutionOutput, error) {
	s.stopped = append(s.stopped, *in.ExecutionArn)
	return &sfn.StopExecutionOutput{}, nil
}

type world struct {
	*testing.T
	server *dynamotest.Server
	db     *dynamodb.Client
	deps   erase.Deps
	s3     *bucket
	steps  *steps
	now    time.Time
}

func newWorld(t *testing.T) *world {
	server := dynamotest.Start(t)
	db := server.Client()
	w := &world{T: t, server: server, db: db, s3: &bucket{objects: map[string]bool{}}, steps: &steps{}, now: time.Now()}
	w.deps = w.with(db)
	return w
}

// dying is a function whose process is killed after its n-th write, whose answer
// it never sees; the context ends then.
func (w *world) dying(n int) (context.Context, erase.Deps) {
	ctx, kill := context.WithCancel(w.Context())
	w.Cleanup(kill)
	f := &dynamotest.Faults{}
	f.Next = func(op string) dynamotest.Fault {
		writes := f.Calls("UpdateItem") + f.Calls("DeleteItem") + f.Calls("TransactWriteItems")
		if writes < n {
			return dynamotest.OK
		}
		kill()
		if writes == n && op != "Query" && op != "GetItem" && op != "Scan" {
			return dynamotest.Lost
		}
		return dynamotest.NotDone
	}
	return ctx, w.with(w.server.Faulty(f))
}

// with makes the dependencies on one client of the database.
func (w *world) with(db *dynamodb.Client) erase.Deps {
	now := func() time.Time { return w.now }
	return erase.Deps{
		Erasures: erasure.Store{DB: db, Table: names.Erasures.Name, Now: now},
		Life:     analysis.Store{DB: db, Analyses: names.Analyses.Name, Credits: names.Credits.Name, Now: now},
		Ends:     outcome.Store{DB: db, Analyses: names.Analyses.Name, Credits: names.Credits.Name, Notices: names.Notices.Name, Now: now},
		Ledger:   credit.Store{DB: db, Credits: names.Credits.Name, Effects: names.Effects.Name, Now: now},
		People:   athlete.Store{DB: db, Athletes: names.Athletes.Name, Suppressions: names.Suppressions.Name},
		Rows: erase.Rows{DB: db, Analyses: names.Analyses.Name, PoseJobs: names.PoseJobs.Name, Notices: names.Notices.Name,
			Effects: names.Effects.Name, Usage: names.Usage.Name, Tags: names.Tags.Name, Runs: names.Runs.Name},
		Objects: erase.Objects{S3: w.s3, Bucket: "b"},
		Scan:    db, Steps: w.steps, MachineARN: "arn:aws:states:eu-west-1:1:stateMachine:m", Now: now,
	}
}

// live gives an athlete credits, by purchase, and analyses in every state.
func (w *world) live(who string) (ids []string) { return w.lives(who, 36) } // more entries than one transaction moves

// few is live with one analysis in each state.
func (w *world) few(who string) []string { return w.lives(who, 4) }

func (w *world) lives(who string, n int) (ids []string) {
	w.Helper()
	ctx := w.Context()
	must := func(err error) {
		w.Helper()
		if err != nil {
			w.Fatal(err)
		}
	}
	_, err := w.deps.Ledger.Pay(ctx, credit.PaymentEvent{EventID: "e-" + who, BodyHash: "h", Kind: credit.PaymentCompleted, PaymentID: "p-" + who, AthleteID: who, Credits: 40})
	must(err)
	must(w.deps.People.Choose(ctx, who, athlete.Channels{Push: true}, 0))
	for i := range n {
		sub := analysis.Submission{AthleteName: "Zoë of " + who, Email: who + "@example.com", Notes: "n", Consent: true, Clips: []analysis.Clip{{Name: "a.mp4"}}}
		row, _, err := w.deps.Life.Create(ctx, who, fmt.Sprint("k", i), sub)
		must(err)
		id := row.AnalysisID
		ids = append(ids, id)
		w.s3.put(names.ClipKey(id, 0), names.ChunkKey(id, 1, 1, 0, 0), names.ReportPDFKey(id, 1))
		if i%4 == 0 {
			continue // reserved
		}
		_, err = w.deps.Life.Queue(ctx, id, []analysis.Clip{{Key: names.ClipKey(id, 0), VersionID: "1"}})
		must(err)
		if i%4 == 1 {
			continue // queued
		}
		_, err = w.deps.Life.Begin(ctx, id, 1, analysis.ExecutionName(id, 1), nil)
		must(err)
		if i%4 == 2 {
			continue // analysing
		}
		res, err := w.deps.Ends.Deliver(ctx, id, 1, "deliver", outcome.Report{PDFKey: "p", JSONKey: "j"})
		must(err)
		if !res.Won {
			w.Fatalf("%+v", res)
		}
	}
	return ids
}

func (w *world) run() erase.Out {
	w.Helper()
	b, err := erase.New(w.deps).Invoke(w.Context(), []byte(`{}`))
	if err != nil {
		w.Fatal(err)
	}
	var out erase.Out
	if err := json.Unmarshal(b, &out); err != nil {
		w.Fatal(err)
	}
	return out
}

// everything is the database as text.
func (w *world) everything() string {
	var b strings.Builder
	for _, t := range names.Tables() {
		out, err := w.db.Scan(w.Context(), &dynamodb.ScanInput{TableName: aws.String(t.Name)})
		if err != nil {
			w.Fatal(err)
		}
		for _, it := range out.Items {
			j, _ := json.Marshal(it)
			fmt.Fprintln(&b, t.Name, string(j))
		}
	}
	return b.String()
}

// total adds up every balance and every entry of the ledger.
func (w *world) total() (balances, entries int64, lines int) {
	out, err := w.db.Scan(w.Context(), &dynamodb.ScanInput{TableName: aws.String(names.Credits.Name)})
	if err != nil {
		w.Fatal(err)
	}
	seen := map[string]bool{}
	for _, it := range out.Items {
		j, _ := json.Marshal(it["athlete_id"])
		var k struct{ Value string }
		_ = json.Unmarshal(j, &k)
		if seen[k.Value] {
			continue
		}
		seen[k.Value] = true
		l, err := w.deps.Ledger.Read(w.Context(), k.Value)
		if err != nil || l.Balance != l.Sum() || l.Balance < 0 {
			w.Errorf("%s: balance %d, entries add up to %d, %v", k.Value, l.Balance, l.Sum(), err)
		}
		balances, entries, lines = balances+l.Balance, entries+l.Sum(), lines+len(l.Entries)
	}
	return balances, entries, lines
}

func TestErase(t *testing.T) {
	w := newWorld(t)
	ids, others := w.live("ath-1"), w.live("ath-2")
	if _, err := w.deps.Erasures.Ask(t.Context(), "ath-1"); err != nil {
		t.Fatal(err)
	}
	w.s3.fails = 3 // and the sweep goes on
	_, _ = erase.New(w.deps).Invoke(t.Context(), []byte(`{}`))
	if out := w.run(); out.Open != 1 || out.Finished != 0 {
		t.Errorf("%+v at once, want it open until everybody has stopped", out)
	}
	// A function that was still at work writes after its analysis has gone.
	w.s3.put(names.ReportPDFKey(ids[2], 1))
	w.now = w.now.Add(names.ErasureSettle + time.Second)
	if out := w.run(); out.Open != 1 {
		t.Errorf("%+v, want it open: there was something to remove", out)
	}
	if out := w.run(); out.Finished != 1 {
		t.Errorf("%+v, want it finished", out)
	}
	if out := w.run(); out.Finished+out.Open != 0 {
		t.Errorf("%+v after the end", out)
	}
	for _, id := range ids {
		if n := w.s3.left(id); n != 0 {
			t.Errorf("%d versions of %s are left", n, id)
		}
	}
	for _, id := range others {
		if n := w.s3.left(id); n != 6 {
			t.Errorf("%d versions of somebody else's %s are left, want 6", n, id)
		}
	}
	all := w.everything()
	for _, trace := range append([]string{"ath-1", "ath-1@example.com", "Zoë of ath-1"}, ids...) {
		if i := strings.Index(all, trace); i >= 0 {
			t.Errorf("%q is left: %.300s", trace, all[max(0, i-200):])
		}
	}
	for _, kept := range []string{"Zoë of ath-2", "ath-2@example.com"} {
		if !strings.Contains(all, kept) {
			t.Errorf("%q of somebody else's is gone", kept)
		}
	}
	// 2 athletes: 40 bought, 9 of 36 analyses delivered and 27 refunded for the
	// one who left; the other's 27 are open.
	balances, entries, lines := w.total()
	if balances != 31+4 || entries != balances || lines != (1+36+27)+(1+36) {
		t.Errorf("balances %d, entries %d by %d lines", balances, entries, lines)
	}
	proof, err := w.deps.Erasures.Look(t.Context(), "ath-1")
	if err != nil || proof.State != erasure.Done || proof.AthleteID != "" || proof.Pseudonym != "" || proof.FinishedAt.IsZero() ||
		proof.Analyses != 36 || proof.Entries != 64 || proof.Objects < 36*6 {
		t.Errorf("proof %+v, %v", proof, err)
	}
	// A refund of the old payment finds its credits under the pseudonym.
	if _, err := w.deps.Ledger.Pay(t.Context(), credit.PaymentEvent{EventID: "late", BodyHash: "h", Kind: credit.PaymentRefunded, PaymentID: "p-ath-1", AthleteID: "ath-1", Credits: 40}); err != nil {
		t.Fatal(err)
	}
	if balances, _, _ := w.total(); balances != 4 {
		t.Errorf("balances %d after the refund, want 4", balances)
	}
}

// Nobody who is being erased is told anything: what ends by the deletion is owed
// no notice, and its row names nobody before it is gone.
func TestEraseSendsNoNotice(t *testing.T) {
	w := newWorld(t)
	ids := w.few("ath-1")
	if _, err := w.deps.Erasures.Ask(t.Context(), "ath-1"); err != nil {
		t.Fatal(err)
	}
	w.s3.fails = 1000 // the pass gets no further than the ends
	_, _ = erase.New(w.deps).Invoke(t.Context(), []byte(`{}`))
	// What was delivered before owes its notice still: whoever sends it finds no address.
	if row, err := w.deps.Life.Get(t.Context(), ids[3]); err != nil || row.Status != analysis.Ready || row.Email != "" || row.AthleteName != "" || row.Push {
		t.Errorf("delivered: %+v, %v", row, err)
	}
	for i, id := range ids[:3] { // the fourth was delivered before
		row, err := w.deps.Life.Get(t.Context(), id)
		if err != nil || row.Email != "" || row.AthleteName != "" || row.Notes != "" || !row.Status.Ended() {
			t.Errorf("%d: %+v, %v", i, row, err)
		}
		told, err := outbox.List(t.Context(), w.db, names.Notices.Name, id)
		if err != nil || len(told) != 1 || told[0].State != outbox.NotDue {
			t.Errorf("%d: notices %+v, %v", i, told, err)
		}
	}
}

func TestEraseStopsInTime(t *testing.T) {
	w := newWorld(t)
	w.live("ath-1")
	if _, err := w.deps.Erasures.Ask(t.Context(), "ath-1"); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second) // less than the reserve
	defer cancel()
	out, err := erase.New(w.deps).Invoke(ctx, []byte(`{}`))
	if err != nil || !strings.Contains(string(out), `"open":1`) {
		t.Errorf("%s, %v", out, err)
	}
	if e, _ := w.deps.Erasures.Look(t.Context(), "ath-1"); e.Removed != (erasure.Removed{}) {
		t.Errorf("%+v was removed in no time", e.Removed)
	}
}

func TestRetentionSweep(t *testing.T) {
	w := newWorld(t)
	ids := w.live("ath-1")
	if out := w.run(); out.Swept != 0 {
		t.Errorf("%+v on the first day", out)
	}
	w.now = w.now.Add(names.ClipLifecycle + time.Minute)
	if out := w.run(); out.Swept != 9 { // those that have ended
		t.Errorf("%+v, want 9 swept", out)
	}
	if out := w.run(); out.Swept != 0 {
		t.Errorf("%+v the second time", out)
	}
	for i, id := range ids {
		want := 6
		if i%4 == 3 {
			want = 2 // the report
		}
		if n := w.s3.left(id); n != want {
			t.Errorf("%d versions of analysis %d are left, want %d", n, i, want)
		}
	}
}

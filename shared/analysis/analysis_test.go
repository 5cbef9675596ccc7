package analysis_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/credit"
	"fastbowlinglab/shared/dynamotest"
	"fastbowlinglab/shared/names"
)

const athlete = "ath-1"

type world struct {
	t      *testing.T
	server *dynamotest.Server
	life   analysis.Store
	ledger credit.Store
}

func newWorld(t *testing.T, credits int64) *world {
	s := dynamotest.Start(t)
	w := &world{t, s, life(s.Client()), credit.Store{DB: s.Client(), Credits: names.Credits.Name, Effects: names.Effects.Name}}
	if credits > 0 {
		if _, err := w.ledger.Enter(t.Context(), credit.Grant{AthleteID: athlete, Credits: credits, Operator: "op", Key: "k"}); err != nil {
			t.Fatal(err)
		}
	}
	return w
}

func life(db analysis.DB) analysis.Store {
	return analysis.Store{DB: db, Analyses: names.Analyses.Name, Credits: names.Credits.Name}
}

func submission() analysis.Submission {
	return analysis.Submission{AthleteName: "A", TimeZone: "UTC", Consent: true, Clips: []analysis.Clip{{Name: "c", Type: "video/mp4", SizeBytes: 9}}}
}

// ledgerIs asserts the balance, the number of reservations, and that the entries add up.
func (w *world) ledgerIs(balance int64, reserves int) {
	w.t.Helper()
	l, err := w.ledger.Read(w.t.Context(), athlete)
	if err != nil {
		w.t.Fatal(err)
	}
	n := 0
	for _, e := range l.Entries {
		if e.Kind == credit.KindReserve {
			n++
		}
	}
	if l.Balance != balance || n != reserves || l.Sum() != l.Balance {
		w.t.Errorf("balance %d with %d reservations, entries add up to %d; want %d and %d", l.Balance, n, l.Sum(), balance, reserves)
	}
}

// Field case 43.
func TestCreateParallel(t *testing.T) {
	t.Run("one key", func(t *testing.T) {
		w := newWorld(t, 5)
		var mu sync.Mutex
		ids, made := map[string]int{}, 0
		var wg sync.WaitGroup
		for range 20 {
			wg.Go(func() {
				r, created, err := w.life.Create(t.Context(), athlete, "key", submission())
				mu.Lock()
				defer mu.Unlock()
				if err != nil {
					t.Errorf("create: %v", err)
				}
				ids[r.AnalysisID+string(r.Status)+r.CreatedAt.String()]++
				if created {
					made++
				}
			})
		}
		wg.Wait()
		if len(ids) != 1 || made != 1 {
			t.Errorf("answers %v, created %d times; want one of each", ids, made)
		}
		w.ledgerIs(4, 1)
	})
	t.Run("twenty keys, one credit", func(t *testing.T) {
		w := newWorld(t, 1)
		var mu sync.Mutex
		made, refused := 0, 0
		var wg sync.WaitGroup
		for i := range 20 {
			wg.Go(func() {
				_, _, err := w.life.Create(t.Context(), athlete, fmt.Sprint(i), submission())
				mu.Lock()
				defer mu.Unlock()
				switch {
				case err == nil:
					made++
				case errors.Is(err, analysis.ErrNoCredit):
					refused++
				default:
					t.Errorf("create: %v", err)
				}
			})
		}
		wg.Wait()
		if made != 1 || refused != 19 {
			t.Errorf("%d made, %d refused", made, refused)
		}
		w.ledgerIs(0, 1)
	})
}

func TestCreateAgain(t *testing.T) {
	w := newWorld(t, 1)
	first, created, err := w.life.Create(t.Context(), athlete, "key", submission())
	if err != nil || !created || first.Status != analysis.Reserved || first.Attempt != 1 || first.Clips[0].Key != names.ClipKey(first.AnalysisID, 0) {
		t.Fatalf("create: %+v, %t, %v", first, created, err)
	}
	// The balance is 0 now; the analysis is still the answer.
	again, created, err := w.life.Create(t.Context(), athlete, "key", submission())
	if err != nil || created || again.AnalysisID != first.AnalysisID || !again.CreatedAt.Equal(first.CreatedAt) {
		t.Errorf("again: %+v, %t, %v", again, created, err)
	}
	other := submission()
	other.Notes = "another"
	if _, _, err := w.life.Create(t.Context(), athlete, "key", other); !errors.Is(err, analysis.ErrKeyReused) {
		t.Errorf("same key, other body: %v", err)
	}
	if _, _, err := w.life.Create(t.Context(), "ath-2", "key", submission()); !errors.Is(err, analysis.ErrNoCredit) {
		t.Errorf("same key of an athlete without credit: %v", err)
	}
	w.ledgerIs(0, 1)
}

func TestCreateLostAnswer(t *testing.T) {
	w := newWorld(t, 1)
	for _, n := range []int{1, 99} { // repaired by our own retry; by the client's
		db := w.server.Faulty(&dynamotest.Faults{Next: dynamotest.First(n, "TransactWriteItems", dynamotest.Lost)})
		_, _, err := life(db).Create(t.Context(), athlete, "key", submission())
		if n == 1 && err != nil {
			t.Errorf("one lost answer: %v", err)
		}
	}
	if _, created, err := w.life.Create(t.Context(), athlete, "key", submission()); err != nil || created {
		t.Errorf("asked again: created %t, %v", created, err)
	}
	w.ledgerIs(0, 1)
}

func (w *world) queued(key string) analysis.Row {
	w.t.Helper()
	r, _, err := w.life.Create(w.t.Context(), athlete, key, submission())
	if err != nil {
		w.t.Fatal(err)
	}
	r.Clips[0].VersionID = "v1"
	if r, err = w.life.Queue(w.t.Context(), r.AnalysisID, r.Clips); err != nil {
		w.t.Fatal(err)
	}
	return r
}

func TestQueueKeepsTheFirstPins(t *testing.T) {
	w := newWorld(t, 1)
	r := w.queued("key")
	if r.Status != analysis.Queued || r.Deadline.Sub(r.QueuedAt) != names.QueuedDeadline {
		t.Errorf("queued: %+v", r)
	}
	again, err := w.life.Queue(t.Context(), r.AnalysisID, []analysis.Clip{{VersionID: "v2"}})
	if err != nil || again.Clips[0].VersionID != "v1" || again.Status != analysis.Queued {
		t.Errorf("queued again: %+v, %v; want the first pin", again, err)
	}
	if _, err := w.life.Queue(t.Context(), "an-none", nil); !errors.Is(err, analysis.ErrNotFound) {
		t.Errorf("queue of nothing: %v", err)
	}
}

// Field case 14: a reservation whose time is over cannot be queued, whether or not
// the reconciler has come by to expire it.
func TestNothingIsQueuedAfterItsTime(t *testing.T) {
	w := newWorld(t, 2)
	for key, tc := range map[string]struct {
		after time.Duration
		want  analysis.Status
	}{"in time": {names.ReservedDeadline, analysis.Queued}, "too late": {names.ReservedDeadline + time.Millisecond, analysis.Reserved}} {
		r, _, err := w.life.Create(t.Context(), athlete, key, submission())
		if err != nil {
			t.Fatal(err)
		}
		late := w.life
		late.Now = func() time.Time { return r.CreatedAt.Add(tc.after) }
		got, err := late.Queue(t.Context(), r.AnalysisID, r.Clips)
		if got.Status != tc.want || errors.Is(err, analysis.ErrEnded) != (tc.want == analysis.Reserved) {
			t.Errorf("%s: %s, %v", key, got.Status, err)
		}
	}
}

func TestBegin(t *testing.T) {
	w := newWorld(t, 1)
	id := w.queued("key").AnalysisID
	begin := func(attempt int, execution, road string) analysis.Begun {
		t.Helper()
		b, err := w.life.Begin(t.Context(), id, attempt, execution, map[string]string{"pose_road": road})
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	if b := begin(2, "other-attempt", "x"); b.Proceed || b.Duplicate {
		t.Errorf("another attempt: %+v", b)
	}
	first := begin(1, "run", "queue")
	if !first.Proceed || first.Row.Status != analysis.Analysing || first.Row.Execution != "run" {
		t.Fatalf("first: %+v", first)
	}
	again := begin(1, "run", "http") // a retry after the flag was flipped
	if !again.Proceed || again.Row.Flags["pose_road"] != "queue" || !again.Row.StartedAt.Equal(first.Row.StartedAt) {
		t.Errorf("retry: %+v; want the flags as first read", again)
	}
	if b := begin(1, "twin", "queue"); b.Proceed || !b.Duplicate || b.Row.Execution != "run" {
		t.Errorf("another execution of this attempt: %+v; want a duplicate", b)
	}
	if _, err := w.life.Begin(t.Context(), "an-none", 1, "run", nil); !errors.Is(err, analysis.ErrNotFound) {
		t.Errorf("begin of nothing: %v", err)
	}
}

// Five executions at once for one analysis (incident A): one goes on.
func TestBeginParallel(t *testing.T) {
	w := newWorld(t, 1)
	id := w.queued("key").AnalysisID
	var mu sync.Mutex
	var wg sync.WaitGroup
	proceed, duplicate := 0, 0
	for i := range 5 {
		wg.Go(func() {
			b, err := w.life.Begin(t.Context(), id, 1, fmt.Sprint("run-", i), nil)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				t.Error(err)
			}
			if b.Proceed {
				proceed++
			}
			if b.Duplicate {
				duplicate++
			}
		})
	}
	wg.Wait()
	if proceed != 1 || duplicate != 4 {
		t.Errorf("%d proceed, %d are told that they are duplicates; want 1 and 4", proceed, duplicate)
	}
}

func TestOpenIsByDeadline(t *testing.T) {
	w := newWorld(t, 3)
	late := w.queued("late")
	early, _, err := w.life.Create(t.Context(), athlete, "early", submission())
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	if err := w.life.Open(t.Context(), func(r analysis.Row) bool { got = append(got, r.AnalysisID); return true }); err != nil {
		t.Fatal(err)
	}
	if want := []string{early.AnalysisID, late.AnalysisID}; fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("open = %v, want %v", got, want)
	}
	if early.Overdue(early.Deadline) || !early.Overdue(early.Deadline.Add(time.Millisecond)) {
		t.Error("overdue is not: after the deadline")
	}
}

func TestByAthletePages(t *testing.T) {
	w := newWorld(t, 5)
	now := time.Now()
	for i := range 5 {
		w.life.Now = func() time.Time { return now.Add(time.Duration(i) * time.Second) }
		if _, _, err := w.life.Create(t.Context(), athlete, fmt.Sprint(i), submission()); err != nil {
			t.Fatal(err)
		}
	}
	var all []analysis.Row
	var cur analysis.Cursor
	for range 3 {
		p, err := w.life.ByAthlete(t.Context(), athlete, cur, 2)
		if err != nil {
			t.Fatal(err)
		}
		all, cur = append(all, p.Rows...), p.Next
	}
	if len(all) != 5 || cur != (analysis.Cursor{}) {
		t.Fatalf("%d rows, cursor %+v", len(all), cur)
	}
	for i := range 4 {
		if all[i].CreatedAt.Before(all[i+1].CreatedAt) {
			t.Errorf("row %d is older than the next", i)
		}
	}
	if p, err := w.life.ByAthlete(t.Context(), "ath-2", analysis.Cursor{}, 2); err != nil || len(p.Rows) != 0 {
		t.Errorf("another athlete sees %d rows, %v", len(p.Rows), err)
	}
}

func TestExecutionNames(t *testing.T) {
	id := analysis.ID("a", "k")
	if id == analysis.ID("ak", "") || id == analysis.ID("a", "l") || len(analysis.ExecutionName(id, 99)) > 80 {
		t.Error("ids collide, or a name is longer than Step Functions allows")
	}
	if got, n, ok := analysis.ParseExecutionName(analysis.ExecutionName(id, 12)); !ok || got != id || n != 12 {
		t.Errorf("parsed %s %d %t", got, n, ok)
	}
	for _, bad := range []string{"", "x", "-1", "x-", "x-0", "x-01", "x--1", "x-1a"} {
		if id, n, ok := analysis.ParseExecutionName(bad); ok && analysis.ExecutionName(id, n) != bad {
			t.Errorf("%q is taken for %s %d", bad, id, n)
		}
	}
	for arn, want := range map[string]string{
		"arn:aws:states:eu-west-1:1:stateMachine:m":      "arn:aws:states:eu-west-1:1:execution:m:n",
		"arn:aws:states:eu-west-1:1:stateMachine:m:live": "arn:aws:states:eu-west-1:1:execution:m:n",
	} {
		if got, err := analysis.ExecutionARN(arn, "n"); err != nil || got != want {
			t.Errorf("%s: %s, %v", arn, got, err)
		}
	}
	if _, err := analysis.ExecutionARN("arn:aws:sqs:eu-west-1:1:q", "n"); err == nil {
		t.Error("an ARN of a queue is accepted")
	}
}

func TestRestart(t *testing.T) {
	w := newWorld(t, 2)
	ctx := t.Context()
	steps := &fakeSteps{}
	r := w.queued("key")
	id := r.AnalysisID
	if _, err := w.life.Begin(ctx, id, 1, analysis.ExecutionName(id, 1), map[string]string{"f": "first"}); err != nil {
		t.Fatal(err)
	}
	for _, round := range []string{"first", "again after a crash"} {
		got, err := w.life.Restart(ctx, steps, machine, id, 1)
		if err != nil || got.Attempt != 2 || got.Status != analysis.Queued || got.Execution != "" || got.Flags["f"] != "first" {
			t.Fatalf("%s: %+v, %v", round, got, err)
		}
	}
	if steps.started[analysis.ExecutionName(id, 2)] == 0 || steps.stopped[analysis.ExecutionName(id, 1)] == 0 {
		t.Errorf("started %v, stopped %v", steps.started, steps.stopped)
	}
	if b, err := w.life.Begin(ctx, id, 1, analysis.ExecutionName(id, 1), nil); err != nil || b.Proceed {
		t.Errorf("the old attempt goes on: %+v, %v", b, err)
	}
	if _, err := w.life.Restart(ctx, steps, machine, id, 5); !errors.Is(err, analysis.ErrMoved) {
		t.Errorf("restart from another attempt: %v", err)
	}
	reserved, _, err := w.life.Create(ctx, athlete, "reserved", submission())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.life.Restart(ctx, steps, machine, reserved.AnalysisID, 1); !errors.Is(err, analysis.ErrMoved) {
		t.Errorf("restart of a reserved one: %v", err)
	}
}

const machine = "arn:aws:states:eu-west-1:1:stateMachine:m"

func TestWellFormed(t *testing.T) {
	good := analysis.ID("a", "k")
	for id, want := range map[string]bool{good: true, analysis.RerunID("a", "k", good): true, "": false, "an-": false, good + "a": false,
		strings.ToUpper(good): false, "an-" + strings.Repeat("1", 26): false, good[:28] + "/": false} {
		if analysis.WellFormed(id) != want {
			t.Errorf("%q: want %t", id, want)
		}
	}
}

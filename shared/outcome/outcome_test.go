package outcome_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/credit"
	"fastbowlinglab/shared/dynamotest"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/outbox"
	"fastbowlinglab/shared/outcome"
	"fastbowlinglab/shared/reason"
)

const athlete = "ath-1"

// world is a database with one athlete who had three credits.
type world struct {
	t      *testing.T
	server *dynamotest.Server
	db     *dynamodb.Client
	life   analysis.Store
	ledger credit.Store
	out    outcome.Store
}

func newWorld(t *testing.T) *world {
	s := dynamotest.Start(t)
	db := s.Client()
	w := &world{t: t, server: s, db: db,
		life:   analysis.Store{DB: db, Analyses: names.Analyses.Name, Credits: names.Credits.Name},
		ledger: credit.Store{DB: db, Credits: names.Credits.Name, Effects: names.Effects.Name},
		out:    store(db)}
	if _, err := w.ledger.Enter(t.Context(), credit.Grant{AthleteID: athlete, Credits: 3, Operator: "op", Key: "k", Reason: "test"}); err != nil {
		t.Fatal(err)
	}
	return w
}

func store(db outcome.DB) outcome.Store {
	return outcome.Store{DB: db, Analyses: names.Analyses.Name, Credits: names.Credits.Name, Notices: names.Notices.Name}
}

// reserved makes an analysis that is paid for and not yet confirmed.
func (w *world) reserved(key string) string {
	w.t.Helper()
	r, created, err := w.life.Create(w.t.Context(), athlete, key, analysis.Submission{
		AthleteName: "A", Email: "a@example.com", TimeZone: "UTC", Consent: true, Clips: []analysis.Clip{{Name: "c"}}})
	if err != nil || !created {
		w.t.Fatalf("create: created=%t, %v", created, err)
	}
	return r.AnalysisID
}

// analysing makes one that an execution has begun.
func (w *world) analysing(key string) string {
	w.t.Helper()
	id := w.reserved(key)
	if _, err := w.life.Queue(w.t.Context(), id, []analysis.Clip{{VersionID: "v"}}); err != nil {
		w.t.Fatal(err)
	}
	b, err := w.life.Begin(w.t.Context(), id, 1, analysis.ExecutionName(id, 1), nil)
	if err != nil || !b.Proceed {
		w.t.Fatalf("begin: %+v, %v", b, err)
	}
	return id
}

func (w *world) row(id string) analysis.Row {
	w.t.Helper()
	r, err := w.life.Get(w.t.Context(), id)
	if err != nil {
		w.t.Fatal(err)
	}
	return r
}

// check asserts I2, I3 and I4 for an analysis that has ended.
func (w *world) check(id string) analysis.Row {
	w.t.Helper()
	r := w.row(id)
	if !r.Status.Ended() || r.Open != "" || !r.Deadline.IsZero() || r.EndedAt.IsZero() {
		w.t.Fatalf("row after the end: %+v", r)
	}
	l, err := w.ledger.Read(w.t.Context(), athlete)
	if err != nil {
		w.t.Fatal(err)
	}
	if l.Sum() != l.Balance || l.Balance < 0 {
		w.t.Errorf("balance %d, entries add up to %d", l.Balance, l.Sum())
	}
	refunds := 0
	for _, e := range l.Entries {
		if e.Kind == credit.KindRefund && e.AnalysisID == id {
			refunds++
		}
	}
	want := 1
	if r.Status == analysis.Ready {
		want = 0
	}
	if refunds != want {
		w.t.Errorf("%s analysis has %d refunds, want %d", r.Status, refunds, want)
	}
	ns, err := outbox.List(w.t.Context(), w.db, names.Notices.Name, id)
	if err != nil || len(ns) != 1 || ns[0].Kind != string(r.Status) {
		w.t.Errorf("notices = %+v, %v; want one of kind %s", ns, err, r.Status)
	}
	return r
}

var report = outcome.Report{PDFKey: "p", JSONKey: "j", ResultKey: "r"}

func TestEnds(t *testing.T) {
	w := newWorld(t)
	past := func(s outcome.Store) outcome.Store {
		s.Now = func() time.Time { return time.Now().Add(names.ReservedDeadline + time.Minute) }
		return s
	}
	for _, tc := range []struct {
		name   string
		make   func(string) string
		end    func(id string) (outcome.Result, error)
		status analysis.Status
		reason reason.Code
	}{
		{"deliver", w.analysing, func(id string) (outcome.Result, error) {
			return w.out.Deliver(t.Context(), id, 1, "x", report)
		}, analysis.Ready, ""},
		{"reject", w.analysing, func(id string) (outcome.Result, error) {
			return w.out.Reject(t.Context(), id, 1, "x", reason.NotBowling)
		}, analysis.Rejected, reason.NotBowling},
		{"fail", w.analysing, func(id string) (outcome.Result, error) {
			return w.out.Fail(t.Context(), id, 1, "", "x", reason.StageFailed)
		}, analysis.Failed, reason.StageFailed},
		{"cancel", w.reserved, func(id string) (outcome.Result, error) {
			return w.out.Cancel(t.Context(), id, "x")
		}, analysis.Failed, reason.Cancelled},
		{"expire", w.reserved, func(id string) (outcome.Result, error) {
			return past(w.out).Expire(t.Context(), id, "x")
		}, analysis.Expired, reason.NotUploaded},
	} {
		t.Run(tc.name, func(t *testing.T) {
			id := tc.make(tc.name)
			for _, round := range []string{"first", "again"} { // a lost answer is repaired by asking again
				got, err := tc.end(id)
				if err != nil || !got.Won || got.Status != tc.status || got.Reason != tc.reason {
					t.Fatalf("%s: %+v, %v", round, got, err)
				}
			}
			w.check(id)
			rival, err := w.out.Fail(t.Context(), id, 1, "", "rival", reason.Stopped)
			if err != nil || rival.Won || rival.Status != tc.status {
				t.Errorf("rival: %+v, %v; want to be shown %s", rival, err, tc.status)
			}
			w.check(id)
		})
	}
}

func TestEndRefused(t *testing.T) {
	w := newWorld(t)
	id := w.reserved("open")
	for name, end := range map[string]func() (outcome.Result, error){
		"deliver before it began":       func() (outcome.Result, error) { return w.out.Deliver(t.Context(), id, 1, "x", report) },
		"reject before it began":        func() (outcome.Result, error) { return w.out.Reject(t.Context(), id, 1, "x", reason.NoPerson) },
		"expire before its deadline":    func() (outcome.Result, error) { return w.out.Expire(t.Context(), id, "x") },
		"fail before it was queued":     func() (outcome.Result, error) { return w.out.Fail(t.Context(), id, 1, "", "x", reason.Stopped) },
		"deliver of an earlier attempt": func() (outcome.Result, error) { return w.out.Deliver(t.Context(), id, 2, "x", report) },
	} {
		if got, err := end(); err != nil || got.Won || got.Status != analysis.Reserved {
			t.Errorf("%s: %+v, %v; want conceded to a reserved analysis", name, got, err)
		}
	}
	running := w.analysing("running")
	if got, err := w.out.Fail(t.Context(), running, 1, "somebody-else", "x", reason.Stopped); err != nil || got.Won {
		t.Errorf("fail by an execution that does not hold it: %+v, %v", got, err)
	}
	if got, err := w.out.Fail(t.Context(), running, 2, "", "x", reason.Stopped); err != nil || got.Won {
		t.Errorf("fail of another attempt: %+v, %v", got, err)
	}
	if r := w.row(running); r.Status != analysis.Analysing {
		t.Errorf("status = %s, want analysing", r.Status)
	}
	if _, err := w.out.Deliver(t.Context(), "an-none", 1, "x", report); err == nil {
		t.Error("deliver of an analysis that does not exist: no error")
	}
	if _, err := w.out.Deliver(t.Context(), running, 1, "x", outcome.Report{}); err == nil {
		t.Error("deliver without a report: no error")
	}
}

func TestCancelOnlyBeforeTheClaim(t *testing.T) {
	w := newWorld(t)
	id := w.analysing("claimed")
	in := analysis.MarkClaimed(names.Analyses.Name, id, 1, time.Now())
	if _, err := w.db.UpdateItem(t.Context(), &dynamodb.UpdateItemInput{TableName: in.Update.TableName, Key: in.Update.Key,
		UpdateExpression: in.Update.UpdateExpression, ConditionExpression: in.Update.ConditionExpression,
		ExpressionAttributeNames: in.Update.ExpressionAttributeNames, ExpressionAttributeValues: in.Update.ExpressionAttributeValues}); err != nil {
		t.Fatal(err)
	}
	if got, err := w.out.Cancel(t.Context(), id, "x"); err != nil || got.Won || got.Status != analysis.Analysing {
		t.Errorf("cancel after the claim: %+v, %v", got, err)
	}
	waiting := w.analysing("waiting")
	if got, err := w.out.Cancel(t.Context(), waiting, "x"); err != nil || !got.Won {
		t.Errorf("cancel before the claim: %+v, %v", got, err)
	}
	w.check(waiting)
}

// Field cases 10 and 41: 20 callers at once, of every kind, refund and deliver the
// same analysis: one end, one winner, at most one refund.
func TestRace(t *testing.T) {
	w := newWorld(t)
	for round := range 3 {
		id := w.analysing(fmt.Sprint("race", round))
		var mu sync.Mutex
		won := 0
		var wg sync.WaitGroup
		for i := range 20 {
			wg.Go(func() {
				by := fmt.Sprint("caller-", i)
				var got outcome.Result
				var err error
				switch i % 4 {
				case 0:
					got, err = w.out.Deliver(t.Context(), id, 1, by, report)
				case 1:
					got, err = w.out.Reject(t.Context(), id, 1, by, reason.NotBowling)
				case 2:
					got, err = w.out.Fail(t.Context(), id, 1, "", by, reason.StageFailed)
				case 3:
					got, err = w.out.Cancel(t.Context(), id, by)
				}
				mu.Lock()
				defer mu.Unlock()
				if err != nil || !got.Status.Ended() {
					t.Errorf("%s: %+v, %v", by, got, err)
				}
				if got.Won {
					won++
				}
			})
		}
		wg.Wait()
		if won != 1 {
			t.Errorf("%d winners", won)
		}
		r := w.check(id)
		// Put another end's result to the same rivals later: nothing moves.
		if _, err := w.out.Reject(t.Context(), id, 1, "late", reason.NotBowling); err != nil {
			t.Fatal(err)
		}
		if again := w.check(id); again.Status != r.Status || again.EndedBy != r.EndedBy {
			t.Errorf("a late verdict changed %s to %s", r.Status, again.Status)
		}
		if r.Status == analysis.Ready { // give the credit of the delivered one back for the next round
			if _, err := w.ledger.Enter(t.Context(), credit.Grant{AthleteID: athlete, Credits: 1, Operator: "op", Key: fmt.Sprint(round)}); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// A won and a lost end each cost one write request; an answer that is lost is
// repeated with the same token.
func TestWriteRequests(t *testing.T) {
	w := newWorld(t)
	for _, tc := range []struct {
		name  string
		next  func(string) dynamotest.Fault
		calls int
	}{
		{"answered", nil, 1},
		{"answer lost", dynamotest.First(1, "TransactWriteItems", dynamotest.Lost), 2},
		{"never arrived, twice", dynamotest.First(2, "TransactWriteItems", dynamotest.NotDone), 3},
	} {
		t.Run(tc.name, func(t *testing.T) {
			id := w.analysing(tc.name)
			f := &dynamotest.Faults{Next: tc.next}
			got, err := store(w.server.Faulty(f)).Fail(t.Context(), id, 1, "", "x", reason.StageFailed)
			if err != nil || !got.Won || f.Calls("TransactWriteItems") != tc.calls {
				t.Errorf("%+v, %v, %d writes; want won with %d", got, err, f.Calls("TransactWriteItems"), tc.calls)
			}
			w.check(id)
		})
	}

	t.Run("lost race", func(t *testing.T) {
		id := w.analysing("race")
		f := &dynamotest.Faults{}
		f.Next = func(op string) dynamotest.Fault {
			if op == "TransactWriteItems" && f.Calls(op) == 1 { // the rival is faster by just one step
				if _, err := w.out.Deliver(context.Background(), id, 1, "rival", report); err != nil {
					t.Error(err)
				}
			}
			return dynamotest.OK
		}
		got, err := store(w.server.Faulty(f)).Fail(t.Context(), id, 1, "", "x", reason.StageFailed)
		if err != nil || got.Won || got.Status != analysis.Ready {
			t.Errorf("%+v, %v; want to be shown ready", got, err)
		}
		if f.Calls("TransactWriteItems") != 1 || f.Calls("GetItem") != 1 {
			t.Errorf("%d writes and %d reads, want 1 and 1", f.Calls("TransactWriteItems"), f.Calls("GetItem"))
		}
		w.check(id)
	})

	t.Run("answer lost, retried by another process", func(t *testing.T) {
		id := w.analysing("process")
		f := &dynamotest.Faults{Next: dynamotest.First(99, "TransactWriteItems", dynamotest.Lost)}
		if _, err := store(w.server.Faulty(f)).Deliver(t.Context(), id, 1, "run", report); err == nil {
			t.Fatal("no error although no answer ever came")
		}
		got, err := w.out.Deliver(t.Context(), id, 1, "run", report)
		if err != nil || !got.Won {
			t.Errorf("the same execution again: %+v, %v; want won", got, err)
		}
		w.check(id)
	})
}

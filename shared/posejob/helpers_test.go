package posejob_test

import (
	"crypto/sha256"
	"fmt"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/dynamotest"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/posejob"
	"fastbowlinglab/shared/stamp"
)

// clock is a clock that a test moves.
type clock struct{ t time.Time }

func (c *clock) now() time.Time          { return c.t }
func (c *clock) advance(d time.Duration) { c.t = c.t.Add(d) }

// world is one database with one analysis that is being analysed.
type world struct {
	t     *testing.T
	db    *dynamodb.Client
	srv   *dynamotest.Server
	clock *clock
	store *posejob.Store
	run   names.Run
}

func newWorld(t *testing.T) *world {
	t.Helper()
	srv := dynamotest.Start(t)
	w := &world{t: t, srv: srv, db: srv.Client(), clock: &clock{time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)},
		run: names.Run{AnalysisID: "an-test", Attempt: 1}}
	w.store = w.storeOn(w.db)
	w.analysis(analysis.Analysing, 1)
	return w
}

func (w *world) storeOn(db posejob.DB) *posejob.Store {
	return &posejob.Store{DB: db, Table: names.PoseJobs.Name, Analyses: names.Analyses.Name, Now: w.clock.now}
}

// analysis puts the row of the analysis in this state.
func (w *world) analysis(s analysis.Status, attempt int) {
	w.t.Helper()
	item, err := stamp.MarshalMap(analysis.Row{AnalysisID: w.run.AnalysisID, AthleteID: "ath-1", Status: s, Attempt: attempt, CreatedAt: w.clock.now()})
	if err != nil {
		w.t.Fatal(err)
	}
	if _, err := w.db.PutItem(w.t.Context(), &dynamodb.PutItemInput{TableName: &names.Analyses.Name, Item: item}); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) enqueue(token string) posejob.Job {
	w.t.Helper()
	j, err := w.store.Enqueue(w.t.Context(), names.TokenIn{Run: w.run, TaskToken: token})
	if err != nil {
		w.t.Fatalf("enqueue: %v", err)
	}
	return j
}

func (w *world) claim(owner string) posejob.Job {
	w.t.Helper()
	j, err := w.store.Claim(w.t.Context(), w.run.AnalysisID, by(owner))
	if err != nil {
		w.t.Fatalf("claim by %s: %v", owner, err)
	}
	return j
}

func (w *world) await(token string) posejob.Job {
	w.t.Helper()
	j, err := w.store.Await(w.t.Context(), names.TokenIn{Run: w.run, TaskToken: token})
	if err != nil {
		w.t.Fatalf("await: %v", err)
	}
	return j
}

func (w *world) checkpoint(l posejob.Lease, clip, chunk int) posejob.Job {
	w.t.Helper()
	j, err := w.store.Checkpoint(w.t.Context(), l, saved(l, clip, chunk), posejob.Mark{Progress: w.progress(0.5)})
	if err != nil {
		w.t.Fatalf("checkpoint: %v", err)
	}
	return j
}

func (w *world) get() posejob.Job {
	w.t.Helper()
	j, err := w.store.Get(w.t.Context(), w.run.AnalysisID)
	if err != nil {
		w.t.Fatal(err)
	}
	return j
}

func (w *world) progress(f float64) posejob.Progress {
	return posejob.Progress{Fraction: f, Stage: "clip 1 of 1: pose", MovedAt: w.clock.now()}
}

// expire moves the clock past a lease and the skew.
func (w *world) expire() { w.clock.advance(names.LeaseDuration + names.ClockSkew + time.Second) }

func by(owner string) posejob.Claimant {
	return posejob.Claimant{Name: owner, Engine: "engine 1", Model: "full", Message: "m-" + owner}
}

func saved(l posejob.Lease, clip, chunk int) posejob.Saved {
	key := names.ChunkKey(l.AnalysisID, l.Attempt, l.Fence, clip, chunk)
	sum := sha256.Sum256([]byte(key))
	return posejob.Saved{Clip: clip, Chunk: chunk, Checkpoint: posejob.Checkpoint{Key: key, SHA256: sum[:], Frames: 30}}
}

var pass = names.VerdictOut{Verdict: names.VerdictPass, ResultKey: "work/an-test/1/1/result.json"}

func owners(n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprintf("worker-%d", i)
	}
	return out
}

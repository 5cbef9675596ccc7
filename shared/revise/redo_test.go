package revise_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"fastbowlinglab/shared/aitask"
	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/backfill"
	"fastbowlinglab/shared/batchrun"
	"fastbowlinglab/shared/dynamotest"
	"fastbowlinglab/shared/fault"
	"fastbowlinglab/shared/lease"
	"fastbowlinglab/shared/motion"
	"fastbowlinglab/shared/motion/tracktest"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/object/objecttest"
	"fastbowlinglab/shared/outbox"
	"fastbowlinglab/shared/pose"
	"fastbowlinglab/shared/posejob"
	"fastbowlinglab/shared/retry"
	"fastbowlinglab/shared/revise"
	"fastbowlinglab/shared/stamp"
)

const id = "an-x"

// world is a delivered analysis, and a run that redoes it.
type world struct {
	t      *testing.T
	server *dynamotest.Server
	db     *dynamodb.Client
	bucket *objecttest.Bucket
	redo   revise.Redo
	runs   batchrun.Store
	job    posejob.Job
	calls  map[aitask.Task]int
	busy   time.Time // the texts are being written elsewhere until then
	order  backfill.Order
}

// Revise implements revise.Texts: the same words, counted.
func (w *world) Revise(_ context.Context, run names.Run, task aitask.Task, revision string, in aitask.Input) (names.TextOut, error) {
	if !w.busy.IsZero() {
		return names.TextOut{State: names.EffectInProgress, Until: w.busy.UTC().Format(time.RFC3339)}, nil
	}
	if (task == aitask.Coaching) != (in.Findings != nil) {
		w.t.Errorf("%s with findings %v", task, in.Findings)
	}
	w.calls[task]++
	doc := aitask.Document{Version: aitask.DocumentVersion, Task: task, Author: aitask.Author{Provider: aitask.RulesProvider, Model: "rules", Version: "1"}}
	doc.Findings = &aitask.FindingsText{Summary: "s", Items: []aitask.Finding{{Title: "t", Detail: "d", Kind: aitask.Strength}}}
	key := names.TextKey(run.AnalysisID, run.Attempt, string(task)+"@"+revision)
	w.put(key, doc)
	return names.TextOut{State: names.EffectDone, Key: key}, nil
}

// Get implements revise.Jobs.
func (w *world) Get(context.Context, string) (posejob.Job, error) {
	if w.job.Checkpoints == nil {
		return posejob.Job{}, posejob.ErrNoJob
	}
	return w.job, nil
}

func (w *world) render(_ context.Context, in names.RenderIn) (names.RenderOut, error) {
	out := names.RenderOut{PDFKey: names.RevisionPDFKey(id, in.Attempt, in.Number, in.Revision), JSONKey: names.RevisionJSONKey(id, in.Attempt, in.Number, in.Revision)}
	w.put(out.PDFKey, in)
	w.put(out.JSONKey, in)
	return out, nil
}

func (w *world) put(key string, v any) {
	w.t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		w.t.Fatal(err)
	}
	w.bucket.Put(key, b)
}

func newWorld(t *testing.T, effect string) *world {
	s := dynamotest.Start(t)
	w := &world{t: t, server: s, db: s.Client(), bucket: objecttest.New(), calls: map[aitask.Task]int{}}
	w.wire(w.db, effect)
	row := analysis.Row{AnalysisID: id, AthleteID: "a", Status: analysis.Ready, Attempt: 1, Email: "a@example.com", Push: true,
		ResultKey: names.PoseResultKey(id, 1, 1), ReportPDF: "reports/p", ReportJSON: "reports/j", EndedAt: time.Now()}
	item, err := stamp.MarshalMap(row)
	if err == nil {
		_, err = w.db.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &names.Analyses.Name, Item: item})
	}
	if err != nil {
		t.Fatal(err)
	}
	run, err := w.runs.Begin(t.Context(), "run", effect, "{}")
	if err != nil {
		t.Fatal(err)
	}
	w.order = backfill.Order{AnalysisID: id, Version: "v2", Run: run}
	w.put(row.ResultKey, motion.Result{Version: motion.ResultVersion, Engine: "e", Model: "full", Clips: []motion.Clip{{Frames: 5}}})
	return w
}

func (w *world) wire(db *dynamodb.Client, effect string) {
	few := retry.Policy{Tries: 3, Base: time.Millisecond, Max: time.Millisecond}
	w.runs = batchrun.Store{DB: db, Table: names.Runs.Name, Leases: lease.Store{DB: db, Table: names.Effects.Name}, Retry: few}
	w.redo = revise.Redo{Get: analysis.Store{DB: db, Analyses: names.Analyses.Name}.Get, Texts: w, Render: w.render, Jobs: w,
		Publish: revise.Publisher{DB: db, Analyses: names.Analyses.Name, Notices: names.Notices.Name, Runs: w.runs, Retry: few},
		Files:   revise.Files{Objects: w.bucket, Bucket: "b", Retry: few}, Measure: effect == names.EffectMeasure}
}

func (w *world) row() analysis.Row {
	w.t.Helper()
	r, err := analysis.Get(w.t.Context(), w.db, names.Analyses.Name, id)
	if err != nil {
		w.t.Fatal(err)
	}
	return r
}

// notices counts the rows of the outbox.
func (w *world) notices() (n int) {
	w.t.Helper()
	out, err := w.db.Scan(w.t.Context(), &dynamodb.ScanInput{TableName: &names.Notices.Name})
	if err != nil {
		w.t.Fatal(err)
	}
	for _, it := range out.Items {
		if got, err := outbox.Decode(it); err != nil || got.Kind != "revised-1" || got.State != outbox.Owed {
			w.t.Errorf("notice %+v, %v", got, err)
		}
	}
	return len(out.Items)
}

// keypoints stores the track of a rendered clip in two chunks, and gives what it
// measures.
func (w *world) keypoints() motion.Clip {
	w.t.Helper()
	track := tracktest.Read(w.t, filepath.Join("..", "motion", "testdata", "bowler.full.json.gz"))
	w.job.Checkpoints = map[string]posejob.Checkpoint{}
	most := len(track.Frames) * 9 / 10 // the delivery is over
	for i, frames := range [][]pose.Frame{track.Frames[:most], track.Frames[most:]} {
		c := pose.Chunk{Index: i, Width: track.Width, Height: track.Height, Frames: frames, Last: i == 1}
		b, err := posejob.Pack(c)
		if err != nil {
			w.t.Fatal(err)
		}
		sum := sha256.Sum256(b)
		key := names.ChunkKey(id, 1, 1, 0, i)
		w.bucket.Put(key, b)
		w.job.Checkpoints[posejob.CheckpointID(0, i)] = posejob.Checkpoint{Key: key, SHA256: sum[:], Frames: len(frames), Last: c.Last}
	}
	return motion.Analyse(0, track)
}

func TestReportAgainIsOneRevision(t *testing.T) {
	w := newWorld(t, names.EffectReport)
	w.order.Notice, w.order.Changed = true, "New words."
	first, err := w.redo.Do(t.Context(), w.order)
	if err != nil {
		t.Fatal(err)
	}
	again, err := w.redo.Do(t.Context(), w.order)
	if err != nil || again != first || first.Hash == "" {
		t.Errorf("again: %+v, %v; was %+v", again, err, first)
	}
	row := w.row()
	if len(row.Revisions) != 1 || row.ReportPDF != "reports/p" || w.calls[aitask.Findings] != 1 || w.calls[aitask.Coaching] != 1 {
		t.Errorf("%+v, calls %v", row, w.calls)
	}
	v := row.Revisions[0]
	if v.Number != 1 || v.Name != "report-v2" || v.Changed != "New words." || v.ResultKey != row.ResultKey || v.By != "run" || v.At.IsZero() || row.Newest() != v {
		t.Errorf("revision %+v", v)
	}
	if n := w.notices(); n != 2 {
		t.Errorf("%d notices, want one by mail and one for the app", n)
	}
	w.order.Version, w.order.Notice = "v3", false
	if _, err := w.redo.Do(t.Context(), w.order); err != nil || len(w.row().Revisions) != 2 || w.notices() != 2 {
		t.Errorf("another version: %v, %+v", err, w.row().Revisions)
	}
}

func TestALostAnswerIsReadFromTheRow(t *testing.T) {
	w := newWorld(t, names.EffectReport)
	w.order.Notice = true
	w.wire(w.server.Faulty(&dynamotest.Faults{Next: dynamotest.First(1, "TransactWriteItems", dynamotest.Lost)}), names.EffectReport)
	if _, err := w.redo.Do(t.Context(), w.order); err != nil || len(w.row().Revisions) != 1 || w.notices() != 2 {
		t.Errorf("%v, %+v", err, w.row().Revisions)
	}
}

// TestATwinIsShownTheRevision: whoever adds the same one later gets the one that
// stands, with its number.
func TestATwinIsShownTheRevision(t *testing.T) {
	w := newWorld(t, names.EffectReport)
	row := w.row()
	for i := range 2 {
		v := analysis.Revision{Number: 1, Name: "report-v2", ReportPDF: []string{"one", "two"}[i]}
		if got, err := w.redo.Publish.Add(t.Context(), row, v, w.order); err != nil || got.ReportPDF != "one" {
			t.Errorf("time %d: %+v, %v", i+1, got, err)
		}
	}
	if n := len(w.row().Revisions); n != 1 {
		t.Errorf("%d revisions, want 1", n)
	}
}

func TestARunThatHasEndedAddsNothing(t *testing.T) {
	w := newWorld(t, names.EffectReport)
	if _, err := w.runs.End(t.Context(), w.order.Run, "stopped", time.Time{}); err != nil {
		t.Fatal(err)
	}
	_, err := w.redo.Do(t.Context(), w.order)
	if fault.NameOf(err) != fault.Conceded || len(w.row().Revisions) != 0 {
		t.Errorf("%v, %+v", err, w.row().Revisions)
	}
}

// TestWhoIsForgottenGetsNoRevision: of an analysis whose row was scrubbed no report is
// made any more and no model is called; nor is one added that was being made then.
func TestWhoIsForgottenGetsNoRevision(t *testing.T) {
	w := newWorld(t, names.EffectReport)
	w.order.Notice = true
	before := w.row()
	if err := (analysis.Store{DB: w.db, Analyses: names.Analyses.Name}).Scrub(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	objects := len(w.bucket.All())
	if _, err := w.redo.Do(t.Context(), w.order); fault.NameOf(err) != fault.Permanent || len(w.calls) != 0 || len(w.bucket.All()) != objects {
		t.Errorf("%v, calls %v, %d new objects", err, w.calls, len(w.bucket.All())-objects)
	}
	v := analysis.Revision{Number: 1, Name: "report-v2", ReportPDF: "one"}
	if _, err := w.redo.Publish.Add(t.Context(), before, v, w.order); fault.NameOf(err) != fault.Permanent || len(w.row().Revisions) != 0 || w.notices() != 0 {
		t.Errorf("%v, %+v", err, w.row().Revisions)
	}
}

func TestWhatMayBeAskedForAgain(t *testing.T) {
	w := newWorld(t, names.EffectReport)
	short, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	if _, err := w.redo.Do(short, w.order); !errors.Is(err, backfill.ErrNotSent) || w.calls[aitask.Findings] != 0 {
		t.Errorf("with too little time: %v, calls %v", err, w.calls)
	}
	w.busy = time.Now().Add(time.Minute)
	if _, err := w.redo.Do(t.Context(), w.order); !errors.Is(err, backfill.ErrNotSent) {
		t.Errorf("while another writes: %v", err)
	}
	w.busy = time.Time{}
	get := w.redo.Get
	w.redo.Get = func(ctx context.Context, id string) (analysis.Row, error) {
		r, err := get(ctx, id)
		r.Revisions = nil // as it was before another revision was added
		return r, err
	}
	if _, err := w.redo.Do(t.Context(), w.order); err != nil {
		t.Fatal(err)
	}
	w.order.Version = "v3"
	if _, err := w.redo.Do(t.Context(), w.order); !errors.Is(err, backfill.ErrNotSent) || len(w.row().Revisions) != 1 {
		t.Errorf("a number that another took: %v, %+v", err, w.row().Revisions)
	}
}

func TestMeasureAgain(t *testing.T) {
	w := newWorld(t, names.EffectMeasure)
	clip := w.keypoints()
	for i := range clip.Phases {
		clip.Phases[i].FrameKey = names.FrameKey(id, 1, 1, 0, string(clip.Phases[i].Name))
	}
	result := motion.Result{Version: motion.ResultVersion, Engine: "e", Model: "full", Clips: []motion.Clip{clip}}
	key := names.PoseResultKey(id, 1, 1)
	w.put(key, result)
	made, err := w.redo.Do(t.Context(), w.order)
	if err != nil || made.Key != key || len(w.row().Revisions) != 0 || len(w.calls) != 0 {
		t.Fatalf("measured the same: %+v, %v, calls %v", made, err, w.calls)
	}
	older := result
	older.Clips = []motion.Clip{clip}
	older.Clips[0].Phases = append([]motion.Phase{}, clip.Phases...)
	older.Clips[0].Phases[0].Frame += 7 // an older release saw this phase elsewhere
	w.put(key, older)
	w.order.Version = "v3"
	if _, err := w.redo.Do(t.Context(), w.order); err != nil {
		t.Fatal(err)
	}
	v := w.row().Newest()
	if v.Number != 1 || v.ResultKey != names.RevisedResultKey(id, 1, "measure-v3") {
		t.Fatalf("revision %+v", v)
	}
	now, err := motion.ReadResult(bytes.NewReader(w.bucket.Get(v.ResultKey)))
	if err != nil || now.Engine != "e" || now.Clips[0].Phases[0].FrameKey != "" || now.Clips[0].Phases[1].FrameKey != clip.Phases[1].FrameKey {
		t.Errorf("%v: a picture belongs to the frame that it was taken of: %+v", err, now.Clips[0].Phases)
	}
}

func TestMeasureNeedsEveryKeypoint(t *testing.T) {
	for name, spoil := range map[string]func(*world){
		"gone":       func(w *world) { w.bucket.Put(names.ChunkKey(id, 1, 1, 0, 1), nil) },
		"another's":  func(w *world) { w.bucket.Put(names.ChunkKey(id, 1, 1, 0, 1), []byte("x")) },
		"no job":     func(w *world) { w.job.Checkpoints = nil },
		"not to end": func(w *world) { delete(w.job.Checkpoints, posejob.CheckpointID(0, 1)) },
		"no result":  func(w *world) { w.bucket.Put(names.PoseResultKey(id, 1, 1), nil) },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, names.EffectMeasure)
			w.keypoints()
			spoil(w)
			if made, err := w.redo.Do(t.Context(), w.order); fault.NameOf(err) != fault.Permanent || len(w.row().Revisions) != 0 {
				t.Errorf("%+v, %v", made, err)
			}
		})
	}
}

func TestRevisionsAreOfDeliveredReports(t *testing.T) {
	for name, spoil := range map[string]func(*analysis.Row){
		"failed":     func(r *analysis.Row) { r.Status = analysis.Failed },
		"no result":  func(r *analysis.Row) { r.ResultKey = "" },
		"another's":  func(r *analysis.Row) { r.ResultKey = names.PoseResultKey("an-other", 1, 1) },
		"too many":   func(r *analysis.Row) { r.Revisions = make([]analysis.Revision, names.MaxRevisions) },
		"not there":  nil,
		"not stored": func(r *analysis.Row) { r.ResultKey = names.PoseResultKey(id, 1, 9) },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, names.EffectReport)
			get := w.redo.Get
			w.redo.Get = func(ctx context.Context, id string) (analysis.Row, error) {
				if spoil == nil {
					return analysis.Row{}, analysis.ErrNotFound
				}
				r, err := get(ctx, id)
				spoil(&r)
				return r, err
			}
			if _, err := w.redo.Do(t.Context(), w.order); fault.NameOf(err) != fault.Permanent || errors.Is(err, backfill.ErrNotSent) || len(w.calls) != 0 {
				t.Errorf("%v, calls %v", err, w.calls)
			}
		})
	}
}

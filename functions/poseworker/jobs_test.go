package poseworker

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"fastbowlinglab/functions/internal/posetest"
	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/callback"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/posejob"
)

// post posts a job to a worker.
func post(t *testing.T, w *running, body string) (int, names.PoseJobOut, http.Header) {
	t.Helper()
	rec := httptest.NewRecorder()
	w.Handler().ServeHTTP(rec, httptest.NewRequest(http.MethodPost, names.JobsPath, strings.NewReader(body)))
	var out names.PoseJobOut
	if err := json.Unmarshal(rec.Body.Bytes(), &out); err != nil {
		t.Fatalf("%d %s: %v", rec.Code, rec.Body, err)
	}
	return rec.Code, out, rec.Header()
}

func idBody(id string) string { return `{"analysis_id":"` + id + `"}` }

// enqueue registers a job without a token: nobody waits for its claim.
func enqueue(t *testing.T, w *posetest.World) {
	t.Helper()
	if _, err := w.Jobs.Enqueue(t.Context(), names.TokenIn{Run: w.Run}); err != nil {
		t.Fatal(err)
	}
}

func TestPostedJob(t *testing.T) {
	w := posetest.New(t, 1)
	g := newGate()
	d := depsFor(w, w.DB, &sight{chunks: 2, before: at(1, g.wait)})
	d.Passes = 1
	r := start(t, d)
	if code, out, _ := post(t, r, idBody(w.Run.AnalysisID)); code != 404 || out.State != jobUnknown {
		t.Errorf("without a row: %d %+v", code, out)
	}
	enqueue(t, w)
	if code, out, _ := post(t, r, idBody(w.Run.AnalysisID)); code != 202 || out.State != jobClaimed || out.Fence != 1 {
		t.Fatalf("%d %+v", code, out)
	}
	<-g.at
	// The one slot is taken, whichever road asks.
	if code, out, h := post(t, r, idBody(w.Run.AnalysisID)); code != 429 || out.State != jobFull || h.Get("Retry-After") == "" {
		t.Errorf("full: %d %+v %v", code, out, h)
	}
	other := depsFor(w, w.DB, &sight{chunks: 2})
	two := start(t, other)
	code, out, h := post(t, two, idBody(w.Run.AnalysisID))
	until, err := time.Parse(time.RFC3339, out.Until)
	if code != 409 || out.State != jobHeld || err != nil || until.Before(time.Now()) || h.Get("Retry-After") == "" {
		t.Errorf("running elsewhere: %d %+v %v", code, out, h)
	}
	token2 := w.Await(w.Run)
	close(g.open)
	waitState(t, w, posejob.Done)
	waitFor(t, "token 2 answered", func() bool { return w.Tokens.Get(token2).Closed })
	if code, out, _ := post(t, two, idBody(w.Run.AnalysisID)); code != 200 || out.State != jobFinished {
		t.Errorf("finished before: %d %+v", code, out)
	}
	for _, bad := range []string{"", "{}", `{"analysis_id":1}`, `{"analysis_id":"x","more":1}`, idBody(strings.Repeat("x", 2000))} {
		if code, _, _ := post(t, two, bad); code != 400 {
			t.Errorf("%.40q: %d, want 400", bad, code)
		}
	}
	two.term()
	<-two.done
	if code, out, _ := post(t, two, idBody(w.Run.AnalysisID)); code != 503 || out.State != jobStopping {
		t.Errorf("leaving: %d %+v", code, out)
	}
}

func TestPostedJobOfAnEndedAnalysis(t *testing.T) {
	w := posetest.New(t, 1)
	enqueue(t, w)
	w.Analysis(w.Run, analysis.Failed, 1)
	r := start(t, depsFor(w, w.DB, &sight{chunks: 1}))
	if code, out, _ := post(t, r, idBody(w.Run.AnalysisID)); code != 410 || out.State != jobEnded {
		t.Errorf("%d %+v", code, out)
	}
}

// One semaphore: with a message in the queue and posts coming, a worker of one
// slot never runs two passes.
func TestBothRoadsShareTheSlots(t *testing.T) {
	w := posetest.New(t, 1)
	s := &sight{chunks: 3, before: func(ctx context.Context, _ int) error { sleep(ctx, 5*time.Millisecond); return ctx.Err() }}
	d := depsFor(w, w.DB, s)
	d.Passes = 1
	r := start(t, d)
	mine := w.Run
	for i := range 12 {
		run := names.Run{AnalysisID: mine.AnalysisID + strconv.Itoa(i), Attempt: 1}
		w.Analysis(run, analysis.Analysing, 1)
		w.Run = run
		if i%2 == 0 {
			w.Dispatch(run)
			continue
		}
		enqueue(t, w)
		posetest.Eventually(t, 30*time.Second, "a free slot for a posted job", func() bool {
			code, _, _ := post(t, r, idBody(run.AnalysisID))
			return code == 202
		})
	}
	for i := range 12 {
		w.Run.AnalysisID = mine.AnalysisID + strconv.Itoa(i)
		posetest.Eventually(t, 30*time.Second, "job "+strconv.Itoa(i), func() bool { w.Queue.Show(); return w.Job().State == posejob.Done })
	}
	if peak := s.peak.Load(); peak != 1 {
		t.Errorf("%d passes at once in one slot", peak)
	}
}

// A pass that failed on the HTTP road has no message that brings it back: the run
// is told, and dispatches anew.
func TestPostedJobThatFailsIsReleased(t *testing.T) {
	w := posetest.New(t, 1)
	enqueue(t, w)
	fail := errors.New("no luck")
	g := newGate()
	r := start(t, depsFor(w, w.DB, &sight{chunks: 1, before: func(ctx context.Context, _ int) error { return errors.Join(g.wait(ctx), fail) }}))
	if code, out, _ := post(t, r, idBody(w.Run.AnalysisID)); code != 202 {
		t.Fatalf("%d %+v", code, out)
	}
	<-g.at
	token2 := w.Await(w.Run)
	close(g.open)
	waitFor(t, "token 2 answered", func() bool { return w.Tokens.Get(token2).Closed })
	if got := w.Tokens.Get(token2); got.Error != "Released" {
		t.Errorf("token 2: %+v, want Released", got)
	}
	if j := w.Job(); j.State != posejob.Waiting || j.Deaths != 1 {
		t.Errorf("job %s, %d deaths", j.State, j.Deaths)
	}
}

type keys struct{}

func (keys) Keys(context.Context) ([][]byte, error) { return [][]byte{[]byte("0123456789abcdef")}, nil }

// The callback is tried a bounded number of times; each bears the same id and a
// signature that fits. Where none is heard the worker completes the job itself.
func TestCallback(t *testing.T) {
	for _, c := range []struct {
		name  string
		fails int32 // answers 503 so often
		tries int32
	}{{"Heard", 0, 1}, {"HeardAtLast", 2, 3}, {"NeverHeard", 100, callbackTries}} {
		t.Run(c.name, func(t *testing.T) {
			w := posetest.New(t, 1)
			enqueue(t, w)
			var tries atomic.Int32
			api := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
				var in names.PoseCallback
				body, err := io.ReadAll(r.Body)
				if err != nil {
					t.Error(err)
				}
				m, err := callback.Verify(callback.Request{Headers: r.Header, Body: body}, [][]byte{[]byte("0123456789abcdef")}, time.Now())
				if err != nil || m.ID != w.Run.AnalysisID+"-1-1" || r.URL.Path != names.PoseCallbackPath {
					t.Errorf("message %q at %s: %v", m.ID, r.URL.Path, err)
				}
				if tries.Add(1) <= c.fails {
					rw.WriteHeader(503)
					return
				}
				if err := json.Unmarshal(body, &in); err != nil {
					t.Error(err)
				}
				if _, err := w.Jobs.Complete(r.Context(), posejob.Lease{AnalysisID: in.AnalysisID, Attempt: in.Attempt, Fence: in.Fence}, in.Result); err != nil {
					t.Error(err)
				}
			}))
			t.Cleanup(api.Close)
			d := depsFor(w, w.DB, &sight{chunks: 1})
			d.Jobs.Lease, d.Keeper.Jobs.Lease = time.Minute, time.Minute
			d.Callback = SignedCallback{URL: api.URL, Client: &http.Client{}, Keys: keys{}}
			r := start(t, d)
			if code, out, _ := post(t, r, idBody(w.Run.AnalysisID)); code != 202 {
				t.Fatalf("%d %+v", code, out)
			}
			posetest.Eventually(t, 60*time.Second, "done", func() bool { return w.Job().State == posejob.Done })
			if n := tries.Load(); n != c.tries {
				t.Errorf("%d tries, want %d", n, c.tries)
			}
		})
	}
}

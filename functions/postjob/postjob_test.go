package postjob_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/lambda/messages"

	"fastbowlinglab/functions/internal/posetest"
	"fastbowlinglab/functions/postjob"
	"fastbowlinglab/functions/probe"
	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/posejob"
	"fastbowlinglab/shared/retry"
	"fastbowlinglab/shared/stamp"
)

var now = time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)

// workers answers every post with one status, once so many of them were full.
type workers struct {
	full   int
	status int
	body   string
	header map[string]string
	posts  int
}

func (s *workers) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.posts++
	for k, v := range s.header {
		w.Header().Set(k, v)
	}
	if s.posts <= s.full {
		w.WriteHeader(http.StatusTooManyRequests)
		return
	}
	w.WriteHeader(s.status)
	_, _ = w.Write([]byte(s.body))
}

func call(t *testing.T, w *posetest.World, s *workers, in names.PostIn) (out names.DispatchOut, errType string) {
	t.Helper()
	srv := httptest.NewServer(s)
	defer srv.Close()
	payload, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	fn := postjob.New(postjob.Deps{Jobs: w.Jobs, Client: srv.Client(), URL: srv.URL, Now: func() time.Time { return now }})
	b, err := fn.Invoke(t.Context(), payload)
	var e messages.InvokeResponse_Error
	if errors.As(err, &e) {
		return out, e.Type
	}
	if err == nil {
		err = json.Unmarshal(b, &out)
	}
	if err != nil {
		t.Fatal(err)
	}
	return out, ""
}

func TestMain(m *testing.M) {
	retry.DefaultRand = func() float64 { return 0 } // waits are as long as they are at least
	os.Exit(m.Run())
}

func TestAnswers(t *testing.T) {
	waits := func(d time.Duration) names.DispatchOut {
		return names.DispatchOut{State: names.DispatchWaiting, Until: stamp.Format(now.Add(d))}
	}
	for name, c := range map[string]struct {
		s    workers
		want names.DispatchOut
		err  string
	}{
		"Claimed":     {workers{status: 202, body: `{"state":"claimed","fence":1}`}, names.DispatchOut{State: names.DispatchOwned}, ""},
		"Finished":    {workers{status: 200, body: `{"state":"finished"}`}, names.DispatchOut{State: names.DispatchOwned}, ""},
		"Full":        {workers{status: 429, header: map[string]string{"Retry-After": "15"}}, waits(15 * time.Second), ""},
		"Elsewhere":   {workers{status: 409, body: `{"state":"held","until":"2026-03-01T09:00:40.000Z"}`}, waits(40 * time.Second), ""},
		"FarAway":     {workers{status: 409, body: `{"state":"held","until":"2027-03-01T09:00:40.000Z"}`}, waits(names.QueueVisibility), ""},
		"Ended":       {workers{status: 410}, names.DispatchOut{}, "Conceded"},
		"Balancer504": {workers{status: 504, body: "<html>"}, waits(5 * time.Second), ""},
		"Balancer503": {workers{status: 503, body: "<html>"}, waits(5 * time.Second), ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := posetest.New(t, 1)
			if out, e := call(t, w, &c.s, names.PostIn{RoundIn: names.RoundIn{Run: w.Run}}); out != c.want || e != c.err {
				t.Errorf("%+v %s, want %+v %s", out, e, c.want, c.err)
			}
			if j := w.Job(); j.State != posejob.Waiting || j.Token1 != "" {
				t.Errorf("the row before the post: %+v", j)
			}
		})
	}
}

// A job does not wait while one of the workers is idle, however many others the balancer
// has asked first; and where all are full each is asked once.
func TestAFreeWorkerIsFound(t *testing.T) {
	for _, c := range []struct {
		full, posts int
		want        string
	}{{0, 1, names.DispatchOwned}, {names.MaxWorkers - 1, names.MaxWorkers, names.DispatchOwned}, {99, names.MaxWorkers, names.DispatchWaiting}} {
		s := &workers{full: c.full, status: 202, body: `{"state":"claimed","fence":1}`}
		w := posetest.New(t, 1)
		if out, _ := call(t, w, s, names.PostIn{RoundIn: names.RoundIn{Run: w.Run}}); out.State != c.want || s.posts != c.posts {
			t.Errorf("%d of the workers full: %+v after %d posts, want %s after %d", c.full, out, s.posts, c.want, c.posts)
		}
	}
	// Where the function's time ends, asking does.
	w, s := posetest.New(t, 1), &workers{full: 99}
	srv := httptest.NewServer(s)
	defer srv.Close()
	payload, _ := json.Marshal(names.PostIn{RoundIn: names.RoundIn{Run: w.Run}}) // a plain struct
	ctx, cancel := context.WithTimeout(t.Context(), 2*names.PoseCallTimeout-time.Second)
	defer cancel()
	if _, err := postjob.New(postjob.Deps{Jobs: w.Jobs, Client: srv.Client(), URL: srv.URL}).Invoke(ctx, payload); err != nil || s.posts != 1 {
		t.Errorf("%d posts, %v; want 1", s.posts, err)
	}
}

// A worker that leaves, as in a deploy, has the next one asked; one that cannot tell, or a
// balancer without any, does not.
func TestALeavingWorkerIsPassedBy(t *testing.T) {
	for body, posts := range map[string]int{`{"state":"stopping"}`: names.MaxWorkers, `{"state":"error"}`: 1, "<html>": 1} {
		s, w := &workers{status: 503, body: body}, posetest.New(t, 1)
		if out, _ := call(t, w, s, names.PostIn{RoundIn: names.RoundIn{Run: w.Run}}); out.State != names.DispatchWaiting || s.posts != posts {
			t.Errorf("%s: %+v after %d posts, want %d", body, out, s.posts, posts)
		}
	}
}

// The row answers before any worker is asked: a post whose 202 was lost, a job
// that is done.
func TestTheRowAnswersFirst(t *testing.T) {
	w := posetest.New(t, 1)
	in := names.PostIn{RoundIn: names.RoundIn{Run: w.Run}, Entered: "2026-03-01T09:00:00.000Z"}
	call(t, w, &workers{status: 429}, in)
	job, err := w.Jobs.Claim(t.Context(), w.Run.AnalysisID, posejob.Claimant{Name: "w", Engine: "e", Model: "m"})
	if err != nil {
		t.Fatal(err)
	}
	s := &workers{status: 500}
	if out, _ := call(t, w, s, in); out.State != names.DispatchOwned || s.posts != 0 {
		t.Errorf("owned: %+v after %d posts", out, s.posts)
	}
	if _, err := w.Jobs.Complete(t.Context(), job.Lease(), names.VerdictOut{Verdict: names.VerdictReject, Reason: "no_person"}); err != nil {
		t.Fatal(err)
	}
	if out, _ := call(t, w, s, in); out.State != names.DispatchOwned || s.posts != 0 {
		t.Errorf("done: %+v after %d posts", out, s.posts)
	}
	w.Analysis(w.Run, analysis.Failed, 1)
	if _, e := call(t, w, s, in); e != "Conceded" {
		t.Errorf("ended: %q", e)
	}
	if _, e := call(t, w, s, names.PostIn{}); e != "Permanent" {
		t.Errorf("no id: %q", e)
	}
}

// Field case 6: a worker that takes the job and answers later than the caller waits
// is asked once; whether it took the job is read from the row.
func TestAWorkerThatAnswersTooLate(t *testing.T) {
	w := posetest.New(t, 1)
	hits, give := make(chan error, 9), make(chan struct{})
	srv := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, _ *http.Request) {
		_, err := w.Jobs.Claim(context.Background(), w.Run.AnalysisID, posejob.Claimant{Name: "w", Engine: "e", Model: "m"})
		hits <- err
		<-give
	}))
	defer srv.Close()
	defer close(give)
	client := srv.Client()
	client.Transport.(*http.Transport).ResponseHeaderTimeout = 20 * time.Millisecond
	fn := postjob.New(postjob.Deps{Jobs: w.Jobs, Client: client, URL: srv.URL})
	post := func() (out names.DispatchOut) {
		payload, _ := json.Marshal(names.PostIn{RoundIn: names.RoundIn{Run: w.Run}}) // a plain struct
		b, err := fn.Invoke(t.Context(), payload)
		if err != nil || json.Unmarshal(b, &out) != nil {
			t.Fatalf("%s, %v", b, err)
		}
		return out
	}
	if out := post(); out.State != names.DispatchWaiting {
		t.Errorf("no answer in time: %+v", out)
	}
	if err := <-hits; err != nil {
		t.Fatal(err)
	}
	if out := post(); out.State != names.DispatchOwned {
		t.Errorf("the next round: %+v", out)
	}
	if len(hits) != 0 {
		t.Errorf("the worker was asked %d times more", len(hits))
	}
}

func TestProbe(t *testing.T) {
	for name, c := range map[string]struct {
		status int
		want   string
	}{"Ready": {200, names.DispatchReady}, "Stopping": {503, names.DispatchWaiting}, "Balancer": {504, names.DispatchWaiting}, "Nobody": {0, names.DispatchWaiting}} {
		t.Run(name, func(t *testing.T) {
			srv := httptest.NewServer(&workers{status: max(c.status, 200)})
			url := srv.URL
			if c.status == 0 {
				srv.Close()
			} else {
				defer srv.Close()
			}
			fn := probe.New(probe.Deps{Client: &http.Client{}, URL: url, Now: func() time.Time { return now }})
			b, err := fn.Invoke(t.Context(), []byte(`{"analysis_id":"an-1","attempt":1,"round":30}`))
			var out names.DispatchOut
			if err = errors.Join(err, json.Unmarshal(b, &out)); err != nil || out.State != c.want {
				t.Errorf("%s, %v; want %s", b, err, c.want)
			}
			if c.want == names.DispatchWaiting && out.Until <= stamp.Format(now.Add(4*time.Minute)) {
				t.Errorf("round 30 waits until %s only", out.Until)
			}
		})
	}
}

package poseworker

import (
	"context"
	"strings"
	"testing"
	"time"

	"fastbowlinglab/functions/internal/posetest"
	"fastbowlinglab/shared/media"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/posejob"
	"fastbowlinglab/shared/reason"
)

func TestOnePass(t *testing.T) {
	w := posetest.New(t, 2)
	token1 := w.Dispatch(w.Run)
	g := newGate()
	s := &sight{chunks: 3, before: func(ctx context.Context, n int) error { return g.wait(ctx) }}
	start(t, depsFor(w, w.DB, s))
	<-g.at
	waitFor(t, "token 1 answered", func() bool { return w.Tokens.Get(token1).Closed })
	if got := w.Tokens.Get(token1).Output; got != `{"claimed":true,"fence":1}` {
		t.Errorf("token 1: %s", got)
	}
	token2 := w.Await(w.Run)
	waitFor(t, "a heartbeat", func() bool { return w.Tokens.Get(token2).Heartbeats > 0 })
	close(g.open)

	job := waitState(t, w, posejob.Done)
	waitFor(t, "token 2 answered", func() bool { return w.Tokens.Get(token2).Closed })
	if got := w.Tokens.Get(token2).Output; got != passOutput(names.PoseResultKey(w.Run.AnalysisID, 1, 1)) {
		t.Errorf("token 2: %s", got)
	}
	waitFor(t, "message deleted", func() bool { w.Queue.Show(); return w.Queue.Len() == 0 })
	if job.Redone != 0 || job.Progress.Fraction != 1 || len(job.Checkpoints) != 6 {
		t.Errorf("job: %+v", job)
	}
	r := result(t, w, job)
	if r.Engine != "engine 1" || r.Model != "full" || len(r.Clips) != 2 || r.Clips[1].Frames != 30 || r.Clips[1].Index != 1 {
		t.Errorf("result: %+v", r)
	}
	for _, c := range r.Clips {
		for _, ph := range c.Phases {
			if body := w.Objects.All()[ph.FrameKey]; !strings.HasPrefix(string(body), "jpeg") {
				t.Errorf("clip %d %s: key frame %q holds %q", c.Index, ph.Name, ph.FrameKey, body)
			}
		}
	}
	for key := range w.Objects.All() {
		if !strings.HasPrefix(key, names.WorkPrefix(w.Run.AnalysisID, 1, 1)) {
			t.Errorf("object %s is not under the fence", key)
		}
	}
}

func TestVerdict(t *testing.T) {
	for _, c := range []struct {
		name   string
		clips  int
		sight  *sight
		want   string
		reason reason.Code
	}{
		{"OneOfTwoRefused", 2, &sight{refuse: map[int]reason.Code{0: reason.MediaCut}}, names.VerdictPass, ""},
		{"TheOnlyOneRefused", 1, &sight{refuse: map[int]reason.Code{0: reason.MediaNotVideo}}, names.VerdictReject, reason.MediaNotVideo},
		{"TheMostTellingRefusal", 3, &sight{refuse: map[int]reason.Code{0: reason.MediaCut},
			reject: map[int]reason.Code{1: reason.NotBowling, 2: reason.NoPerson}}, names.VerdictReject, reason.NotBowling},
		{"TooLittleBowlerSaysMost", 2, &sight{reject: map[int]reason.Code{0: reason.NotBowling, 1: reason.TooLittleBowler}},
			names.VerdictReject, reason.TooLittleBowler},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := posetest.New(t, c.clips)
			w.Dispatch(w.Run)
			c.sight.chunks = 1
			start(t, depsFor(w, w.DB, c.sight))
			job := waitState(t, w, posejob.Done)
			if job.Result.Verdict != c.want || job.Result.Reason != string(c.reason) {
				t.Errorf("verdict %+v", job.Result)
			}
			if c.want == names.VerdictPass {
				if r := result(t, w, job); r.Clips[0].Refused != reason.MediaCut || r.Clips[1].Refused != "" {
					t.Errorf("clips: %+v", r.Clips)
				}
			}
		})
	}
}

func TestAMissingPictureIsAWarning(t *testing.T) {
	w := posetest.New(t, 1)
	w.Dispatch(w.Run)
	s := &sight{chunks: 1, stillOf: func(at float64) error {
		if at == 0.5 {
			return &media.Refusal{Code: reason.MediaUnreadable}
		}
		return nil
	}}
	start(t, depsFor(w, w.DB, s))
	c := result(t, w, waitState(t, w, posejob.Done)).Clips[0]
	if len(c.Warnings) != 1 || c.Phases[0].FrameKey != "" || c.Phases[1].FrameKey == "" {
		t.Errorf("clip: %+v", c)
	}
}

func TestTwoWorkersOneJob(t *testing.T) {
	w := posetest.New(t, 1)
	w.Dispatch(w.Run)
	w.Queue.Send(w.Run.AnalysisID) // a duplicate of the claim check
	g := newGate()
	s := &sight{chunks: 4, before: func(ctx context.Context, n int) error {
		if n == 2 {
			return g.wait(ctx)
		}
		return nil
	}}
	start(t, depsFor(w, w.DB, s))
	start(t, depsFor(w, w.DB, s))
	<-g.at
	waitFor(t, "the duplicate dropped", func() bool { return w.Queue.Len() == 1 })
	w.Queue.Show() // and the owner's own message delivered again
	waitFor(t, "it hidden until the lease's end", func() bool { return w.Queue.Visible() == 0 })
	close(g.open)
	job := waitState(t, w, posejob.Done)
	if most, total := s.most(); most != 1 || total != 4 || job.Fence != 1 {
		t.Errorf("chunks computed at most %d times, %d in all; fence %d", most, total, job.Fence)
	}
	w.Queue.Show()
	waitFor(t, "queue empty", func() bool { w.Queue.Show(); return w.Queue.Len() == 0 })
	if d := w.Queue.Dead(); len(d) != 0 {
		t.Errorf("dead letters: %q", d)
	}
}

// A job longer than its message's visibility is received once (field case 15).
func TestLongJobKeepsItsMessageHidden(t *testing.T) {
	w := posetest.New(t, 1)
	w.Dispatch(w.Run)
	g := newGate()
	d := depsFor(w, w.DB, &sight{chunks: 2, before: at(1, g.wait)})
	d.Timers.Visibility = time.Second
	start(t, d)
	start(t, d)
	<-g.at
	time.AfterFunc(2500*time.Millisecond, func() { close(g.open) })
	waitFor(t, "done", func() bool {
		if _, n := w.Queue.Hidden("m1"); n > 1 {
			t.Fatalf("received %d times", n)
		}
		return w.Job().State == posejob.Done
	})
}

func TestNeverMorePassesThanSlots(t *testing.T) {
	w := posetest.New(t, 1)
	s := &sight{chunks: 4, before: func(context.Context, int) error { return nil }}
	var runs []names.Run
	for i := range 8 {
		run := names.Run{AnalysisID: w.Run.AnalysisID + string(rune('a'+i)), Attempt: 1}
		w.Analysis(run, "analysing", 1)
		w.Dispatch(run)
		runs = append(runs, run)
	}
	start(t, depsFor(w, w.DB, s))
	waitFor(t, "all done", func() bool { w.Queue.Show(); return w.Queue.Len() == 0 })
	for _, run := range runs {
		if j, err := w.Jobs.Get(t.Context(), run.AnalysisID); err != nil || j.State != posejob.Done {
			t.Errorf("%s: %s, %v", run.AnalysisID, j.State, err)
		}
	}
	if p := s.peak.Load(); p > 2 {
		t.Errorf("%d passes at once on 2 slots", p)
	}
}

func TestAForeignMessageIsDropped(t *testing.T) {
	w := posetest.New(t, 1)
	w.Queue.Send("an-unknown")
	w.Queue.Send("")
	w.Queue.Send(strings.Repeat("x", 5000))
	start(t, depsFor(w, w.DB, &sight{chunks: 1}))
	waitFor(t, "queue empty", func() bool { w.Queue.Show(); return w.Queue.Len() == 0 })
}

func TestTheQueueComesBack(t *testing.T) {
	w := posetest.New(t, 1)
	down := make(chan struct{})
	w.Queue.Fail(func(string) error {
		select {
		case <-down:
			return nil
		default:
			return context.DeadlineExceeded
		}
	})
	start(t, depsFor(w, w.DB, &sight{chunks: 1}))
	close(down)
	w.Queue.Fail(nil)
	w.Dispatch(w.Run)
	waitState(t, w, posejob.Done)
}

func TestSlots(t *testing.T) {
	s := newSlots(2)
	first, second, third := s.TryAcquire(), s.TryAcquire(), s.TryAcquire()
	if !first || !second || third {
		t.Fatal("two slots hold two")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if s.WaitFree(ctx) {
		t.Error("no slot is free")
	}
	freed := make(chan bool)
	go func() { freed <- s.WaitFree(t.Context()) }()
	s.Release()
	if !<-freed || s.Busy() != 1 {
		t.Errorf("a slot was freed; %d busy", s.Busy())
	}
	s.Release()
	defer func() {
		if recover() == nil {
			t.Error("releasing too often must be seen")
		}
	}()
	s.Release()
}

// The clips of an analysis are together what the worker's model ends in time; one that
// takes them over is refused before it is worked on.
func TestFramesOfAllClipsAreBounded(t *testing.T) {
	for _, model := range []string{"full", "heavy"} {
		t.Run(model, func(t *testing.T) {
			fit := min(names.MaxFrames, int(names.PassTime/names.PassTakes(model)(1, 640*360)))
			w := posetest.New(t, 3)
			w.Dispatch(w.Run)
			s := &sight{chunks: 1, model: model, frames: fit/2 - 5}
			start(t, depsFor(w, w.DB, s))
			r := result(t, w, waitState(t, w, posejob.Done))
			if r.Clips[0].Refused != "" || r.Clips[1].Refused != "" || r.Clips[2].Refused != reason.MediaTooLong || s.times("2/0") != 0 {
				t.Errorf("clips: %+v; computed %v", r.Clips, s.computed)
			}
		})
	}
}

// Clips that turn out to be cut were worked on all the same.
func TestRefusedWorkCounts(t *testing.T) {
	w := posetest.New(t, 3)
	w.Dispatch(w.Run)
	begun := 0
	s := &sight{chunks: 1, frames: names.MaxFrames/2 - 5}
	s.before = func(context.Context, int) error {
		begun++
		return &media.Refusal{Code: reason.MediaCut}
	}
	start(t, depsFor(w, w.DB, s))
	if waitState(t, w, posejob.Done); begun != 2 {
		t.Errorf("%d clips of half of what an analysis may have were begun, want 2", begun)
	}
}

// A long look through the clip finishes no chunk, but it moves.
func TestDecodingIsProgress(t *testing.T) {
	w := posetest.New(t, 1)
	w.Dispatch(w.Run)
	s := &sight{chunks: 1}
	s.before = func(ctx context.Context, n int) error {
		for range 20 {
			sleep(ctx, 50*time.Millisecond)
			s.pulse(ctx)
		}
		return ctx.Err()
	}
	d := depsFor(w, w.DB, s)
	d.Timers.NoProgress = 250 * time.Millisecond
	start(t, d)
	if j := waitState(t, w, posejob.Done); j.Fence != 1 {
		t.Errorf("job: %+v", j)
	}
}

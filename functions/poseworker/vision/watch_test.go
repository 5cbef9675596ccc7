package vision_test

import (
	"context"
	"errors"
	"sync"
	"syscall"
	"testing"
	"time"

	"fastbowlinglab/functions/internal/posetest"
	"fastbowlinglab/functions/poseworker"
	"fastbowlinglab/shared/dynamotest"
	"fastbowlinglab/shared/media"
	"fastbowlinglab/shared/motion"
	"fastbowlinglab/shared/pose"
)

// watched is a Vision that notes when its first picture was taken and what came.
type watched struct {
	poseworker.Vision
	once            sync.Once
	first           time.Time
	mu              sync.Mutex
	frames, tracked int // of all passes
}

func (v *watched) Track(ctx context.Context, src string, info media.Info, after *pose.Chunk, emit func(pose.Chunk) error) error {
	pulse := media.PulseOf(ctx)
	ctx = media.WithPulse(ctx, func() {
		v.once.Do(func() { v.first = time.Now() })
		pulse()
	})
	return v.Vision.Track(ctx, src, info, after, emit)
}

func (v *watched) Analyse(clip int, track pose.Track, info media.Info) motion.Clip {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.frames += len(track.Frames)
	for _, f := range track.Frames {
		if len(f.Points) > 0 {
			v.tracked++
		}
	}
	return v.Vision.Analyse(clip, track, info)
}

type requests struct {
	mu      sync.Mutex
	n       map[string]int
	left    int           // messages that are still to be deleted
	deleted chan struct{} // closed once none is left
}

func (r *requests) add(op string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.n[op]++
	if op == "DeleteMessage" {
		if r.left--; r.left == 0 {
			close(r.deleted)
		}
	}
	return nil
}

// count counts the requests of a world of so many jobs from here on, but for what
// the test asks.
func count(w *posetest.World, jobs int) *requests {
	r := &requests{n: map[string]int{}, left: jobs, deleted: make(chan struct{})}
	w.Queue.Fail(r.add)
	w.Tokens.Fail(r.add)
	w.Objects.Fail(func(op, _ string) error { return r.add(op) })
	w.DB = w.Server.Faulty(&dynamotest.Faults{Next: func(op string) dynamotest.Fault { _ = r.add(op); return dynamotest.OK }})
	watch := w.Jobs
	w.Jobs = w.Store(w.DB)
	w.Watch = watch
	return r
}

func cpu(who int) float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(who, &u); err != nil {
		panic(err)
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}

// startWorker runs a worker in w; the function that it gives ends it.
func startWorker(t testing.TB, w *posetest.World, v poseworker.Vision, s storage, passes int) (leave func()) {
	wk, err := poseworker.New(poseworker.Deps{Jobs: w.Jobs, Rows: w.DB, Queue: w.Queue, QueueURL: posetest.QueueURL,
		Objects: w.Objects, Bucket: "b", Sign: s, Tokens: w.Answerer(), Vision: v, Passes: passes, Retry: posetest.Quick,
		Keeper: poseworker.Lifeline{Jobs: w.Jobs, Queue: w.Queue, Tokens: w.Answerer()}, Timers: poseworker.Timers{Poll: time.Second}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, term := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- wk.Run(ctx) }()
	return func() {
		term()
		if err := <-done; err != nil {
			t.Fatal(errors.Join(errors.New("the worker"), err))
		}
	}
}

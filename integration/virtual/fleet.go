package virtual

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"fastbowlinglab/functions/poseworker"
	"fastbowlinglab/shared/media"
	"fastbowlinglab/shared/motion"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/pose"
	"fastbowlinglab/shared/tasktoken"
)

// coldStart is how long a worker takes from being asked for to its first poll.
const coldStart = 60 * time.Second

// task is one running worker.
type task struct {
	proc *Proc
	stop context.CancelFunc // SIGTERM
}

// keepFleet runs as many workers as the service wants, and replaces those that
// were killed.
func (c *Cloud) keepFleet() {
	var running []task
	died := make(chan struct{}, 1)
	for n := 0; ; {
		want := c.service.desired
		if want > 0 {
			want += c.opt.Workers
		}
		running = slices.DeleteFunc(running, func(t task) bool { return t.proc.Dead() })
		for len(running) < want {
			n++
			running = append(running, c.runTask(n, died))
		}
		for len(running) > want {
			running[len(running)-1].stop()
			running = running[:len(running)-1]
		}
		select {
		case <-died:
		case <-c.service.changed:
		case <-c.ctx.Done():
			return // the tasks' contexts end with the world's
		}
	}
}

// runTask starts a worker.
func (c *Cloud) runTask(n int, died chan<- struct{}) task {
	t := task{proc: NewProc(fmt.Sprintf("worker-%d", n))}
	ctx, stop := context.WithCancel(c.ctx)
	t.stop = stop
	over := make(chan struct{})
	c.wg.Go(func() {
		defer close(over)
		c.worker(ctx, t.proc)
	})
	c.wg.Go(func() {
		select {
		case <-t.proc.Killed():
			stop() // it cannot reach anything any more; this only lets its goroutines end
			select {
			case died <- struct{}{}:
			default:
			}
		case <-over:
			stop()
		}
	})
	return t
}

// worker is one pose worker: the real one, with a Vision that computes nothing.
func (c *Cloud) worker(life context.Context, proc *Proc) {
	if !sleep(life, cmp.Or(c.opt.ColdStart, coldStart)) {
		return
	}
	cfg := c.Config.Copy()
	cfg.HTTPClient = port{c.Gate, proc}
	objects := s3.NewFromConfig(cfg, func(o *s3.Options) { o.UsePathStyle = true })
	var vision poseworker.Vision = Sight{Chunks: 10, Each: 3 * time.Second}
	if c.opt.Vision != nil {
		vision = c.opt.Vision(proc)
	}
	db := rows(cfg)
	jobs := c.jobs(db, c.clock(proc.Name))
	queue, tokens := sqs.NewFromConfig(cfg), tasktoken.Answerer{API: sfn.NewFromConfig(cfg), Retry: c.Retry}
	w, err := poseworker.New(poseworker.Deps{
		Jobs: jobs, Rows: db, Queue: queue, QueueURL: QueueURL, Objects: objects, Bucket: names.Bucket,
		Sign:   poseworker.URLSigner{Client: s3.NewPresignClient(objects), Bucket: names.Bucket, Credentials: cfg.Credentials},
		Tokens: tokens, Keeper: poseworker.Lifeline{Jobs: jobs, Queue: queue, Tokens: tokens},
		Vision: ordered{vision, c.Gate, proc}, Passes: names.PassesPerWorker, Retry: c.Retry, Now: c.clock(proc.Name), Timers: poseworker.Timers{Poll: c.opt.Poll},
		RenewOnPass: c.opt.RenewOnPass, Callback: c.signed(proc),
		Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
	})
	if err != nil {
		c.T.Error(err)
		return
	}
	c.balancer.register(target{proc, w.Handler()})
	defer c.balancer.remove(proc)
	if err := w.Run(life); err != nil && !proc.Dead() {
		c.T.Errorf("worker: %v", err)
	}
}

// ordered gives each chunk of a Vision a turn of its own, so that it is ordered
// among what else its worker does in that instant.
type ordered struct {
	poseworker.Vision
	gate *Gate
	proc *Proc
}

// Track implements poseworker.Vision.
func (v ordered) Track(ctx context.Context, src string, info media.Info, after *pose.Chunk, emit func(pose.Chunk) error) error {
	return v.Vision.Track(ctx, src, info, after, func(c pose.Chunk) error {
		v.gate.turn(ctx, v.proc, "chunk", nil) // false: the context or the process has ended, and emit finds that
		return emit(c)
	})
}

// Sight is a Vision that computes nothing: a clip is so many chunks, each taking
// some virtual time, and holds a delivery.
type Sight struct {
	Chunks int
	Each   time.Duration
}

// Engine implements poseworker.Vision.
func (Sight) Engine() string { return "virtual 1" }

// Model implements poseworker.Vision.
func (Sight) Model() string { return "full" }

// framesPerChunk is the length of a Sight's chunk.
const framesPerChunk = 10

// Probe implements poseworker.Vision.
func (s Sight) Probe(context.Context, string) (media.Info, error) {
	return media.Info{Width: 1280, Height: 720, Frames: s.Chunks * framesPerChunk, FrameRate: 60}, nil
}

// Track implements poseworker.Vision.
func (s Sight) Track(ctx context.Context, _ string, _ media.Info, after *pose.Chunk, emit func(pose.Chunk) error) error {
	first := 0
	if after != nil {
		first = after.Index + 1
	}
	for i := first; i < s.Chunks; i++ {
		if !sleep(ctx, s.Each) {
			return ctx.Err()
		}
		c := pose.Chunk{Index: i, Width: 1280, Height: 720, Last: i == s.Chunks-1, State: json.RawMessage(`{}`)}
		for f := range framesPerChunk {
			n := i*framesPerChunk + f
			c.Frames = append(c.Frames, pose.Frame{Index: n, Time: float64(n) / 60})
		}
		if err := emit(c); err != nil {
			return err
		}
	}
	return nil
}

// Stills implements poseworker.Vision.
func (Sight) Stills(_ context.Context, _ string, _ media.Info, at []float64, _ int, each func(int, []byte, error)) {
	for i := range at {
		each(i, []byte("jpeg"), nil)
	}
}

// Analyse implements poseworker.Vision: every clip holds a right-arm delivery.
func (Sight) Analyse(clip int, t pose.Track, _ media.Info) motion.Clip {
	return motion.Clip{
		Index: clip, Width: t.Width, Height: t.Height, Frames: len(t.Frames), Duration: float64(len(t.Frames)) / 60, FrameRate: 60,
		Arm: motion.Right, Travel: "right", Confidence: 0.9,
		Phases:   []motion.Phase{{Name: motion.FrontFootContact, Time: 0.5, Frame: 30}, {Name: motion.Release, Time: 0.6, Frame: 36}},
		Measures: []motion.Measure{{Name: "elbow_angle", Phase: motion.Release, Value: 172, Unit: "degrees", Band: 12, Confidence: 0.8}},
	}
}

package virtual

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"fastbowlinglab/functions/poseworker"
	"fastbowlinglab/shared/media"
	"fastbowlinglab/shared/motion"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/pose"
)

// coldStart is how long a worker takes from being asked for to its first poll.
const coldStart = 60 * time.Second

// keepFleet runs as many workers as the service wants.
func (c *Cloud) keepFleet(ctx context.Context) {
	var running []context.CancelFunc
	for n := 0; ; {
		for len(running) < c.service.desired {
			n++
			wctx, cancel := context.WithCancel(ctx)
			running = append(running, cancel)
			c.wg.Go(func() { c.worker(As(wctx, fmt.Sprintf("worker-%d", n)), wctx) })
		}
		for len(running) > c.service.desired {
			running[len(running)-1]()
			running = running[:len(running)-1]
		}
		select {
		case <-c.service.changed:
		case <-ctx.Done():
			for _, stop := range running {
				stop()
			}
			return
		}
	}
}

// worker is one pose worker: the real one, with a Vision that computes nothing.
func (c *Cloud) worker(ctx context.Context, life context.Context) {
	if !sleep(life, coldStart) {
		return
	}
	cfg := c.Config
	objects := s3.NewFromConfig(cfg, func(o *s3.Options) { o.UsePathStyle = true })
	vision := c.opt.Vision
	if vision == nil {
		vision = Sight{Chunks: 10, Each: 3 * time.Second}
	}
	w, err := poseworker.New(poseworker.Deps{
		Jobs: c.Jobs(), Rows: dynamodb.NewFromConfig(cfg),
		Queue: sqs.NewFromConfig(cfg), QueueURL: QueueURL,
		Objects: objects, Bucket: names.Bucket,
		Sign:   poseworker.URLSigner{Client: s3.NewPresignClient(objects), Bucket: names.Bucket, Credentials: cfg.Credentials},
		Tokens: c.tokens(),
		Keeper: poseworker.Lifeline{Jobs: c.Jobs(), Queue: sqs.NewFromConfig(cfg), Tokens: c.tokens()},
		Vision: vision, Passes: 1, Retry: c.Retry,
		Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
	})
	if err != nil {
		c.T.Error(err)
		return
	}
	if err := w.Run(ctx); err != nil {
		c.T.Errorf("worker: %v", err)
	}
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

// Still implements poseworker.Vision.
func (Sight) Still(context.Context, string, media.Info, float64, int) ([]byte, error) {
	return []byte("jpeg"), nil
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

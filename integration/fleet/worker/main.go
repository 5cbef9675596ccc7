// Command worker is the pose worker with a Vision that sleeps and burns a little in
// place of reading pictures, and with timers in seconds in place of minutes, for
// killing many of them. It is built by this folder's test and by nothing else.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"fastbowlinglab/functions/poseworker"
	"fastbowlinglab/integration/fleet"
	"fastbowlinglab/shared/callback"
	"fastbowlinglab/shared/media"
	"fastbowlinglab/shared/motion"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/pose"
	"fastbowlinglab/shared/posejob"
	"fastbowlinglab/shared/retry"
	"fastbowlinglab/shared/tasktoken"
)

func main() {
	slog.SetDefault(slog.New(slog.NewJSONHandler(os.Stdout, nil)))
	if err := run(); err != nil {
		slog.Error("the worker ends", "error", err.Error())
		os.Exit(1)
	}
}

func run() error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	d, err := deps(ctx)
	if err != nil {
		return err
	}
	diary, err := os.OpenFile(os.Getenv(fleet.EnvDiary), os.O_APPEND|os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer diary.Close()
	d.Vision = &sight{diary: diary}
	w, err := poseworker.New(d)
	if err != nil {
		return err
	}
	ln, err := net.Listen("tcp", poseworker.ListenAddress())
	if err != nil {
		return err
	}
	slog.Info("listening", "address", ln.Addr().String())
	posted := w
	if os.Getenv(fleet.EnvOff) == fleet.OffSlots {
		if posted, err = poseworker.New(d); err != nil {
			return err
		}
	}
	go posted.Serve(ln)
	return w.Run(ctx)
}

func deps(ctx context.Context) (poseworker.Deps, error) {
	cfg, err := config.LoadDefaultConfig(ctx, config.WithRetryer(func() aws.Retryer { return aws.NopRetryer{} }))
	if err != nil {
		return poseworker.Deps{}, err
	}
	env := os.Getenv
	db := dynamodb.NewFromConfig(cfg)
	var rows posejob.DB = db
	if env(fleet.EnvOff) == fleet.OffFence {
		rows = unfenced{db}
	}
	jobs := &posejob.Store{DB: rows, Table: env(names.PoseJobs.Env), Analyses: env(names.Analyses.Env),
		Lease: fleet.Lease, Skew: fleet.Skew, Retry: retry.Policy{Tries: 5, Base: 50 * time.Millisecond}}
	objects := s3.NewFromConfig(cfg, func(o *s3.Options) { o.UsePathStyle = true })
	queue, tokens := sqs.NewFromConfig(cfg), tasktoken.Answerer{API: sfn.NewFromConfig(cfg)}
	return poseworker.Deps{
		Jobs: jobs, Rows: db, Queue: queue, QueueURL: env(names.PoseQueue.Env), Objects: objects, Bucket: env(names.EnvBucket),
		Sign:   poseworker.URLSigner{Client: s3.NewPresignClient(objects), Bucket: env(names.EnvBucket), Credentials: cfg.Credentials},
		Tokens: tokens, Keeper: poseworker.Lifeline{Jobs: jobs, Queue: queue, Tokens: tokens}, Passes: 1,
		Callback: poseworker.SignedCallback{URL: env(names.EnvAPIURL), Client: &http.Client{},
			Keys: &callback.Secret{Client: secretsmanager.NewFromConfig(cfg), ID: env(names.EnvCallbackKeys)}},
		Timers: poseworker.Timers{Keeper: fleet.Keeper, Call: fleet.Keeper, Visibility: fleet.Visibility, Poll: 2 * time.Second},
	}, nil
}

// sight is a Vision that looks at nothing. It notes in a diary that all workers
// share what it begins, does and ends.
type sight struct {
	diary   *os.File
	running atomic.Int32
}

// note appends a line in one write, so that lines of many processes do not mix.
func (s *sight) note(n fleet.Note) {
	n.Pid = os.Getpid()
	line, err := json.Marshal(n)
	if err == nil {
		_, err = s.diary.Write(append(line, '\n'))
	}
	if err != nil {
		slog.Error("the diary was not written", "error", err.Error())
		os.Exit(1)
	}
}

func (*sight) Engine() string { return "none 1" }
func (*sight) Model() string  { return "full" }

func (*sight) Probe(context.Context, string) (media.Info, error) {
	return media.Info{Width: 1280, Height: 720, Frames: fleet.Chunks * 10, FrameRate: 60}, nil
}

func (s *sight) Track(ctx context.Context, src string, _ media.Info, after *pose.Chunk, emit func(pose.Chunk) error) error {
	clip := fleet.ClipOf(src)
	s.note(fleet.Note{What: fleet.Begins, Clip: clip, Running: int(s.running.Add(1))})
	defer func() { s.note(fleet.Note{What: fleet.Ends, Clip: clip, Running: int(s.running.Add(-1))}) }()
	first := 0
	if after != nil {
		first = after.Index + 1
	}
	for i := first; i < fleet.Chunks; i++ {
		if err := work(ctx); err != nil {
			return err
		}
		s.note(fleet.Note{What: fleet.Did, Clip: clip, Chunk: i})
		c := pose.Chunk{Index: i, Width: 1280, Height: 720, Last: i == fleet.Chunks-1, State: json.RawMessage(`{}`)}
		for f := range 10 {
			c.Frames = append(c.Frames, pose.Frame{Index: 10*i + f, Time: float64(10*i+f) / 60})
		}
		if err := emit(c); err != nil {
			return err
		}
	}
	return nil
}

// work takes fleet.Each, a hundredth of it of a core.
func work(ctx context.Context) error {
	for end := time.Now().Add(fleet.Each / 100); time.Now().Before(end); {
	}
	select {
	case <-time.After(fleet.Each):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (*sight) Stills(_ context.Context, _ string, _ media.Info, at []float64, _ int, each func(int, []byte, error)) {
	for i := range at {
		each(i, []byte("\xff\xd8 a picture"), nil)
	}
}

func (*sight) Analyse(clip int, t pose.Track, _ media.Info) motion.Clip {
	for i, f := range t.Frames {
		if f.Index != i {
			panic(fmt.Sprintf("frame %d where %d is due", f.Index, i))
		}
	}
	return motion.Clip{Index: clip, Width: t.Width, Height: t.Height, Frames: len(t.Frames), Arm: motion.Right, Confidence: 0.9,
		Phases: []motion.Phase{{Name: motion.Release, Time: 0.6, Frame: 36}}}
}

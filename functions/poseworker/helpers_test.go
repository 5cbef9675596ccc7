package poseworker

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"fastbowlinglab/functions/internal/posetest"
	"fastbowlinglab/shared/media"
	"fastbowlinglab/shared/motion"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/pose"
	"fastbowlinglab/shared/posejob"
	"fastbowlinglab/shared/reason"
)

func TestMain(m *testing.M) {
	level := slog.LevelError + 1
	if os.Getenv("POSE_TEST_LOG") != "" {
		level = slog.LevelDebug
	}
	slog.SetDefault(slog.New(slog.NewJSONHandler(os.Stderr, &slog.HandlerOptions{Level: level})))
	os.Exit(m.Run())
}

// No lease runs out because the machine is busy: a worker that is to find one at its
// end lives later, and briefLease is for the test in which it ends by itself.
const (
	testLease  = time.Minute
	briefLease = time.Second
	testSkew   = 200 * time.Millisecond
)

var testTimers = Timers{Keeper: 100 * time.Millisecond, Call: 2 * time.Second, NoProgress: 20 * time.Second, Again: 10 * time.Millisecond,
	Visibility: 2 * time.Second, Poll: time.Second, Leave: time.Second, Finish: 5 * time.Second}

// sight is a Vision that computes nothing: clips of so many chunks of 10 frames.
type sight struct {
	chunks  int
	frames  int                                        // that a clip is said to have; 0 is what it has
	model   string                                     // "" is the one that ships
	refuse  map[int]reason.Code                        // clips refused by Probe
	reject  map[int]reason.Code                        // clips refused by Analyse
	before  func(ctx context.Context, chunk int) error // called before each chunk is computed
	stillOf func(at float64) error

	mu       sync.Mutex
	computed map[string]int // clip/chunk -> times
	srcs     []string
	running  atomic.Int32
	peak     atomic.Int32
}

func (s *sight) Engine() string { return "engine 1" }
func (s *sight) Model() string  { return cmp.Or(s.model, names.DefaultPoseModel) }

func clipOf(src string) int {
	var n int
	base, _, _ := strings.Cut(src, "?")
	if _, err := fmt.Sscanf(base[strings.LastIndexByte(base, '/')+1:], "%d", &n); err != nil {
		panic(src)
	}
	return n
}

func (s *sight) Probe(_ context.Context, src string) (media.Info, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.srcs = append(s.srcs, src)
	if c, ok := s.refuse[clipOf(src)]; ok {
		return media.Info{}, &media.Refusal{Code: c, Detail: "fake"}
	}
	return media.Info{Frames: max(s.frames, 10*s.chunks), Width: 640, Height: 360}, nil
}

// pulse is a decoded picture that was taken.
func (s *sight) pulse(ctx context.Context) {
	if fn := media.PulseOf(ctx); fn != nil {
		fn()
	}
}

func (s *sight) Track(ctx context.Context, src string, _ media.Info, after *pose.Chunk, emit func(pose.Chunk) error) error {
	n := s.running.Add(1)
	defer s.running.Add(-1)
	for p := s.peak.Load(); n > p && !s.peak.CompareAndSwap(p, n); p = s.peak.Load() {
	}
	first := 0
	if after != nil {
		first = after.Index + 1
		if string(after.State) != fmt.Sprintf(`{"after":%d}`, after.Index) {
			return fmt.Errorf("state of chunk %d was lost: %s", after.Index, after.State)
		}
	}
	for i := first; i < s.chunks; i++ {
		if s.before != nil {
			if err := s.before(ctx, i); err != nil {
				return err
			}
		}
		s.mu.Lock()
		if s.computed == nil {
			s.computed = map[string]int{}
		}
		s.computed[fmt.Sprintf("%d/%d", clipOf(src), i)]++
		s.mu.Unlock()
		c := pose.Chunk{Index: i, Width: 640, Height: 360, Last: i == s.chunks-1,
			State: json.RawMessage(fmt.Sprintf(`{"after":%d}`, i))}
		for f := range 10 {
			c.Frames = append(c.Frames, pose.Frame{Index: 10*i + f, Time: float64(10*i+f) / 30})
		}
		if err := emit(c); err != nil {
			return err
		}
	}
	return nil
}

func (s *sight) Stills(_ context.Context, _ string, _ media.Info, at []float64, _ int, each func(int, []byte, error)) {
	for i, t := range at {
		if s.stillOf != nil {
			if err := s.stillOf(t); err != nil {
				each(i, nil, err)
				continue
			}
		}
		each(i, fmt.Appendf(nil, "jpeg at %.2f", t), nil)
	}
}

func (s *sight) Analyse(clip int, t pose.Track, _ media.Info) motion.Clip {
	for i, f := range t.Frames {
		if f.Index != i {
			return motion.Clip{Refused: "frames_out_of_order"}
		}
	}
	if c, ok := s.reject[clip]; ok {
		return motion.Clip{Index: clip, Refused: c}
	}
	return motion.Clip{Index: clip, Width: t.Width, Height: t.Height, Frames: len(t.Frames),
		Phases: []motion.Phase{{Name: motion.BackFootContact, Time: 0.51, FrameTime: 0.5}, {Name: motion.Release, Time: 0.69, FrameTime: 0.7}}}
}

func (s *sight) times(id string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.computed[id]
}

// most is how often the chunk that was computed most often was.
func (s *sight) most() (n, total int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.computed {
		n, total = max(n, c), total+c
	}
	return n, total
}

// signer signs with a running number.
type signer struct {
	n    atomic.Int32
	good time.Duration // a URL's life; 0 is the one asked for
}

func (s *signer) Sign(_ context.Context, key, version string, d time.Duration) (string, time.Time, error) {
	if s.good != 0 {
		d = s.good
	}
	return fmt.Sprintf("mem://%s?version=%s&n=%d", key, version, s.n.Add(1)), time.Now().Add(d), nil
}

// depsFor makes a worker's deps in a world, all of its calls on db.
func depsFor(w *posetest.World, db posejob.DB, v Vision) Deps {
	store := func() *posejob.Store {
		s := w.Store(db)
		s.Lease, s.Skew = testLease, testSkew
		return s
	}
	return Deps{Jobs: store(), Rows: w.DB, Queue: w.Queue, QueueURL: posetest.QueueURL, Objects: w.Objects, Bucket: "bucket",
		Sign: &signer{}, Tokens: w.Answerer(), Vision: v, Passes: 2, Timers: testTimers, Retry: posetest.Quick,
		Keeper: Lifeline{Jobs: store(), Queue: w.Queue, Tokens: w.Answerer()}}
}

// later lets a worker live when every lease that is there now has run out.
func later(d Deps) Deps {
	d.Now = func() time.Time { return time.Now().Add(2 * testLease) }
	d.Jobs.Now, d.Keeper.Jobs.Now = d.Now, d.Now
	return d
}

// running is a worker at work.
type running struct {
	*Worker
	term func()
	done chan error
}

// start runs a worker until the test ends or term is called.
func start(t *testing.T, d Deps) *running {
	t.Helper()
	w, err := New(d)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	r := &running{Worker: w, term: cancel, done: make(chan error, 1)}
	go func() { r.done <- w.Run(ctx); close(r.done) }()
	t.Cleanup(func() {
		cancel()
		select {
		case <-r.done:
		case <-time.After(20 * time.Second):
			t.Error("the worker did not leave")
		}
	})
	return r
}

func waitState(t *testing.T, w *posetest.World, s posejob.State) posejob.Job {
	t.Helper()
	posetest.Eventually(t, time.Minute, "job "+string(s), func() bool { return w.Job().State == s })
	return w.Job()
}

// redelivered is waitState while messages become visible at once.
func redelivered(t *testing.T, w *posetest.World, s posejob.State) posejob.Job {
	t.Helper()
	posetest.Eventually(t, time.Minute, "job "+string(s), func() bool { w.Queue.Show(); return w.Job().State == s })
	return w.Job()
}

func waitFor(t *testing.T, what string, ok func() bool) {
	t.Helper()
	posetest.Eventually(t, time.Minute, what, ok)
}

// result reads the stored result of a job.
func result(t *testing.T, w *posetest.World, job posejob.Job) motion.Result {
	t.Helper()
	var r motion.Result
	if err := json.Unmarshal(w.Objects.All()[job.Result.ResultKey], &r); err != nil {
		t.Fatalf("result at %s: %v", job.Result.ResultKey, err)
	}
	return r
}

func passOutput(key string) string {
	return fmt.Sprintf(`{"verdict":%q,"reason":"","result_key":%q}`, names.VerdictPass, key)
}

// gate holds a fake back until it is opened.
type gate struct {
	at   chan struct{} // closed when somebody arrived
	open chan struct{}
	once sync.Once
}

func newGate() *gate { return &gate{at: make(chan struct{}), open: make(chan struct{})} }

// wait is passed when the gate is opened or ctx ends.
func (g *gate) wait(ctx context.Context) error {
	g.once.Do(func() { close(g.at) })
	select {
	case <-g.open:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

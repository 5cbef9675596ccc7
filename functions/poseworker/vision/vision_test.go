package vision_test

import (
	"bytes"
	"context"
	"encoding/json"
	"image"
	"image/jpeg"
	"io"
	"log/slog"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"fastbowlinglab/functions/internal/posetest"
	"fastbowlinglab/functions/poseworker/vision"
	"fastbowlinglab/shared/media"
	"fastbowlinglab/shared/motion"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/pose/engine"
	"fastbowlinglab/shared/posejob"
	"fastbowlinglab/shared/reason"
)

func TestMain(m *testing.M) {
	slog.SetDefault(slog.New(slog.NewJSONHandler(io.Discard, nil)))
	os.Exit(m.Run())
}

const root = "../../.."

// real opens the engine, or skips the test by name.
func real(t testing.TB, model string) vision.Vision {
	t.Helper()
	models := filepath.Join(root, "node_modules/@mediapipe/pose")
	lib := filepath.Join(root, "node_modules/onnxruntime-node/bin/napi-v6/linux/x64/libonnxruntime.so.1")
	for _, p := range []string{models, lib} {
		if _, err := os.Stat(p); err != nil {
			t.Skipf("skipped: %s is not installed (npm ci)", p)
		}
	}
	e, err := engine.Open(engine.Config{ModelsDir: models, ORTLibrary: lib, Model: model, Threads: runtime.NumCPU()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return vision.Vision{Limits: media.DefaultLimits(), Tracker: e}
}

// storage serves one file for every key, and signs by naming the key.
type storage struct{ *httptest.Server }

func serve(t testing.TB, file string) storage {
	t.Helper()
	if _, err := os.Stat(file); err != nil {
		t.Skipf("skipped: %s is not here", file)
	}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { http.ServeFile(w, r, file) }))
	t.Cleanup(srv.Close)
	return storage{srv}
}

func (s storage) Sign(_ context.Context, key, version string, d time.Duration) (string, time.Time, error) {
	return s.URL + "/" + key + "?versionId=" + version, time.Now().Add(d), nil
}

// work runs a worker in w until stop says so, and waits for it to leave.
func work(t testing.TB, w *posetest.World, v vision.Vision, s storage, stop func(posejob.Job) bool) posejob.Job {
	t.Helper()
	leave := startWorker(t, w, v, s, 1)
	posetest.Eventually(t, 2*time.Minute, "the worker's part", func() bool { return stop(w.Job()) })
	leave()
	return w.Job()
}

func ended(j posejob.Job) bool { return j.State.Ended() }

// resultOf is a job's result without the keys, which hold the fence.
func resultOf(t *testing.T, w *posetest.World, j posejob.Job) motion.Result {
	t.Helper()
	if j.State != posejob.Done || j.Result.Verdict != names.VerdictPass {
		t.Fatalf("job: %+v, result %+v", j, j.Result)
	}
	var r motion.Result
	if err := json.Unmarshal(w.Objects.All()[j.Result.ResultKey], &r); err != nil {
		t.Fatal(err)
	}
	for _, c := range r.Clips {
		for i := range c.Phases {
			if !strings.HasPrefix(string(w.Objects.All()[c.Phases[i].FrameKey]), "\xff\xd8") {
				t.Errorf("%s: no JPEG under %q", c.Phases[i].Name, c.Phases[i].FrameKey)
			}
			c.Phases[i].FrameKey = ""
		}
	}
	return r
}

// picturesShowTheirFrames: a phase's picture is that of the frame whose landmarks are
// drawn over it, not of a neighbour.
func picturesShowTheirFrames(t *testing.T, w *posetest.World, j posejob.Job) {
	t.Helper()
	var r motion.Result
	if err := json.Unmarshal(w.Objects.All()[j.Result.ResultKey], &r); err != nil {
		t.Fatal(err)
	}
	info, err := media.Open(t.Context(), bowler, media.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	defer info.Release()
	for _, ph := range r.Clips[0].Phases {
		picture, err := jpeg.Decode(bytes.NewReader(w.Objects.All()[ph.FrameKey]))
		if err != nil {
			t.Fatalf("%s: %v", ph.Name, err)
		}
		best, least := 0, math.Inf(1)
		opt := media.Options{MaxSide: picture.Bounds().Dx()}
		if err := media.Frames(t.Context(), bowler, info, opt, func(f media.Frame) error {
			if d := unlike(picture, f); f.Index >= ph.Frame-2 && d < least {
				best, least = f.Index, d
			}
			if f.Index == ph.Frame+2 {
				return media.ErrStop
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		if best != ph.Frame || least > 3 {
			t.Errorf("%s at %g s: the picture is of frame %d, by %.1f; the landmarks of frame %d", ph.Name, ph.Time, best, least, ph.Frame)
		}
	}
}

// unlike is the mean difference of green, of every fourth pixel.
func unlike(img image.Image, f media.Frame) float64 {
	sum, n := 0, 0
	for y := 0; y < f.Height; y += 2 {
		for x := 0; x < f.Width; x += 2 {
			_, g, _, _ := img.At(x, y).RGBA()
			d := int(g>>8) - int(f.Pix[3*(y*f.Width+x)+1])
			sum, n = sum+max(d, -d), n+1
		}
	}
	return float64(sum) / float64(n)
}

// A pass that was interrupted and resumed by another worker measures what an
// uninterrupted one measures.
func TestResumedPassMeasuresTheSame(t *testing.T) {
	v := real(t, "lite")
	s := serve(t, filepath.Join(root, "integration/samples/bowler.mp4"))
	whole := posetest.New(t, 1)
	whole.Dispatch(whole.Run)
	j := work(t, whole, v, s, ended)
	picturesShowTheirFrames(t, whole, j)
	want := resultOf(t, whole, j)

	cut := posetest.New(t, 1)
	cut.Dispatch(cut.Run)
	j = work(t, cut, v, s, func(j posejob.Job) bool { return len(j.Checkpoints) >= 1 })
	if j.State != posejob.Waiting {
		t.Skipf("the machine was too quick to be interrupted: %s", j.State)
	}
	j = work(t, cut, v, s, ended)
	if j.Fence != 2 || j.Redone != 1 || j.Deaths != 0 {
		t.Errorf("fence %d, redone %d, deaths %d", j.Fence, j.Redone, j.Deaths)
	}
	picturesShowTheirFrames(t, cut, j)
	if got := resultOf(t, cut, j); !reflect.DeepEqual(got, want) {
		t.Errorf("resumed: %+v\nuninterrupted: %+v", got, want)
	}
	if len(want.Clips[0].Phases) == 0 || len(want.Clips[0].Measures) == 0 {
		t.Errorf("nothing was measured: %+v", want.Clips[0])
	}
}

func TestUnusableFilesAreRefusedWithAReason(t *testing.T) {
	v := real(t, "lite")
	for file, want := range map[string]reason.Code{
		"cases/media/m12_zero_byte.mp4":         reason.MediaEmpty,
		"cases/media/m11_html_renamed.mp4":      reason.MediaNotVideo,
		"cases/media/m07_truncated_no_moov.mp4": reason.MediaCut,
	} {
		t.Run(filepath.Base(file), func(t *testing.T) {
			s := serve(t, filepath.Join(root, "../shared", file))
			w := posetest.New(t, 1)
			w.Dispatch(w.Run)
			j := work(t, w, v, s, ended)
			if j.State != posejob.Done || j.Result.Verdict != names.VerdictReject || j.Result.Reason != string(want) {
				t.Errorf("job %s, result %+v; want %s", j.State, j.Result, want)
			}
		})
	}
}

func TestStorageThatIsAwayIsNoVerdict(t *testing.T) {
	v := real(t, "lite")
	s := serve(t, filepath.Join(root, "integration/samples/bowler.mp4"))
	s.Close()
	w := posetest.New(t, 1)
	w.Dispatch(w.Run)
	j := work(t, w, v, s, func(j posejob.Job) bool { return j.Progress.Stage == "waiting for storage" })
	if j.State != posejob.Waiting || j.Result != nil || j.Deaths != 0 {
		t.Errorf("job: %+v", j)
	}
}

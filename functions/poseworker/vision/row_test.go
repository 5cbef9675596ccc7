package vision_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"fastbowlinglab/functions/internal/posetest"
	"fastbowlinglab/functions/poseworker/vision"
	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/media"
	"fastbowlinglab/shared/posejob"
)

type seer = vision.Vision

var bowler = filepath.Join(root, "integration/samples/bowler.mp4")

// row is one pass that is measured in a process of its own, on so many cores, with
// nothing of the other rows in its memory.
type row struct {
	Clip   string
	Model  string
	Cores  int
	Passes int  // how many passes of the clip run side by side, 0 for one
	Times  int  // how often it is measured, 0 for once
	Alone  bool // only the pass, for its memory: not decoding alone and models alone

	Decoders string // folder of the ffmpeg and ffprobe that are run, "" for the system's
}

// decodersName says in a line which ffmpeg was measured.
func decodersName(dir string) string {
	switch {
	case dir == "":
		return "system"
	case strings.HasSuffix(dir, "/.local/images/ffmpeg"):
		return "image"
	}
	return filepath.Base(dir)
}

// pathFrom is where programs are looked for, dir first.
func pathFrom(dir string) string {
	return strings.TrimPrefix(dir+":"+os.Getenv("PATH"), ":")
}

const rowEnv, rowMark = "POSE_BENCH_ROW", "ROW "

// run runs the row and adds the peak of memory as seen from outside.
func (r row) run(t testing.TB) map[string]any {
	t.Helper()
	if _, err := os.Stat(r.Clip); err != nil {
		t.Skipf("skipped: %s is not here", r.Clip)
	}
	spec, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^TestRow$", "-test.timeout", "20m")
	cmd.Env = append(os.Environ(), rowEnv+"="+string(spec), "PATH="+pathFrom(r.Decoders))
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := startOn(cmd, r.Cores); err != nil {
		t.Fatal(err)
	}
	peak := sampleMemory(cmd.Process.Pid)
	var line map[string]any
	var said strings.Builder
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if text, ok := strings.CutPrefix(lines.Text(), rowMark); ok {
			if err := json.Unmarshal([]byte(text), &line); err != nil {
				t.Fatal(err)
			}
			continue
		}
		fmt.Fprintln(&said, lines.Text())
	}
	err = cmd.Wait()
	mib := peak()
	if err != nil || line == nil {
		t.Fatalf("%+v: %v\n%s", r, err, said.String())
	}
	line["peak_rss_mib"] = mib
	return line
}

// TestRow is the process of one row.
func TestRow(t *testing.T) {
	spec := os.Getenv(rowEnv)
	if spec == "" {
		t.Skip("skipped: it is run by BenchmarkPose and TestMemory")
	}
	var r row
	if err := json.Unmarshal([]byte(spec), &r); err != nil {
		t.Fatal(err)
	}
	line, err := json.Marshal(r.pass(t))
	if err != nil {
		t.Fatal(err)
	}
	fmt.Printf("%s%s\n", rowMark, line)
}

// pass measures whole passes of the worker on the clip, from the message to its
// deletion, and what they cannot do without, in turn: parts, pass, parts, pass, parts.
// A pass is held against the mean of the parts before and after it, as the speed of a
// shared machine changes from one second to the next; of every figure the median is
// given. The first pass, which warms up, does not count.
func (r row) pass(t *testing.T) map[string]any {
	if got := runtime.NumCPU(); got > r.Cores {
		t.Fatalf("%d cores, want %d", got, r.Cores)
	}
	v := real(t, r.Model)
	s := serve(t, r.Clip)
	if r.Alone {
		line, _, _ := r.once(t, v, s)
		return line
	}
	landmarks, detections := v.Tracker.Runs()
	line, _, _ := r.once(t, v, s)
	landmarks, detections = since(v, landmarks, detections)
	line["landmark_runs"], line["detector_runs"] = landmarks, detections
	f := figures{}
	before := r.parts(t, v, landmarks, detections)
	for range max(1, r.Times) {
		one, wall, spent := r.once(t, v, s)
		after := r.parts(t, v, landmarks, detections)
		decode, models := (before.decode+after.decode)/2, (before.models+after.models)/2
		before = after
		bound := (decode + models) / float64(r.Cores)
		for name, value := range map[string]float64{"wall_s": wall, "cpu_s": spent, "decode_alone_cpu_s": decode, "models_alone_cpu_s": models,
			"bound_s": bound, "wall_over_bound": wall / bound, "cpu_over_bound": spent / (decode + models)} {
			f[name] = append(f[name], value)
		}
		for name, value := range one {
			if value, ok := value.(float64); ok && name != "wall_s" {
				f[name] = append(f[name], value)
			}
		}
	}
	line["times"] = max(1, r.Times)
	for name, values := range f {
		line[name] = round(median(values))
	}
	return line
}

// figures are those of every repetition.
type figures map[string][]float64

func median(of []float64) float64 {
	sorted := slices.Sorted(slices.Values(of))
	return (sorted[(len(sorted)-1)/2] + sorted[len(sorted)/2]) / 2
}

// parts are what the passes of a row cannot do without, in processor seconds.
type parts struct{ decode, models float64 }

func (r row) parts(t *testing.T, v seer, landmarks, detections int) parts {
	return parts{float64(r.passes()) * decodeAlone(t, r.Clip, v.Tracker.Side()), r.modelsAlone(t, v, landmarks, detections)}
}

func (r row) passes() int { return max(1, r.Passes) }

// since is how often the models ran since they had run so often.
func since(v seer, landmarks, detections int) (int, int) {
	l, d := v.Tracker.Runs()
	return l - landmarks, d - detections
}

// once is one pass: its line, its seconds by the clock and of processor time.
func (r row) once(t *testing.T, v seer, s storage) (line map[string]any, wall, spent float64) {
	w := posetest.New(t, 1)
	n := count(w, r.passes())
	for i := range r.passes() {
		run := w.Run
		if i > 0 {
			run.AnalysisID = fmt.Sprintf("%s-%d", run.AnalysisID, i)
			w.Analysis(run, analysis.Analysing, 1)
		}
		w.Dispatch(run)
	}
	clear(n.n)
	watch := &watched{Vision: v}
	self, kids := cpu(syscall.RUSAGE_SELF), cpu(syscall.RUSAGE_CHILDREN)
	models0, _ := v.Tracker.Inference()
	begun := time.Now()
	leave := startWorker(t, w, watch, s, r.passes())
	select {
	case <-n.deleted:
	case <-time.After(15 * time.Minute):
		t.Fatal("the pass does not end")
	}
	wall = time.Since(begun).Seconds()
	models1, _ := v.Tracker.Inference()
	self, kids = cpu(syscall.RUSAGE_SELF)-self, cpu(syscall.RUSAGE_CHILDREN)-kids
	leave()
	j := w.Job()
	if j.State != posejob.Done {
		t.Fatalf("job %s: %+v", j.State, j.Failure)
	}
	line = map[string]any{"clip": filepath.Base(r.Clip), "model": r.Model, "cores": r.Cores, "passes": r.passes(), "ffmpeg": decodersName(r.Decoders), "verdict": j.Result.Verdict, "frames": watch.frames,
		"tracked": watch.tracked, "side_px": v.Tracker.Side(), "wall_s": round(wall), "worker_cpu_s": round(self), "ffmpeg_cpu_s": round(kids),
		"models_cpu_s": round((models1 - models0).Seconds()), "first_picture_s": round(watch.first.Sub(begun).Seconds()),
		"frames_per_s": round(float64(watch.frames) / wall), "chunks": len(j.Checkpoints), "requests": n.n}
	return line, wall, self + kids
}

// modelsAlone is as many runs of the models as the pass made, on empty input and on as
// many threads. Its processor seconds and those of one decoding of the clip at the size
// that the pass used, with one reader who does nothing, over the cores, are the least
// that a pass of this design could take.
func (r row) modelsAlone(t *testing.T, v seer, landmarks, detections int) float64 {
	before := cpu(syscall.RUSAGE_SELF)
	if err := v.Tracker.Exercise(landmarks, detections); err != nil {
		t.Fatal(err)
	}
	return cpu(syscall.RUSAGE_SELF) - before
}

func decodeAlone(t *testing.T, clip string, side int) float64 {
	info, err := media.Probe(t.Context(), clip, media.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	before := cpu(syscall.RUSAGE_SELF) + cpu(syscall.RUSAGE_CHILDREN)
	if err := media.Frames(t.Context(), clip, info, media.Options{MaxSide: side}, func(media.Frame) error { return nil }); err != nil {
		t.Fatal(err)
	}
	return cpu(syscall.RUSAGE_SELF) + cpu(syscall.RUSAGE_CHILDREN) - before
}

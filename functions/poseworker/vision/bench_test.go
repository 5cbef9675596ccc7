package vision_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"fastbowlinglab/functions/internal/posetest"
	"fastbowlinglab/shared/dynamotest"
	"fastbowlinglab/shared/media"
)

// BenchmarkPass prints one JSON line for a whole pass: wall time against what
// decoding alone and the models alone cost in processor seconds, spread over the
// cores; first frame, memory, and requests to AWS. BENCH_CLIP and BENCH_MODELS
// choose other clips and models.
func BenchmarkPass(b *testing.B) {
	clip := filepath.Join(root, "integration/samples/bowler.mp4")
	if c := os.Getenv("BENCH_CLIP"); c != "" {
		clip = c
	}
	models := []string{"lite", "full", "heavy"}
	if m := os.Getenv("BENCH_MODELS"); m != "" {
		models = strings.Split(m, ",")
	}
	for _, model := range models {
		b.Run(model, func(b *testing.B) {
			v := real(b, model)
			s := serve(b, clip)
			for range b.N {
				decode, decodeWall, first := decodeAlone(b, clip)
				w := posetest.New(b, 1)
				requests := count(w)
				w.Dispatch(w.Run)
				clear(requests.n)
				model0, runs0 := v.Tracker.Inference()
				self, kids := cpu(syscall.RUSAGE_SELF), cpu(syscall.RUSAGE_CHILDREN)
				begun := time.Now()
				j := work(b, w, v, s, ended)
				wall := time.Since(begun).Seconds()
				self, kids = cpu(syscall.RUSAGE_SELF)-self, cpu(syscall.RUSAGE_CHILDREN)-kids
				model1, runs1 := v.Tracker.Inference()
				inference, cores := (model1 - model0).Seconds(), float64(runtime.NumCPU())
				begun = time.Now() // beside it, so that both meet the same load
				if err := v.Tracker.Exercise(int(runs1 - runs0)); err != nil {
					b.Fatal(err)
				}
				modelsWall := time.Since(begun).Seconds()
				_, again, _ := decodeAlone(b, clip)
				beside := modelsWall + (decodeWall+again)/2
				bound := (decode + inference) / cores
				frames := 0
				for _, c := range j.Checkpoints {
					frames += c.Frames
				}
				line, err := json.Marshal(map[string]any{"bench": "pose_pass", "clip": filepath.Base(clip), "model": model, "frames": frames, "cores": cores,
					"wall_s": round(wall), "worker_cpu_s": round(self), "ffmpeg_cpu_s": round(kids),
					"decode_alone_cpu_s": round(decode), "models_cpu_s": round(inference), "model_runs": runs1 - runs0,
					"bound_s": round(bound), "wall_over_bound": round(wall / bound),
					"beside_s": round(beside), "wall_over_beside": round(wall / beside), "first_frame_s": round(first),
					"frames_per_s": round(float64(frames) / wall), "peak_rss_mib": peakMiB(b), "chunks": len(j.Checkpoints), "requests": requests.n})
				if err != nil {
					b.Fatal(err)
				}
				fmt.Printf("\n%s\n", line)
			}
		})
	}
}

// decodeAlone is what decoding every frame takes when nothing is done with it, one
// decoder a core: processor seconds and wall seconds for each clip decoded, and
// how long the first frame takes to come.
func decodeAlone(b *testing.B, clip string) (cpus, wall, first float64) {
	info, err := media.Probe(b.Context(), clip, media.DefaultLimits())
	if err != nil {
		b.Fatal(err)
	}
	cores := runtime.NumCPU()
	before := cpu(syscall.RUSAGE_SELF) + cpu(syscall.RUSAGE_CHILDREN)
	begun := time.Now()
	firsts, errs := make([]float64, cores), make([]error, cores)
	var wg sync.WaitGroup
	for i := range cores {
		wg.Go(func() {
			errs[i] = media.Frames(b.Context(), clip, info, media.Options{MaxSide: 1280}, func(f media.Frame) error {
				if f.Index == 0 {
					firsts[i] = time.Since(begun).Seconds()
				}
				return nil
			})
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		b.Fatal(err)
	}
	n := float64(cores)
	return (cpu(syscall.RUSAGE_SELF) + cpu(syscall.RUSAGE_CHILDREN) - before) / n, time.Since(begun).Seconds() / n, slices.Max(firsts)
}

type requests struct {
	mu sync.Mutex
	n  map[string]int
}

func (r *requests) add(op string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.n[op]++
	return nil
}

// count counts the requests of a world from here on.
func count(w *posetest.World) *requests {
	r := &requests{n: map[string]int{}}
	w.Queue.Fail(r.add)
	w.Tokens.Fail(r.add)
	w.Objects.Fail(func(op, _ string) error { return r.add(op) })
	w.DB = w.Server.Faulty(&dynamotest.Faults{Next: func(op string) dynamotest.Fault { _ = r.add(op); return dynamotest.OK }})
	watch := w.Jobs // the test's own reads are not the worker's
	w.Jobs = w.Store(w.DB)
	w.Watch = watch
	return r
}

func cpu(who int) float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(who, &u); err != nil {
		panic(err)
	}
	return float64(u.Utime.Sec+u.Stime.Sec) + float64(u.Utime.Usec+u.Stime.Usec)/1e6
}

func peakMiB(b *testing.B) int {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		b.Fatal(err)
	}
	for line := range strings.Lines(string(status)) {
		if f := strings.Fields(line); f[0] == "VmHWM:" {
			kib, err := strconv.Atoi(f[1])
			if err != nil {
				b.Fatal(err)
			}
			return kib / 1024
		}
	}
	return 0
}

func round(f float64) float64 { return float64(int(f*100+0.5)) / 100 }

package vision_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
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

// BenchmarkPass prints one JSON line for a whole pass over the sample clip: wall
// time against the CPU seconds that decoding and everything in this process
// took, memory, and requests to AWS.
func BenchmarkPass(b *testing.B) {
	clip := filepath.Join(root, "integration/samples/bowler.mp4")
	for _, model := range []string{"lite", "full"} {
		b.Run(model, func(b *testing.B) {
			v := real(b, model)
			s := serve(b, clip)
			for range b.N {
				decode := decodeAlone(b, clip)
				w := posetest.New(b, 1)
				requests := count(w)
				w.Dispatch(w.Run)
				clear(requests.n)
				self, kids := cpu(syscall.RUSAGE_SELF), cpu(syscall.RUSAGE_CHILDREN)
				begun := time.Now()
				j := work(b, w, v, s, ended)
				wall := time.Since(begun).Seconds()
				self, kids = cpu(syscall.RUSAGE_SELF)-self, cpu(syscall.RUSAGE_CHILDREN)-kids
				frames := 0
				for _, c := range j.Checkpoints {
					frames += c.Frames
				}
				line, err := json.Marshal(map[string]any{"bench": "pose_pass", "model": model, "frames": frames,
					"wall_s": round(wall), "worker_cpu_s": round(self), "ffmpeg_cpu_s": round(kids), "decode_alone_wall_s": round(decode),
					"frames_per_s": round(float64(frames) / wall), "peak_rss_mib": peakMiB(b), "chunks": len(j.Checkpoints), "requests": requests.n})
				if err != nil {
					b.Fatal(err)
				}
				fmt.Printf("\n%s\n", line)
			}
		})
	}
}

// decodeAlone is how long decoding every frame takes when nothing is done with it.
func decodeAlone(b *testing.B, clip string) float64 {
	info, err := media.Probe(b.Context(), clip, media.DefaultLimits())
	if err != nil {
		b.Fatal(err)
	}
	begun := time.Now()
	if err := media.Frames(b.Context(), clip, info, media.Options{}, func(media.Frame) error { return nil }); err != nil {
		b.Fatal(err)
	}
	return time.Since(begun).Seconds()
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

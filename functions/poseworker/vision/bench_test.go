package vision_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/pose"
)

// BenchmarkPose prints the figures of README.md, one JSON line each: for clips,
// models and cores a pass' wall time over the processor seconds of decoding alone and
// of the models alone, taken beside it, spread over the cores (wall_over_bound);
// peak memory of the worker and its decoders, for long clips too; and what a kill at
// a random point costs. BENCH_CLIP chooses one other clip, BENCH_MODELS the models;
// either leaves the rest of the table out. BENCH_FFMPEG names the folder of the ffmpeg
// and ffprobe that decode; without it they are those of the built image (make image),
// which are the ones deployed, or else the system's. BENCH_TIMES is how often a pass and
// its parts are measured, for the median of each; 5 without it.
func BenchmarkPose(b *testing.B) {
	decoders, times := chooseDecoders(b), 5
	if n := os.Getenv("BENCH_TIMES"); n != "" {
		var err error
		if times, err = strconv.Atoi(n); err != nil || times < 1 {
			b.Fatalf("BENCH_TIMES: %q is no number above 0", n)
		}
	}
	sample, models, chosen := bowler, []string{"lite", "full", "heavy"}, false
	if m := os.Getenv("BENCH_MODELS"); m != "" {
		models, chosen = strings.Split(m, ","), true
	}
	if c := os.Getenv("BENCH_CLIP"); c != "" {
		sample, chosen = c, true
		if _, err := os.Stat(c); err != nil {
			b.Fatalf("BENCH_CLIP: %v", err)
		}
	}
	for _, model := range models {
		for _, on := range []struct{ cores, passes int }{{1, 1}, {2, 1}, {2, 2}} {
			measure(b, "pose_pass", row{Clip: sample, Model: model, Cores: on.cores, Passes: on.passes, Times: times, Decoders: decoders})
		}
	}
	if chosen {
		return
	}
	footage, err := filepath.Glob(filepath.Join(root, "../shared/footage/*.mp4"))
	if err != nil {
		b.Fatal(err)
	}
	for _, clip := range footage {
		for _, model := range []string{"lite", "full"} {
			measure(b, "pose_pass", row{Clip: clip, Model: model, Cores: names.PassesPerWorker, Times: times, Decoders: decoders})
		}
	}
	b.Run("kill", func(b *testing.B) { kills(b, decoders) })
	for _, seconds := range []int{180, 590} {
		long := repeated(b, seconds)
		for _, model := range []string{"full", "heavy"} {
			measure(b, "pose_memory", row{Clip: long, Model: model, Cores: 2, Alone: true, Decoders: decoders})
		}
	}
}

// measure runs one row and prints its line.
func measure(b *testing.B, bench string, r row) {
	name := strings.TrimSuffix(filepath.Base(r.Clip), filepath.Ext(r.Clip))
	b.Run(fmt.Sprintf("%s/%s/cores=%d/passes=%d", name, r.Model, r.Cores, r.passes()), func(b *testing.B) {
		for range b.N {
			line := r.run(b)
			line["bench"] = bench
			show(b, line)
		}
	})
}

// chooseDecoders gives the folder of the programs that decode, "" for the system's.
func chooseDecoders(b *testing.B) string {
	chosen := os.Getenv("BENCH_FFMPEG")
	dir := chosen
	if dir == "" {
		dir = filepath.Join(root, ".local/images/ffmpeg")
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		b.Fatal(err)
	}
	for _, name := range []string{"ffmpeg", "ffprobe"} {
		if out, err := exec.Command(filepath.Join(dir, name), "-version").CombinedOutput(); err != nil {
			if chosen != "" {
				b.Fatalf("BENCH_FFMPEG: %s: %v: %s", name, err, out)
			}
			b.Logf("the system's %s: that of the image is not here, or does not run (make image): %v", name, err)
			return ""
		}
	}
	return dir
}

func show(b *testing.B, line map[string]any) {
	text, err := json.Marshal(line)
	if err != nil {
		b.Fatal(err)
	}
	fmt.Printf("\n%s\n", text)
}

// repeated is the sample at 30 frames a second, again and again for so many seconds.
func repeated(b *testing.B, seconds int) string {
	b.Helper()
	dir := b.TempDir()
	once, long := filepath.Join(dir, "once.mp4"), filepath.Join(dir, fmt.Sprintf("%ds.mp4", seconds))
	makeClip(b, "-i", bowler, "-r", "30", "-an", "-c:v", "libx264", "-preset", "veryfast", once)
	makeClip(b, "-stream_loop", "-1", "-i", once, "-c", "copy", "-t", fmt.Sprint(seconds), long)
	return long
}

func makeClip(t testing.TB, args ...string) {
	t.Helper()
	out, err := exec.Command("ffmpeg", append([]string{"-nostdin", "-v", "error", "-y"}, args...)...).CombinedOutput()
	if err != nil {
		t.Fatalf("ffmpeg: %v: %s", err, out)
	}
}

// kills prints what is lost when a pass is cut off at a random point and another goes
// on from its last saved chunk: the seconds of both, by the clock and of processor
// time, less those of one left alone. Waiting for the lease to run out comes on top.
func kills(b *testing.B, decoders string) {
	v := real(b, "full")
	b.Setenv("PATH", pathFrom(decoders))
	rnd := rand.New(rand.NewPCG(1, 5))
	for range b.N {
		trackUntil(b, v, nil, time.Hour) // the first one after a start is slower
		whole, _ := trackUntil(b, v, nil, time.Hour)
		var lost, lostCPU []float64
		var worst, sum, sumCPU float64
		for range 6 {
			first, last := trackUntil(b, v, nil, time.Duration((0.05+0.9*rnd.Float64())*float64(whole.wall)))
			var second spent
			if last == nil || !last.Last {
				second, _ = trackUntil(b, v, last, time.Hour)
			}
			s := max(0, (first.wall + second.wall - whole.wall).Seconds())
			c := max(0, first.cpu+second.cpu-whole.cpu)
			lost, lostCPU = append(lost, round(s)), append(lostCPU, round(c))
			worst, sum, sumCPU = max(worst, s), sum+s, sumCPU+c
		}
		n := float64(len(lost))
		show(b, map[string]any{"bench": "pose_kill", "clip": filepath.Base(bowler), "model": "full", "ffmpeg": decodersName(decoders),
			"pass_s": round(whole.wall.Seconds()), "pass_cpu_s": round(whole.cpu), "lost_s": lost, "lost_cpu_s": lostCPU,
			"mean_lost_s": round(sum / n), "worst_lost_s": round(worst), "mean_lost_cpu_s": round(sumCPU / n)})
	}
}

// spent is what a pass took: by the clock, and seconds of processor time, the
// decoder's among them.
type spent struct {
	wall time.Duration
	cpu  float64
}

// trackUntil follows the bowler from a chunk on, for so long at most, and gives the
// last chunk that was saved.
func trackUntil(b *testing.B, v seer, after *pose.Chunk, limit time.Duration) (spent, *pose.Chunk) {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.Context(), limit)
	defer cancel()
	processors := func() float64 { return cpu(syscall.RUSAGE_SELF) + cpu(syscall.RUSAGE_CHILDREN) }
	begun, before, last := time.Now(), processors(), after
	info, err := v.Probe(ctx, bowler)
	if err == nil {
		defer info.Release()
		err = v.Track(ctx, bowler, info, after, func(c pose.Chunk) error {
			last = &c
			return ctx.Err()
		})
	}
	if err != nil && ctx.Err() == nil {
		b.Fatal(err)
	}
	return spent{time.Since(begun), processors() - before}, last
}

func round(f float64) float64 { return float64(int(f*1000+0.5)) / 1000 }

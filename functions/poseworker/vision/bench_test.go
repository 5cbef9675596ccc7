package vision_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"fastbowlinglab/shared/pose"
)

// BenchmarkPose prints the figures of README.md, one JSON line each: for clips,
// models and cores a pass' wall time over the processor seconds of decoding alone and
// of the models alone, taken beside it, spread over the cores (wall_over_bound);
// peak memory of the worker and its decoders, for long clips too; and what a kill at
// a random point costs. BENCH_CLIP chooses one other clip, BENCH_MODELS the models;
// either leaves the rest of the table out.
func BenchmarkPose(b *testing.B) {
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
		for _, cores := range []int{1, 2} {
			measure(b, "pose_pass", row{Clip: sample, Model: model, Cores: cores})
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
			measure(b, "pose_pass", row{Clip: clip, Model: model, Cores: 2})
		}
	}
	b.Run("kill", kills)
	for _, seconds := range []int{180, 590} {
		long := repeated(b, seconds)
		for _, model := range []string{"full", "heavy"} {
			measure(b, "pose_memory", row{Clip: long, Model: model, Cores: 2, Alone: true})
		}
	}
}

// measure runs one row and prints its line.
func measure(b *testing.B, bench string, r row) {
	name := strings.TrimSuffix(filepath.Base(r.Clip), filepath.Ext(r.Clip))
	b.Run(fmt.Sprintf("%s/%s/%d", name, r.Model, r.Cores), func(b *testing.B) {
		for range b.N {
			line := r.run(b)
			line["bench"] = bench
			show(b, line)
		}
	})
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
// on from its last saved chunk: the seconds of both, less those of one left alone.
// Waiting for the lease to run out comes on top.
func kills(b *testing.B) {
	v := real(b, "full")
	rnd := rand.New(rand.NewPCG(1, 5))
	for range b.N {
		whole, _ := trackUntil(b, v, nil, time.Hour)
		var lost []float64
		worst, sum := 0.0, 0.0
		for range 6 {
			first, last := trackUntil(b, v, nil, time.Duration((0.05+0.9*rnd.Float64())*float64(whole)))
			second := time.Duration(0)
			if last == nil || !last.Last {
				second, _ = trackUntil(b, v, last, time.Hour)
			}
			s := max(0, (first + second - whole).Seconds())
			lost, worst, sum = append(lost, round(s)), max(worst, s), sum+s
		}
		show(b, map[string]any{"bench": "pose_kill", "clip": filepath.Base(bowler), "model": "full", "pass_s": round(whole.Seconds()),
			"lost_s": lost, "mean_lost_s": round(sum / float64(len(lost))), "worst_lost_s": round(worst)})
	}
}

// trackUntil follows the bowler from a chunk on, for so long at most, and gives the
// last chunk that was saved.
func trackUntil(b *testing.B, v seer, after *pose.Chunk, limit time.Duration) (time.Duration, *pose.Chunk) {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.Context(), limit)
	defer cancel()
	begun, last := time.Now(), after
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
	return time.Since(begun), last
}

func round(f float64) float64 { return float64(int(f*1000+0.5)) / 1000 }

package chaosreal_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"fastbowlinglab/integration/chaosreal"
	"fastbowlinglab/integration/local"
	"fastbowlinglab/shared/analysis"
)

var (
	runs = flag.Int("real.runs", 5, "schedules")
	seed = flag.Uint64("real.seed", 47, "seed of the first schedule")
	out  = flag.String("real.out", "", "file for the summary line")
)

func TestMain(m *testing.M) {
	flag.Parse()
	slog.SetDefault(slog.New(slog.DiscardHandler))
	os.Exit(m.Run())
}

// clip is the sample made small: a picture of 320 pixels at 30 a second is enough
// to go through every stage, and is tracked in a second or two.
func clip(t *testing.T, root string) []byte {
	t.Helper()
	if _, err := exec.LookPath("ffmpeg"); err != nil {
		t.Skip("ffmpeg is not installed")
	}
	small := filepath.Join(t.TempDir(), "small.mp4")
	cmd := exec.Command("ffmpeg", "-nostdin", "-v", "error", "-y", "-i", filepath.Join(root, "integration/samples/bowler.mp4"),
		"-vf", "fps=30,scale=320:180", "-c:v", "libx264", "-preset", "veryfast", "-crf", "24", "-pix_fmt", "yuv420p", small)
	if msg, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("ffmpeg: %v: %s", err, msg)
	}
	b, err := os.ReadFile(small)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// No promise breaks in a campaign with real processes, and every analysis comes
// to its end.
func TestReal(t *testing.T) {
	root, err := local.FindRoot()
	if err != nil {
		t.Fatal(err)
	}
	if need := chaosreal.Missing(root); need != "" {
		t.Skipf("%s is missing: run `make functions` first", need)
	}
	cfg := chaosreal.Config{Runs: *runs, Seed: *seed, Clip: clip(t, root)}
	if dir := os.Getenv("CHAOS_LOGS"); dir != "" {
		cfg.Local.Logs = dir
	}
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Minute)
	defer cancel()
	res, err := chaosreal.Run(ctx, cfg)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range res.Violations {
		t.Errorf("%s violated: %s\n  replay: make chaos REAL=1 SEED=%d", v.Invariant, v.Detail, v.Seed)
	}
	for _, s := range res.Each {
		t.Logf("seed %d: %s after %s; %v; %v", s.Seed, s.End, s.Took, s.Things, s.Faults)
	}
	ended := 0
	for s, n := range res.Ends {
		if s != analysis.Reserved {
			ended += n
		}
	}
	if ended != *runs {
		t.Errorf("%d of %d analyses have their end", ended, *runs)
	}
	figures := res.Figures()
	figures["seed"] = *seed
	line, err := json.Marshal(figures)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Println(string(line))
	if *out != "" {
		if err := os.WriteFile(*out, append(line, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

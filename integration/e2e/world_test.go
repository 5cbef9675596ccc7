package e2e

import (
	"context"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"fastbowlinglab/integration/demo"
	"fastbowlinglab/integration/demo/embedded"
	"fastbowlinglab/integration/local"
	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/credit"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/posejob"
)

func TestMain(m *testing.M) {
	slog.SetDefault(slog.New(slog.DiscardHandler))
	os.Exit(m.Run())
}

// root is the project's folder.
func root(t testing.TB) string {
	t.Helper()
	dir, err := local.FindRoot()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// world is an embedded cloud with the real programs.
type world struct {
	*local.Cloud
	t   testing.TB
	dir string // results of demo runs
	db  *dynamodb.Client
}

// start starts a cloud in memory. One runs at a time in a process.
func start(t testing.TB, change ...func(*local.Config)) *world {
	t.Helper()
	dir := root(t)
	for _, need := range []string{".local/bin/" + names.PoseWorker, ".local/bin/" + names.FnRender + "/bootstrap", ".local/fonts",
		"node_modules/@dynoxide/linux-x64/dynoxide"} {
		if _, err := os.Stat(filepath.Join(dir, need)); err != nil {
			t.Skipf("%s is missing: run `make functions` first", need)
		}
	}
	cfg := local.Config{EventRetries: []time.Duration{time.Second}, Schedules: map[string]time.Duration{names.FnReconcile: -1}}
	for _, f := range change {
		f(&cfg)
	}
	c, err := local.Start(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Errorf("close the cloud: %v", err)
		}
	})
	return &world{Cloud: c, t: t, dir: t.TempDir(), db: dynamodb.NewFromConfig(c.AWS())}
}

// demo runs the main job as an app does.
func (w *world) demo(clip, key string) demo.Summary {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 8*time.Minute)
	defer cancel()
	sum, err := demo.Run(ctx, w.config(clip, key))
	if err != nil {
		w.t.Fatalf("%s: %v", filepath.Base(clip), err)
	}
	return sum
}

func (w *world) config(clip, key string) demo.Config {
	return embedded.Config(w.Cloud, clip, key, w.dir)
}

// row reads an analysis past the API.
func (w *world) row(id string) analysis.Row {
	w.t.Helper()
	r, err := analysis.Get(context.Background(), w.db, names.Analyses.Name, id)
	if err != nil {
		w.t.Fatal(err)
	}
	return r
}

// job reads the pose job of an analysis; the zero Job where there is none yet.
func (w *world) job(id string) posejob.Job {
	s := &posejob.Store{DB: w.db, Table: names.PoseJobs.Name, Analyses: names.Analyses.Name}
	j, err := s.Get(context.Background(), id)
	if err != nil {
		return posejob.Job{}
	}
	return j
}

// kinds counts the ledger's entries of a summary.
func kinds(entries []credit.Entry) map[credit.Kind]int {
	n := map[credit.Kind]int{}
	for _, e := range entries {
		n[e.Kind]++
	}
	return n
}

// end asserts how an analysis ended, and I2 to I4.
func (w *world) end(sum demo.Summary, status analysis.Status, why string) {
	w.t.Helper()
	if sum.Status != string(status) || sum.Reason != why {
		w.t.Errorf("%s ended %s %q, want %s %q", sum.Clip, sum.Status, sum.Reason, status, why)
	}
	want := map[credit.Kind]int{credit.KindGrant: 1, credit.KindReserve: 1}
	if status != analysis.Ready {
		want[credit.KindRefund] = 1
		if sum.Message == "" {
			w.t.Errorf("%s ended %s without a sentence for the athlete", sum.Clip, sum.Status)
		}
	}
	got := kinds(sum.Entries)
	for _, k := range []credit.Kind{credit.KindGrant, credit.KindReserve, credit.KindRefund} {
		if got[k] != want[k] {
			w.t.Errorf("%s: ledger has %d entries of kind %s, want %d", sum.Clip, got[k], k, want[k])
		}
	}
	if len(sum.Notices) != 1 {
		w.t.Errorf("%s: %d notices, want 1", sum.Clip, len(sum.Notices))
	}
}

// eventually waits for a condition.
func eventually(t testing.TB, limit time.Duration, what string, ok func() bool) {
	t.Helper()
	deadline := time.After(limit)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("waited %s in vain for %s", limit, what)
		}
	}
}

// ffmpeg makes a clip for a test.
func ffmpeg(t testing.TB, args ...string) {
	t.Helper()
	if _, err := exec.LookPath("ffmpeg"); err != nil {
		t.Skip("ffmpeg is not installed")
	}
	out, err := exec.Command("ffmpeg", append([]string{"-nostdin", "-v", "error", "-y"}, args...)...).CombinedOutput()
	if err != nil {
		t.Fatalf("ffmpeg %v: %v\n%s", args, err, out)
	}
}

// sample is a rendered clip of ours.
func sample(t testing.TB, name string) string {
	return filepath.Join(root(t), "integration", "samples", name)
}

// parallel runs f n times at once.
func parallel(n int, f func(i int)) {
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { f(i) })
	}
	wg.Wait()
}

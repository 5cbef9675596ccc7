package e2e

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ssm"

	"fastbowlinglab/integration/demo"
	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/flags"
	"fastbowlinglab/shared/names"
)

// road flips the flag, as an operator does.
func (w *world) road(value string) {
	w.t.Helper()
	_, err := ssm.NewFromConfig(w.AWS()).PutParameter(context.Background(), &ssm.PutParameterInput{
		Name: aws.String(names.Parameters + "/flags/" + flags.PoseRoad), Value: &value, Overwrite: aws.Bool(true)})
	if err != nil {
		w.t.Fatal(err)
	}
}

// The main job over HTTP, with the real programs: probe, post, signed callback.
func TestHTTPRoad(t *testing.T) {
	w := start(t)
	w.road(flags.RoadHTTP)
	sum := w.demo(sample(t, "bowler.mp4"), "http")
	w.end(sum, analysis.Ready, "")
	job := w.job(sum.AnalysisID)
	if job.Token1 != "" {
		t.Error("somebody waited for a claim: that is the queue road")
	}
	row := w.row(sum.AnalysisID)
	if row.Flags[flags.PoseRoad] != flags.RoadHTTP {
		t.Errorf("flags as first read: %v", row.Flags)
	}
	if n := w.Balancer().Made504(); n != 0 {
		t.Errorf("the balancer made %d 504s", n)
	}
	if out := w.log("callback"); !strings.Contains(out, "result taken") {
		t.Errorf("the result did not come by callback: %s", out)
	}
}

// log is what a function has written.
func (w *world) log(fn string) string {
	w.t.Helper()
	b, err := os.ReadFile(filepath.Join(w.Logs, fn+".log"))
	if err != nil {
		w.t.Fatal(err)
	}
	return string(b)
}

// A worker on the HTTP road is stopped with SIGTERM in mid-pass: it gives the job
// back, the run goes back to dispatch, and another worker goes on.
func TestHTTPRoadReleased(t *testing.T) {
	w := start(t)
	w.road(flags.RoadHTTP)
	type result struct {
		sum demo.Summary
		err error
	}
	done := make(chan result, 1)
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), 8*time.Minute)
		defer cancel()
		sum, err := demo.Run(ctx, w.config(sample(t, "bowler.mp4"), "released"))
		done <- result{sum, err}
	}()
	var id string
	eventually(t, 3*time.Minute, "the first checkpoint", func() bool {
		for _, r := range w.open(t) {
			id = r.AnalysisID
		}
		return id != "" && len(w.job(id).Chunks(0)) >= 1
	})
	begun := time.Now()
	pids := w.Tasks().Pids()
	if len(pids) != 1 {
		t.Fatalf("%d workers run, want 1", len(pids))
	}
	if err := syscall.Kill(pids[0], syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	eventually(t, names.StopGrace, "the worker to leave", func() bool { return syscall.Kill(pids[0], 0) != nil })
	t.Logf("SIGTERM to exit: %.1f s", time.Since(begun).Seconds())
	r := <-done
	if r.err != nil {
		t.Fatal(r.err)
	}
	w.end(r.sum, analysis.Ready, "")
	if j := w.job(id); j.Redone > 1 || j.Fence < 2 || j.Deaths != 0 {
		t.Errorf("fence %d, %d chunks done twice, %d deaths", j.Fence, j.Redone, j.Deaths)
	}
}

package e2e

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"fastbowlinglab/integration/demo"
	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/names"
)

// maxWorkerMiB is the worker's memory bound with the full model.
const maxWorkerMiB = 700

// peak watches the peak memory of every worker until the test ends.
type peak struct {
	mu  sync.Mutex
	mib map[int]int // by pid
}

func watch(t *testing.T, w *world) *peak {
	p := &peak{mib: map[int]int{}}
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() {
		tick := time.NewTicker(200 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			for _, pid := range w.Tasks().Pids() {
				if mib := highWater(pid); mib > 0 {
					p.mu.Lock()
					p.mib[pid] = mib
					p.mu.Unlock()
				}
			}
		}
	})
	t.Cleanup(func() { cancel(); wg.Wait() })
	return p
}

func (p *peak) max() (mib int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, m := range p.mib {
		mib = max(mib, m)
	}
	return mib
}

// highWater is a process's peak resident memory in MiB; 0 when it has gone.
func highWater(pid int) int {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	for _, line := range strings.Split(string(b), "\n") {
		if v, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kb, err := strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(v), " kB"))
			if err != nil {
				return 0
			}
			return kb / 1024
		}
	}
	return 0
}

// A clip of three minutes whose delivery comes at the end; its worker is killed
// in mid-pass. Another process goes on from the checkpoint, at most one chunk is
// done twice, and memory does not grow with the clip.
func TestWorkerKilledInMidPassOfALongClip(t *testing.T) {
	clip := filepath.Join(t.TempDir(), "long.mp4")
	ffmpeg(t, "-i", sample(t, "bowler.mp4"), "-vf", "fps=30,tpad=start_duration=178:start_mode=clone,fps=30,setpts=PTS",
		"-r", "30", "-c:v", "libx264", "-preset", "ultrafast", "-crf", "23", "-pix_fmt", "yuv420p", clip)
	w := start(t)
	mem := watch(t, w)
	type result struct {
		sum demo.Summary
		err error
	}
	done := make(chan result, 1)
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), 9*time.Minute)
		defer cancel()
		sum, err := demo.Run(ctx, w.config(clip, ""))
		done <- result{sum, err}
	}()
	var id string
	eventually(t, 2*time.Minute, "the second checkpoint", func() bool {
		for _, r := range w.open(t) {
			id = r.AnalysisID
		}
		return id != "" && len(w.job(id).Chunks(0)) >= 2
	})
	before := w.job(id)
	pids := w.Tasks().Pids()
	if len(pids) != 1 {
		t.Fatalf("%d workers run, want 1", len(pids))
	}
	if err := syscall.Kill(pids[0], syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	r := <-done
	if r.err != nil {
		t.Fatal(r.err)
	}
	w.end(r.sum, analysis.Ready, "")
	after := w.job(id)
	t.Logf("killed after %d chunks; %d chunks in all, %d done twice, fence %d -> %d", len(before.Chunks(0)), len(after.Chunks(0)), after.Redone, before.Fence, after.Fence)
	if after.Redone > 1 {
		t.Errorf("%d chunks were done twice, want at most 1", after.Redone)
	}
	if after.Fence <= before.Fence {
		t.Errorf("fence %d after the kill, want more than %d", after.Fence, before.Fence)
	}
	t.Logf("peak memory of a worker: %d MiB", mem.max())
	if m := mem.max(); m == 0 || m > maxWorkerMiB {
		t.Errorf("peak memory %d MiB, want 1 to %d", m, maxWorkerMiB)
	}
}

// open lists the open analyses.
func (w *world) open(t *testing.T) []analysis.Row {
	t.Helper()
	var rows []analysis.Row
	s := analysis.Store{DB: w.db, Analyses: names.Analyses.Name}
	if err := s.Open(context.Background(), func(r analysis.Row) bool { rows = append(rows, r); return true }); err != nil {
		t.Fatal(err)
	}
	return rows
}

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

// maxWorkerMiB bounds the worker's memory with the full model, however long the clip.
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

// of is the peak of a process, in MiB.
func (p *peak) of(pid int) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.mib[pid]
}

// but is the highest peak of the processes other than pid.
func (p *peak) but(pid int) (mib int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for other, m := range p.mib {
		if other != pid {
			mib = max(mib, m)
		}
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

// long makes a clip of three minutes: the bowler stands, at three frames a second,
// until the delivery comes at sixty. It has 684 frames, each of which is
// tracked; three minutes at thirty a second would show the same in eight times
// the time.
func long(t *testing.T) string {
	clip := filepath.Join(t.TempDir(), "long.mp4")
	ffmpeg(t, "-i", sample(t, "bowler.mp4"), "-filter_complex",
		"[0:v]trim=end_frame=1,loop=loop=533:size=1,settb=1/600,setpts=N*200[stands];"+
			"[0:v]settb=1/600,setpts=PTS-STARTPTS[bowls];[stands][bowls]concat=n=2:v=1",
		"-fps_mode", "vfr", "-c:v", "libx264", "-preset", "ultrafast", "-crf", "23", "-pix_fmt", "yuv420p", clip)
	return clip
}

// The worker of a long clip is killed in mid-pass. Another process goes on from
// the checkpoint, at most one chunk is done twice, and memory does not grow with
// the clip: the second worker, with all but a few of the chunks, needs no more
// than the first.
func TestWorkerKilledInMidPassOfALongClip(t *testing.T) {
	clip := long(t)
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
	eventually(t, 5*time.Minute, "the second checkpoint", func() bool {
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
	first, second := mem.of(pids[0]), mem.but(pids[0])
	t.Logf("peak memory: %d MiB with %d chunks, %d MiB with the rest", first, len(before.Chunks(0)), second)
	if first == 0 || second == 0 || max(first, second) > maxWorkerMiB {
		t.Errorf("peak memory %d MiB with few chunks and %d MiB with many, want at most %d", first, second, maxWorkerMiB)
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

package poseworker

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"fastbowlinglab/functions/internal/posetest"
	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/media"
	"fastbowlinglab/shared/pose"
	"fastbowlinglab/shared/posejob"
)

// decoding is a Vision that really decodes, one picture every few milliseconds,
// and computes nothing.
type decoding struct {
	*sight
	file string
}

func (d decoding) Probe(ctx context.Context, _ string) (media.Info, error) {
	return media.Probe(ctx, d.file, media.DefaultLimits())
}

func (d decoding) Track(ctx context.Context, _ string, info media.Info, _ *pose.Chunk, emit func(pose.Chunk) error) error {
	err := media.Frames(ctx, d.file, info, media.Options{}, func(media.Frame) error { sleep(ctx, 20*time.Millisecond); return nil })
	if err != nil {
		return err
	}
	return emit(pose.Chunk{Last: true, State: json.RawMessage(`{}`)})
}

// longClip is a clip of a minute whose decoding takes longer than any test.
func longClip(t *testing.T) string {
	t.Helper()
	if _, err := exec.LookPath("ffmpeg"); err != nil {
		t.Skip("ffmpeg is not installed")
	}
	file := filepath.Join(t.TempDir(), "long.mp4")
	out, err := exec.Command("ffmpeg", "-nostdin", "-v", "error", "-f", "lavfi", "-i", "testsrc=size=320x180:rate=30:duration=60",
		"-c:v", "libx264", "-preset", "ultrafast", "-pix_fmt", "yuv420p", file).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return file
}

// decoders are the pids of the ffmpeg processes that a process has started.
func decoders(parent int) (pids []int) {
	all, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return nil
	}
	for _, path := range all {
		b, err := os.ReadFile(path)
		if err != nil || !bytes.Contains(b, []byte("(ffmpeg)")) {
			continue
		}
		f := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:])) // state, parent, group, ...
		if f[0] == "Z" || f[1] != strconv.Itoa(parent) {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path))); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// gone reports whether nothing of a process group is left but what waits to be
// reaped.
func gone(pid int) bool {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return errors.Is(syscall.Kill(-pid, 0), syscall.ESRCH)
	}
	return strings.HasPrefix(strings.TrimSpace(string(b[bytes.LastIndexByte(b, ')')+1:])), "Z")
}

// begun starts a worker on a real decoding, and gives the decoder's pid.
func begun(t *testing.T, change func(*Deps)) (*posetest.World, *running, int) {
	file := longClip(t)
	w := posetest.New(t, 1)
	w.Dispatch(w.Run)
	d := depsFor(w, w.DB, decoding{&sight{chunks: 1}, file})
	change(&d)
	r := start(t, d)
	var pids []int
	waitFor(t, "a decoder", func() bool { pids = decoders(os.Getpid()); return len(pids) == 1 })
	return w, r, pids[0]
}

// A run that has ended is seen within one keeper period, and the decoder's
// process group is gone: proved by its pid.
func TestCancelledRunEndsTheDecoder(t *testing.T) {
	const period = time.Second
	w, _, pid := begun(t, func(d *Deps) {
		d.Timers.Keeper = period
		d.Jobs.Lease, d.Keeper.Jobs.Lease = 10*time.Second, 10*time.Second
	})
	if gone(pid) {
		t.Fatal("the decoder was gone before")
	}
	ended := time.Now()
	w.Analysis(w.Run, analysis.Failed, 1)
	waitFor(t, "the decoder gone", func() bool { return gone(pid) })
	took := time.Since(ended)
	t.Logf("decoder %d gone %.2f s after the run's end; the keeper's period is %s", pid, took.Seconds(), period)
	if took > period+5*time.Second { // the period, and a machine that is busy
		t.Errorf("the decoder lived on for %s", took)
	}
	waitState(t, w, posejob.Waiting)
}

// SIGTERM to the end of worker and decoder is far inside the grace.
func TestTermEndsTheDecoder(t *testing.T) {
	w, r, pid := begun(t, func(*Deps) {})
	asked := time.Now()
	r.term()
	if err := <-r.done; err != nil {
		t.Error(err)
	}
	t.Logf("left %.2f s after SIGTERM", time.Since(asked).Seconds())
	if !gone(pid) {
		t.Errorf("decoder %d outlives its worker", pid)
	}
	if j := w.Job(); j.State != posejob.Waiting || j.Deaths != 0 {
		t.Errorf("job %s, %d deaths; want it given back", j.State, j.Deaths)
	}
}

// A decoder that hangs (stopped here) moves nothing: the pass is given up, the
// decoder is killed though it takes no signal, and the try is counted.
func TestStuckDecoderIsEnded(t *testing.T) {
	w, _, pid := begun(t, func(d *Deps) { d.Timers.NoProgress = 10 * time.Second })
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	posetest.Eventually(t, time.Minute, "the stuck decoder gone", func() bool { return gone(pid) })
	posetest.Eventually(t, time.Minute, "the try counted", func() bool { return w.Job().Deaths >= 1 })
}

// A worker that is killed -9 leaves no decoder and no file behind.
func TestKilledWorkerLeavesNothing(t *testing.T) {
	if file := os.Getenv("POSE_TEST_DECODE"); file != "" {
		info, err := media.Probe(context.Background(), file, media.DefaultLimits())
		if err == nil {
			err = media.Frames(context.Background(), file, info, media.Options{}, func(media.Frame) error { sleep(t.Context(), 20*time.Millisecond); return nil })
		}
		t.Fatal(err)
	}
	file, scratch := longClip(t), t.TempDir()
	cmd := exec.Command(os.Args[0], "-test.run", "^TestKilledWorkerLeavesNothing$")
	cmd.Env = append(os.Environ(), "POSE_TEST_DECODE="+file, "TMPDIR="+scratch)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var pids []int
	waitFor(t, "a decoder", func() bool { pids = decoders(cmd.Process.Pid); return len(pids) == 1 })
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // killed
	waitFor(t, "the orphan gone", func() bool { return gone(pids[0]) })
	left, err := os.ReadDir(scratch)
	if err != nil || len(left) != 0 {
		t.Errorf("scratch files left: %v, %v", left, err)
	}
}

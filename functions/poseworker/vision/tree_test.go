package vision_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"
)

// startOn starts a process that may use only the first so many cores.
func startOn(cmd *exec.Cmd, cores int) error {
	runtime.LockOSThread() // a child inherits what its parent's thread may use
	defer runtime.UnlockOSThread()
	var before, mask [16]uint64
	size := unsafe.Sizeof(mask)
	if _, _, e := syscall.RawSyscall(syscall.SYS_SCHED_GETAFFINITY, 0, size, uintptr(unsafe.Pointer(&before))); e != 0 {
		return e
	}
	for i, left := 0, cores; i < 64*len(before) && left > 0; i++ {
		if bit := before[i/64] & (1 << (i % 64)); bit != 0 {
			mask[i/64] |= bit
			left--
		}
	}
	if _, _, e := syscall.RawSyscall(syscall.SYS_SCHED_SETAFFINITY, 0, size, uintptr(unsafe.Pointer(&mask))); e != 0 {
		return e
	}
	err := cmd.Start()
	if _, _, e := syscall.RawSyscall(syscall.SYS_SCHED_SETAFFINITY, 0, size, uintptr(unsafe.Pointer(&before))); e != 0 && err == nil {
		return e
	}
	return err
}

// sampleMemory looks at a process and its decoders twenty times a second; the
// function that it gives ends it and says the largest sum of their resident sizes,
// in MiB. Shared pages are counted once for each: it is never too little.
func sampleMemory(pid int) (peak func() int) {
	stop, most := make(chan struct{}), make(chan int)
	go func() {
		highest := 0
		tick := time.NewTicker(50 * time.Millisecond)
		defer tick.Stop()
		for {
			highest = max(highest, resident(pid))
			select {
			case <-tick.C:
			case <-stop:
				most <- highest / 1024
				return
			}
		}
	}()
	return func() int { close(stop); return <-most }
}

// resident is the resident memory of a process and of the decoders it runs, in KiB.
func resident(pid int) int {
	sum := statusKiB(pid, "VmRSS:")
	lists, err := filepath.Glob("/proc/" + strconv.Itoa(pid) + "/task/*/children")
	if err != nil {
		return sum
	}
	for _, l := range lists {
		text, err := os.ReadFile(l)
		if err != nil {
			continue // that thread has ended
		}
		for _, f := range strings.Fields(string(text)) {
			child, err := strconv.Atoi(f)
			if err != nil {
				continue
			}
			name, err := os.ReadFile("/proc/" + f + "/comm")
			if err == nil && strings.HasPrefix(string(name), "ff") { // the test's database is not the worker's
				sum += statusKiB(child, "VmRSS:")
			}
		}
	}
	return sum
}

func statusKiB(pid int, field string) int {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		if f := strings.Fields(line); len(f) > 1 && f[0] == field {
			kib, _ := strconv.Atoi(f[1])
			return kib
		}
	}
	return 0
}

// TestMemory holds passes to the fleet's bounds: 600 MiB with the model full, 1.2 GiB
// with heavy, the decoder's memory counted; 4K of ten bits in HDR and 240 frames a
// second among them. That it does not grow with a clip's length BenchmarkPose shows.
func TestMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes half a minute")
	}
	hdr := filepath.Join(t.TempDir(), "hdr4k.mp4")
	makeClip(t, "-f", "lavfi", "-i", "testsrc2=s=3840x2160:r=60:d=0.5", "-pix_fmt", "yuv420p10le", "-c:v", "libx265",
		"-preset", "ultrafast", "-x265-params", "log-level=none", "-color_primaries", "bt2020", "-color_trc", "arib-std-b67", "-colorspace", "bt2020nc", hdr)
	for _, c := range []struct {
		clip, model string
		limit       int // MiB
	}{
		{hdr, "full", 600},
		{filepath.Join(root, "../shared/footage/L4_2160p.mp4"), "full", 600},
		{filepath.Join(root, "integration/samples/variants/bowler_240fps.mp4"), "full", 600},
		{filepath.Join(root, "../shared/footage/L4_2160p.mp4"), "heavy", 1228},
	} {
		t.Run(filepath.Base(c.clip)+"/"+c.model, func(t *testing.T) {
			line := row{Clip: c.clip, Model: c.model, Cores: 2, Alone: true}.run(t)
			got, ok := line["peak_rss_mib"].(int)
			if !ok || got > c.limit || got < 50 {
				t.Errorf("%v MiB at most, the limit is %d", line["peak_rss_mib"], c.limit)
			}
			t.Logf("%d MiB at most, %v frames, %v", got, line["frames"], line["verdict"])
		})
	}
}

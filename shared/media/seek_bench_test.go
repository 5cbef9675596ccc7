package media_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"

	"fastbowlinglab/shared/media"
)

// BenchmarkSeek prints one JSON line for each codec: what one frame from the
// middle of a generated 10 s 4K clip costs when it is sought over HTTP range
// requests (Sample), against decoding to the middle, in processor seconds of
// ffmpeg, and the bytes that were read for it. BENCH_SEEK keeps the clips in a
// folder for the next run.
func BenchmarkSeek(b *testing.B) {
	dir := os.Getenv("BENCH_SEEK")
	if dir == "" {
		dir = b.TempDir()
	}
	for _, codec := range []string{"h264", "hevc"} {
		b.Run(codec, func(b *testing.B) {
			path := generated(b, dir, codec)
			var read atomic.Int64
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				http.ServeFile(counted{w, &read}, r, path)
			}))
			b.Cleanup(srv.Close)
			info, err := media.Probe(b.Context(), srv.URL, media.DefaultLimits())
			if err != nil {
				b.Fatal(err)
			}
			for range b.N {
				before := childSeconds(b)
				out, err := exec.Command("ffmpeg", "-v", "error", "-nostdin", "-threads", "2", "-t", fmt.Sprint(info.Duration/2), "-i", path,
					"-an", "-f", "null", "-").CombinedOutput()
				if err != nil {
					b.Fatalf("%v: %s", err, out)
				}
				decode := childSeconds(b) - before
				read.Store(0)
				before = childSeconds(b)
				fs, err := media.Sample(b.Context(), srv.URL, info, 1, 1024)
				if err != nil || len(fs) != 1 || fs[0].Width > 1024 {
					b.Fatalf("%d frames, %v", len(fs), err)
				}
				seek := childSeconds(b) - before
				line, err := json.Marshal(map[string]any{"bench": "seek_4k", "codec": codec, "seconds": info.Duration, "frames": info.Frames,
					"bytes": size(b, path), "at_s": fs[0].Time, "seek_cpu_s": seek, "decode_to_middle_cpu_s": decode,
					"seek_over_decode": seek / decode, "bytes_read": read.Load()})
				if err != nil {
					b.Fatal(err)
				}
				fmt.Printf("\n%s\n", line)
				if seek > decode/5 {
					b.Errorf("seeking costs %.2f of decoding to the middle, more than a fifth", seek/decode)
				}
			}
		})
	}
}

// generated makes a noisy 10 s 4K clip of 30 frames a second with a key frame a
// second, as phones write.
func generated(b *testing.B, dir, codec string) string {
	b.Helper()
	path := filepath.Join(dir, codec+".mp4")
	if _, err := os.Stat(path); err == nil {
		return path
	}
	args := []string{"-v", "error", "-y", "-f", "lavfi", "-i", "testsrc2=s=3840x2160:r=30:d=10", "-vf", "noise=alls=12:allf=t", "-preset", "ultrafast"}
	if codec == "h264" {
		args = append(args, "-c:v", "libx264", "-g", "30", "-b:v", "20M")
	} else {
		args = append(args, "-c:v", "libx265", "-x265-params", "keyint=30:min-keyint=30:log-level=error", "-tag:v", "hvc1", "-b:v", "20M")
	}
	out, err := exec.Command("ffmpeg", append(args, "-pix_fmt", "yuv420p", path)...).CombinedOutput()
	if err != nil {
		b.Skipf("this ffmpeg cannot make a %s clip: %v: %s", codec, err, out)
	}
	return path
}

func size(b *testing.B, path string) int64 {
	b.Helper()
	st, err := os.Stat(path)
	if err != nil {
		b.Fatal(err)
	}
	return st.Size()
}

// childSeconds gives the processor seconds of processes that have ended.
func childSeconds(b *testing.B) float64 {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_CHILDREN, &u); err != nil {
		b.Fatal(err)
	}
	return float64(u.Utime.Sec+u.Stime.Sec) + float64(u.Utime.Usec+u.Stime.Usec)/1e6
}

// counted counts what is sent.
type counted struct {
	http.ResponseWriter
	n *atomic.Int64
}

func (c counted) Write(p []byte) (int, error) {
	n, err := c.ResponseWriter.Write(p)
	c.n.Add(int64(n))
	return n, err
}

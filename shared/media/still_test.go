package media_test

import (
	"bytes"
	"image/jpeg"
	"os/exec"
	"path/filepath"
	"testing"

	"fastbowlinglab/shared/media"
)

func ffmpeg(t testing.TB, args ...string) {
	t.Helper()
	out, err := exec.Command("ffmpeg", append([]string{"-nostdin", "-v", "error", "-y"}, args...)...).CombinedOutput()
	if err != nil {
		t.Fatalf("ffmpeg: %v: %s", err, out)
	}
}

// numbered makes a clip whose frame n is grey of brightness 20 + 3n, so that a
// picture tells which frame it is.
func numbered(t testing.TB, name, filter string, args ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	in := []string{"-f", "lavfi", "-i", "color=black:s=192x160:r=30:d=2,format=gray,geq=lum=20+3*N" + filter}
	ffmpeg(t, append(append(in, "-c:v", "libx264", "-pix_fmt", "yuv420p", "-g", "20", "-bf", "2", "-crf", "4"), append(args, path)...)...)
	return path
}

func brightness(pix []byte) int {
	sum := 0
	for _, v := range pix {
		sum += int(v)
	}
	return sum / len(pix)
}

// TestStillIsTheFirstFrameAtOrAfter asks for every frame's own time and for
// times in between, and compares brightness with what streaming gave.
func TestStillIsTheFirstFrameAtOrAfter(t *testing.T) {
	base := numbered(t, "base.mp4", "")
	trimmed := filepath.Join(t.TempDir(), "trimmed.mp4")
	ffmpeg(t, "-ss", "0.9", "-i", base, "-c", "copy", trimmed) // an edit list hides the pre-roll
	for _, c := range []struct{ name, path string }{
		{"Base", base},
		{"Timescale600", numbered(t, "q.mov", "", "-video_track_timescale", "600")},
		{"VariableRate", numbered(t, "v.mp4", `,select=not(between(n\,20\,33))*not(eq(mod(n\,7)\,3))`, "-fps_mode", "vfr")},
		{"EditList", trimmed},
		{"TransportStream", numbered(t, "t.ts", "")},
		{"Matroska", numbered(t, "m.mkv", "")},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			info, err := media.Probe(t.Context(), c.path, media.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			var times []float64
			var grey []int
			err = media.Frames(t.Context(), c.path, info, media.Options{}, func(f media.Frame) error {
				times, grey = append(times, f.Time), append(grey, brightness(f.Pix))
				return nil
			})
			if err != nil || len(times) < 25 {
				t.Fatalf("%d frames, %v", len(times), err)
			}
			last := len(times) - 1
			for _, i := range []int{0, 1, 17, 21, last - 1, last} {
				check(t, c.path, info, times[i], grey[i])
				if i < last {
					check(t, c.path, info, times[i]+0.4*(times[i+1]-times[i]), grey[i+1])
				}
			}
			check(t, c.path, info, times[last]+5, grey[last])
		})
	}
}

func check(t *testing.T, path string, info media.Info, at float64, want int) {
	t.Helper()
	b, err := media.Still(t.Context(), path, info, at, 0)
	if err != nil {
		t.Fatalf("still at %g s: %v", at, err)
	}
	img, err := jpeg.Decode(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	r, _, _, _ := img.At(80, 80).RGBA()
	if d := int(r>>8) - want; d < -1 || d > 1 {
		t.Errorf("still at %g s is %d bright, want %d", at, r>>8, want)
	}
}

// TestGoingOnGivesTheSameFrames resumes after every tenth frame.
// Field case 28: times re-based and rising, wherever a reader begins.
func TestGoingOnGivesTheSameFrames(t *testing.T) {
	path := numbered(t, "v.mp4", `,select=not(between(n\,20\,33))`, "-fps_mode", "vfr")
	info, err := media.Probe(t.Context(), path, media.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	var all []media.Frame
	opt := media.Options{Alloc: func(n int) []byte { return make([]byte, n) }}
	if err := media.Frames(t.Context(), path, info, opt, func(f media.Frame) error { all = append(all, f); return nil }); err != nil {
		t.Fatal(err)
	}
	for seen := 10; seen < len(all); seen += 10 {
		opt.Seen, opt.LastSeen = seen, all[seen-1].Time
		next := seen
		err := media.Frames(t.Context(), path, info, opt, func(f media.Frame) error {
			w := all[next]
			if f.Index != w.Index || f.Time != w.Time || !bytes.Equal(f.Pix, w.Pix) {
				t.Errorf("after %d frames: frame %d at %g s, want %d at %g s", seen, f.Index, f.Time, w.Index, w.Time)
			}
			next++
			return nil
		})
		if err != nil || next != len(all) {
			t.Errorf("after %d frames: up to %d of %d, %v", seen, next, len(all), err)
		}
	}
}

func TestSampleIsSpreadAndNarrow(t *testing.T) {
	path := filepath.Join(root(t), "integration", "samples", "variants", "bowler_portrait.mp4")
	info, err := media.Probe(t.Context(), path, media.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	if info.Width != 720 || info.Height != 1280 {
		t.Errorf("shown %d x %d", info.Width, info.Height)
	}
	fs, err := media.Sample(t.Context(), path, info, 3, 512)
	if err != nil || len(fs) != 3 {
		t.Fatalf("%d frames, %v", len(fs), err)
	}
	for i, f := range fs { // about the middle of its third, or the key frame before
		middle := info.Duration * (float64(i) + 0.5) / 3
		if f.Width != 512 || f.Height != 910 || f.Time > middle+0.02 || f.Time < middle-0.4*info.Duration/3 {
			t.Errorf("%d x %d at %g s, want up to %g s", f.Width, f.Height, f.Time, middle)
		}
	}
	if fs[1].Time != 1 || fs[2].Time != 2 { // the clip has a key frame a second
		t.Errorf("frames at %g and %g s are no key frames", fs[1].Time, fs[2].Time)
	}
}

package media_test

import (
	"bytes"
	"errors"
	"image/jpeg"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"fastbowlinglab/shared/media"
	"fastbowlinglab/shared/reason"
)

// gathered reads a whole clip.
func gathered(t testing.TB, path string, info media.Info, opt media.Options) (fs []media.Frame) {
	t.Helper()
	opt.Alloc = func(n int) []byte { return make([]byte, n) }
	if err := media.Frames(t.Context(), path, info, opt, func(f media.Frame) error { fs = append(fs, f); return nil }); err != nil {
		t.Fatal(err)
	}
	return fs
}

// surveyed opens a clip and surveys it.
func surveyed(t testing.TB, path string, side int) media.Info {
	t.Helper()
	info, err := media.Open(t.Context(), path, media.Limits{MaxFrames: 10_000})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(info.Release)
	looks := 0
	if err := media.Survey(t.Context(), path, info, 0.12, media.Options{MaxSide: side}, func(f media.Frame) error { looks++; return nil }); err != nil {
		t.Fatal(err)
	}
	if looks < 2 {
		t.Fatalf("%d looks", looks)
	}
	return info
}

// TestSurveyedClipReadsTheSame reads clips of many kinds without and after a survey:
// the same frames, to the byte, whether they come from the pictures kept or are
// decoded again. Where the pictures were scaled down to be kept, about the same.
func TestSurveyedClipReadsTheSame(t *testing.T) {
	base := numbered(t, "base.mp4", "")
	trimmed := filepath.Join(t.TempDir(), "trimmed.mp4")
	ffmpeg(t, "-ss", "0.9", "-i", base, "-c", "copy", trimmed)
	colour := func(name string, args ...string) string {
		path := filepath.Join(t.TempDir(), name)
		ffmpeg(t, append(append([]string{"-f", "lavfi", "-i", "testsrc2=s=322x240:r=30:d=1"}, args...), path)...)
		return path
	}
	for _, c := range []struct {
		name, path string
		side       int
		near       bool // scaled twice
	}{
		{name: "Base", path: base},
		{name: "EditList", path: trimmed},
		{name: "VariableRate", path: numbered(t, "v.mp4", `,select=not(between(n\,20\,33))*not(eq(mod(n\,7)\,3))`, "-fps_mode", "vfr")},
		{name: "TransportStream", path: numbered(t, "t.ts", "")},
		{name: "Matroska", path: numbered(t, "m.mkv", "")},
		{name: "BT709", path: colour("709.mp4", "-vf", "scale=out_color_matrix=bt709,format=yuv420p", "-colorspace", "bt709", "-c:v", "libx264")},
		{name: "FullRange", path: colour("full.mp4", "-vf", "scale=out_range=pc,format=yuvj420p", "-c:v", "libx264")},
		{name: "TenBits", path: colour("ten.mp4", "-pix_fmt", "yuv420p10le", "-c:v", "libx265", "-x265-params", "log-level=none")},
		{name: "HDR", path: shared(t, "cases", "media", "m08_hevc10_hlg.mov")},
		{name: "Rotated", path: shared(t, "cases", "media", "m02_rot90.mp4")},
		{name: "Aspect", path: colour("aspect.mp4", "-vf", "setsar=4/3", "-pix_fmt", "yuv420p", "-c:v", "libx264")},
		{name: "Interlaced", path: colour("inter.mp4", "-vf", "format=yuv420p,tinterlace=interleave_top", "-c:v", "libx264", "-flags", "+ilme+ildct")},
		{name: "Smaller", path: shared(t, "cases", "media", "m02_rot90.mp4"), side: 320, near: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			plain, err := media.Probe(t.Context(), c.path, media.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			opt := media.Options{MaxSide: 160}
			want := gathered(t, c.path, plain, opt)
			keepSide := 1280
			if c.side > 0 {
				keepSide = c.side
			}
			info := surveyed(t, c.path, keepSide)
			got := gathered(t, c.path, info, opt)
			if len(got) != len(want) {
				t.Fatalf("%d frames, want %d", len(got), len(want))
			}
			for i := range got {
				a, b := got[i], want[i]
				if a.Index != b.Index || a.Time != b.Time || a.Width != b.Width || a.Height != b.Height {
					t.Fatalf("frame %d is %d at %g, %dx%d; want %d at %g, %dx%d", i, a.Index, a.Time, a.Width, a.Height, b.Index, b.Time, b.Width, b.Height)
				}
				if d := unlike(a.Pix, b.Pix); d > 0 && !c.near || d > 3 {
					t.Fatalf("frame %d differs by %.2f in the mean", i, d)
				}
			}
			sameInWindow(t, c.path, info, opt, want, c.near)
			sameStill(t, c.path, plain, info, want[len(want)/2].Time)
		})
	}
}

// sameInWindow reads the middle of a surveyed clip, from the pictures kept and,
// by asking for them larger, from the clip.
func sameInWindow(t *testing.T, path string, info media.Info, opt media.Options, want []media.Frame, near bool) {
	t.Helper()
	a, b := len(want)/3, 2*len(want)/3
	opt.Window = &media.Window{From: want[a].Time, To: want[b].Time}
	opt.Seen, opt.LastSeen = 3, want[2].Time
	fs := gathered(t, path, info, opt)
	if len(fs) != len(want)-3 {
		t.Fatalf("%d frames from the fourth on, of %d", len(fs), len(want))
	}
	for i, f := range fs {
		w := want[i+3]
		if f.Index != w.Index || f.Time != w.Time {
			t.Fatalf("frame %d at %g, want %d at %g", f.Index, f.Time, w.Index, w.Time)
		}
		if in := f.Index >= a && f.Index <= b; in != (f.Pix != nil) {
			t.Errorf("frame %d: picture %t, in the window %t", f.Index, f.Pix != nil, in)
		} else if in && !near && !bytes.Equal(f.Pix, w.Pix) {
			t.Errorf("frame %d in the window differs", f.Index)
		}
	}
}

// sameStill holds a still of the pictures kept against one that is sought.
func sameStill(t *testing.T, path string, plain, info media.Info, at float64) {
	t.Helper()
	var pix [2][]byte
	for i, inf := range []media.Info{plain, info} {
		b, err := media.Still(t.Context(), path, inf, at, 1280)
		if err != nil {
			t.Fatal(err)
		}
		img, err := jpeg.Decode(bytes.NewReader(b))
		if err != nil {
			t.Fatal(err)
		}
		for y := img.Bounds().Min.Y; y < img.Bounds().Max.Y; y++ {
			for x := img.Bounds().Min.X; x < img.Bounds().Max.X; x++ {
				r, g, b, _ := img.At(x, y).RGBA()
				pix[i] = append(pix[i], byte(r>>8), byte(g>>8), byte(b>>8))
			}
		}
	}
	if d := unlike(pix[0], pix[1]); len(pix[0]) != len(pix[1]) || d > 2.5 {
		t.Errorf("the stills differ by %.2f in the mean (%d, %d bytes)", d, len(pix[0]), len(pix[1]))
	}
}

// unlike is the mean difference of two pictures of a size.
func unlike(a, b []byte) float64 {
	if len(a) != len(b) {
		return 255
	}
	sum := 0
	for i := range a {
		sum += max(int(a[i])-int(b[i]), int(b[i])-int(a[i]))
	}
	return float64(sum) / float64(max(1, len(a)))
}

// TestSurveyHoldsToTheLimits: a clip that goes on beyond its limits is ended, and a
// cut one refused, as when it is streamed.
func TestSurveyHoldsToTheLimits(t *testing.T) {
	path := numbered(t, "m.mkv", "")
	info, err := media.Open(t.Context(), path, media.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	defer info.Release()
	limited := media.WithLimits(info, media.Limits{MaxFrames: 30})
	err = media.Survey(t.Context(), path, limited, 0.1, media.Options{MaxSide: 320}, func(media.Frame) error { return nil })
	var r *media.Refusal
	if !errors.As(err, &r) || r.Code != reason.MediaTooLong {
		t.Errorf("got %v, want %s", err, reason.MediaTooLong)
	}
}

// TestKeptPicturesHaveNoName: they lie in a file that nobody can find and that ends
// with the process; where there is no place for one the clip is read again.
func TestKeptPicturesHaveNoName(t *testing.T) {
	path := numbered(t, "base.mp4", "")
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	info := surveyed(t, path, 1280)
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 0 {
		t.Errorf("%v lie about, %v", left, err)
	}
	if n := openUnder(t, dir); n != 1 {
		t.Errorf("%d files are open there, want 1", n)
	}
	info.Release()
	if n := openUnder(t, dir); n != 0 {
		t.Errorf("%d files are open there after Release", n)
	}
	t.Setenv("TMPDIR", filepath.Join(dir, "none"))
	if fs := gathered(t, path, surveyed(t, path, 1280), media.Options{}); len(fs) != 60 {
		t.Errorf("%d frames without a place to keep them", len(fs))
	}
}

// openUnder counts the open files of this process that lay in a folder.
func openUnder(t *testing.T, dir string) (n int) {
	t.Helper()
	fds, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip("no /proc here")
	}
	for _, fd := range fds {
		if to, err := os.Readlink("/proc/self/fd/" + fd.Name()); err == nil && filepath.Dir(to) == dir {
			if _, err := strconv.Atoi(fd.Name()); err == nil {
				n++
			}
		}
	}
	return n
}

// TestEveryCaseSurveyed surveys every file of the field cases 23, 24, 26, 28, 29, 31, 32
// and 48 and reads it again, as a pass does: the outcome is the one of streaming it.
func TestEveryCaseSurveyed(t *testing.T) {
	dir := shared(t, "cases", "media")
	for name, want := range outcomes {
		if want.code != "" && !want.late {
			continue // refused before anything is decoded: nothing to survey
		}
		t.Run(fieldCase(name)+"/"+name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(dir, name)
			info, err := media.Open(t.Context(), path, media.DefaultLimits())
			if err != nil {
				t.Fatal(err)
			}
			defer info.Release()
			looks, frames, last := 0, 0, -1.0
			err = media.Survey(t.Context(), path, info, 0.12, media.Options{MaxSide: 1280}, func(f media.Frame) error {
				if looks == 0 && f.Time != 0 {
					t.Errorf("the first look is at %g s", f.Time)
				}
				looks++
				return nil
			})
			var r *media.Refusal
			if errors.As(err, &r) {
				if r.Code != want.code {
					t.Errorf("%v, want %q", err, want.code)
				}
				return
			}
			if err != nil || want.code != "" {
				t.Fatalf("%v, want %q", err, want.code)
			}
			err = media.Frames(t.Context(), path, info, media.Options{MaxSide: 160}, func(f media.Frame) error {
				if f.Index != frames || f.Time <= last || f.Index == 0 && f.Time != 0 || len(f.Pix) != 3*f.Width*f.Height {
					t.Errorf("frame %d at %g s after %g s, %d bytes", f.Index, f.Time, last, len(f.Pix))
				}
				frames, last = frames+1, f.Time
				return nil
			})
			if err != nil || frames != want.frames {
				t.Errorf("%d frames, %v; want %d", frames, err, want.frames)
			}
		})
	}
}

// TestPicturesThatAreLostAreReadAgain cuts the file of the pictures kept short: what
// cannot be read from it comes from the clip.
func TestPicturesThatAreLostAreReadAgain(t *testing.T) {
	path := numbered(t, "base.mp4", "")
	plain, err := media.Probe(t.Context(), path, media.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	want := gathered(t, path, plain, media.Options{})
	info := surveyed(t, path, 1280)
	if err := media.CutKept(info, 0.4); err != nil {
		t.Fatal(err)
	}
	got := gathered(t, path, info, media.Options{})
	if len(got) != len(want) {
		t.Fatalf("%d frames, want %d", len(got), len(want))
	}
	for i := range got {
		if got[i].Index != i || got[i].Time != want[i].Time || !bytes.Equal(got[i].Pix, want[i].Pix) {
			t.Fatalf("frame %d differs", i)
		}
	}
}

// TestFullDiskIsNoVerdict: where the pictures cannot be written the clip is surveyed
// without them, and every look is given once.
func TestFullDiskIsNoVerdict(t *testing.T) {
	path := numbered(t, "base.mp4", "")
	look := func(info media.Info) (times []float64) {
		defer info.Release()
		if err := media.Survey(t.Context(), path, info, 0.12, media.Options{MaxSide: 1280}, func(f media.Frame) error {
			times = append(times, f.Time)
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		if n := len(gathered(t, path, info, media.Options{})); n != 60 {
			t.Errorf("%d frames, want 60", n)
		}
		return times
	}
	open := func() media.Info {
		info, err := media.Open(t.Context(), path, media.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		return info
	}
	want := look(open())
	defer media.KeepOnFullDisk()()
	if got := look(open()); !slices.Equal(got, want) || len(got) < 10 {
		t.Errorf("looks at %v, want %v", got, want)
	}
}

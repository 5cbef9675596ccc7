package engine

import (
	"fmt"
	"image"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"testing"

	"fastbowlinglab/shared/media"
)

// TestCanvasPaintsTheSame paints parts of pictures as they were stored: to the byte what
// a decoder gives, whatever the colours and the turn, and nothing else is painted.
func TestCanvasPaintsTheSame(t *testing.T) {
	ffmpeg := func(t *testing.T, args ...string) {
		t.Helper()
		if out, err := exec.Command("ffmpeg", append([]string{"-nostdin", "-v", "error", "-y"}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("ffmpeg: %v: %s", err, out)
		}
	}
	for _, c := range []struct {
		name, size string
		args       []string
		turn       string // how many degrees the clip says that it was turned
	}{
		{name: "Unnamed", size: "320x240", args: []string{"-pix_fmt", "yuv420p"}},
		{name: "BT709", size: "640x360", args: []string{"-vf", "scale=out_color_matrix=bt709,format=yuv420p", "-colorspace", "bt709"}},
		{name: "FullRange", size: "336x240", args: []string{"-vf", "scale=out_range=pc,format=yuvj420p"}},
		{name: "FullRange709", size: "320x240", args: []string{"-vf", "scale=out_color_matrix=bt709:out_range=pc,format=yuvj420p", "-colorspace", "bt709"}},
		{name: "BT2020", size: "320x240", args: []string{"-vf", "scale=out_color_matrix=bt2020,format=yuv420p", "-colorspace", "bt2020nc"}},
		{name: "Turned90", size: "320x240", args: []string{"-pix_fmt", "yuv420p"}, turn: "90"},
		{name: "Turned180", size: "320x240", args: []string{"-pix_fmt", "yuv420p"}, turn: "180"},
		{name: "Turned270", size: "320x240", args: []string{"-pix_fmt", "yuv420p"}, turn: "270"},
		{name: "NarrowStep", size: "326x242", args: []string{"-pix_fmt", "yuv420p"}}, // no whole number of a vector's steps
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "clip.mp4")
			ffmpeg(t, append(append([]string{"-f", "lavfi", "-i", fmt.Sprintf("testsrc2=s=%s:r=30:d=0.6,noise=alls=60:allf=t", c.size), "-c:v", "libx264"}, c.args...), path)...)
			if c.turn != "" {
				turned := filepath.Join(t.TempDir(), "turned.mp4")
				ffmpeg(t, "-i", path, "-c", "copy", "-metadata:s:v:0", "rotate="+c.turn, turned)
				path = turned
			}
			info, err := media.Probe(t.Context(), path, media.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			want := frames(t, path, info, media.Options{})
			known, err := media.Open(t.Context(), path, media.Limits{MaxFrames: 1000})
			if err != nil {
				t.Fatal(err)
			}
			defer known.Release()
			if err := media.Survey(t.Context(), path, known, 0.12, media.Options{MaxSide: 1280}, func(media.Frame) error { return nil }); err != nil {
				t.Fatal(err)
			}
			got := frames(t, path, known, media.Options{Planes: true})
			if len(got) != len(want) || len(want) < 10 {
				t.Fatalf("%d frames, want %d", len(got), len(want))
			}
			rnd := rand.New(rand.NewPCG(1, uint64(len(c.name))))
			var painted canvas
			for i, f := range got {
				w := want[i]
				if f.Index != w.Index || f.Time != w.Time || f.Width != w.Width || f.Height != w.Height || f.Planes == nil {
					t.Fatalf("frame %d at %g, %dx%d, planes %t; want %d at %g, %dx%d", f.Index, f.Time, f.Width, f.Height, f.Planes != nil, w.Index, w.Time, w.Width, w.Height)
				}
				p := painted.show(f)
				clear(p.pix)
				whole := image.Rect(0, 0, f.Width, f.Height)
				some := func() image.Rectangle {
					return image.Rect(rnd.IntN(f.Width), rnd.IntN(f.Height), rnd.IntN(f.Width), rnd.IntN(f.Height))
				}
				part, beside := some(), some()
				for _, next := range []image.Rectangle{part, part.Inset(3), part.Inset(-9), beside} { // may reach out of the picture
					if p.fill(next); !sameIn(p, w.Pix, next.Intersect(whole)) || !sameIn(p, w.Pix, part) {
						t.Fatalf("frame %d differs in %v after %v", i, part, next)
					}
				}
				if part.Inset(-12).Union(beside.Inset(-12)).Intersect(whole).Dx() < f.Width-1 && sameIn(p, w.Pix, whole) {
					t.Errorf("frame %d: all of it was painted", i)
				}
				if p.fill(whole); !sameIn(p, w.Pix, whole) {
					t.Fatalf("frame %d differs", i)
				}
			}
		})
	}
}

// frames gives all frames of a clip, each in memory of its own.
func frames(t *testing.T, path string, info media.Info, opt media.Options) (fs []media.Frame) {
	t.Helper()
	opt.Alloc = func(n int) []byte { return make([]byte, n) }
	if err := media.Frames(t.Context(), path, info, opt, func(f media.Frame) error { fs = append(fs, f); return nil }); err != nil {
		t.Fatal(err)
	}
	return fs
}

// sameIn compares a part with an RGB picture of the same size.
func sameIn(p picture, rgb []byte, r image.Rectangle) bool {
	for y := r.Min.Y; y < r.Max.Y; y++ {
		for x := r.Min.X; x < r.Max.X; x++ {
			i := y*p.w + x
			if [3]byte(p.pix[p.depth*i:]) != [3]byte(rgb[3*i:]) {
				return false
			}
		}
	}
	return true
}

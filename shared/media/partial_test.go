package media_test

import (
	"bytes"
	"fmt"
	"image"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"fastbowlinglab/shared/media"
)

// TestPartsReadTheSame reads parts of the pictures kept: to the byte what a decoder
// gives, whatever the colours and the turn, and nothing else is worked out.
func TestPartsReadTheSame(t *testing.T) {
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
			want := gathered(t, path, info, media.Options{})
			got := gathered(t, path, surveyed(t, path, 1280), media.Options{Partial: true})
			if len(got) != len(want) || len(want) < 10 {
				t.Fatalf("%d frames, want %d", len(got), len(want))
			}
			rnd := rand.New(rand.NewPCG(1, uint64(len(c.name))))
			for i, f := range got {
				w := want[i]
				if f.Index != w.Index || f.Time != w.Time || f.Width != w.Width || f.Height != w.Height {
					t.Fatalf("frame %d at %g, %dx%d; want %d at %g, %dx%d", f.Index, f.Time, f.Width, f.Height, w.Index, w.Time, w.Width, w.Height)
				}
				part := image.Rect(rnd.IntN(f.Width), rnd.IntN(f.Height), rnd.IntN(f.Width), rnd.IntN(f.Height))
				f.Fill(part.Inset(-1)) // may reach out of the picture
				if !sameIn(f, w, part) {
					t.Fatalf("frame %d differs in %v", i, part)
				}
				beside := image.Rect(rnd.IntN(f.Width), rnd.IntN(f.Height), rnd.IntN(f.Width), rnd.IntN(f.Height))
				for _, next := range []image.Rectangle{part.Inset(-9).Intersect(image.Rect(0, 0, f.Width, f.Height)), beside} {
					if f.Fill(next); !sameIn(f, w, next) || !sameIn(f, w, part) {
						t.Fatalf("frame %d differs in %v after %v", i, next, part)
					}
				}
				if part.Inset(-9).Union(beside).Dx() < f.Width && bytes.Equal(f.Pix, w.Pix) {
					t.Errorf("frame %d: all of it was worked out", i)
				}
				f.Fill(image.Rect(0, 0, f.Width, f.Height))
				if !bytes.Equal(f.Pix, w.Pix) {
					t.Fatalf("frame %d differs by %.3f in the mean", i, unlike(f.Pix, w.Pix))
				}
			}
		})
	}
}

func sameIn(a, b media.Frame, r image.Rectangle) bool {
	for y := r.Min.Y; y < r.Max.Y; y++ {
		from, to := 3*(y*a.Width+r.Min.X), 3*(y*a.Width+r.Max.X)
		if !bytes.Equal(a.Pix[from:to], b.Pix[from:to]) {
			return false
		}
	}
	return true
}

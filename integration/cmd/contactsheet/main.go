// Command contactsheet tracks a clip and writes a picture of its frames with
// the skeletons drawn, to look at: nothing that a figure says replaces that.
//
//	go run ./integration/cmd/contactsheet -o /tmp/sheet.jpg clip.mp4
//
// Sheets show real people: they are not to be committed.
package main

import (
	"context"
	"flag"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/jpeg"
	"math"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"fastbowlinglab/shared/media"
	"fastbowlinglab/shared/motion"
	"fastbowlinglab/shared/pose"
	"fastbowlinglab/shared/pose/engine"
)

var (
	yellow = color.RGBA{255, 230, 0, 255}
	left   = color.RGBA{0, 220, 255, 255}
	right  = color.RGBA{255, 70, 0, 255}
	grey   = color.RGBA{120, 120, 120, 255}
)

func main() {
	var (
		modules = flag.String("modules", "node_modules", "folder of the npm packages")
		model   = flag.String("model", "full", "lite, full or heavy")
		out     = flag.String("o", "sheet.jpg", "picture to write; empty: the figures only")
		from    = flag.Int("from", 0, "first frame shown")
		to      = flag.Int("to", math.MaxInt, "last frame shown")
		tiles   = flag.Int("tiles", 24, "pictures on the sheet")
		side    = flag.Int("side", 300, "pixels of one picture")
		key     = flag.Bool("key", false, "show the frames of the phases, framed, and those about the release")
		whole   = flag.Bool("whole", false, "show whole frames, not the athlete alone")
	)
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "usage: contactsheet [flags] clip")
		os.Exit(2)
	}
	s := sheet{tiles: *tiles, side: *side, from: *from, to: *to, whole: *whole, key: *key}
	cfg := engine.Config{
		ModelsDir:  filepath.Join(*modules, "@mediapipe", "pose"),
		ORTLibrary: filepath.Join(*modules, "onnxruntime-node", "bin", "napi-v6", "linux", "x64", "libonnxruntime.so.1"),
		Model:      *model,
	}
	if err := s.run(context.Background(), cfg, flag.Arg(0), *out); err != nil {
		fmt.Fprintln(os.Stderr, "contactsheet:", err)
		os.Exit(1)
	}
}

type sheet struct {
	tiles, side, from, to int
	whole, key            bool
}

func (s sheet) run(ctx context.Context, cfg engine.Config, clip, out string) error {
	e, err := engine.Open(cfg)
	if err != nil {
		return err
	}
	defer e.Close()
	info, err := media.Open(ctx, clip, media.DefaultLimits())
	if err != nil {
		return err
	}
	defer info.Release()
	start := time.Now()
	var frames []pose.Frame
	err = e.Track(ctx, clip, info, nil, func(c pose.Chunk) error {
		frames = append(frames, c.Frames...)
		return nil
	})
	if err != nil {
		return err
	}
	tracked := 0
	for _, f := range frames {
		if len(f.Points) > 0 {
			tracked++
		}
	}
	fmt.Printf("%d x %d, %d frames in %.2f s, %d tracked; %.1f ms a frame",
		info.Width, info.Height, len(frames), info.Duration, tracked, time.Since(start).Seconds()*1000/float64(max(1, len(frames))))
	var own, decoder syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &own) == nil && syscall.Getrusage(syscall.RUSAGE_CHILDREN, &decoder) == nil {
		fmt.Printf(" (CPU %.1f and the decoder's %.1f); peak memory without the decoder's %d MiB",
			cpu(own, len(frames)), cpu(decoder, len(frames)), own.Maxrss/1024)
	}
	fmt.Println()
	m := motion.Analyse(0, pose.Track{Width: info.Width, Height: info.Height, Mirrored: info.Mirrored, Frames: frames})
	say(m)
	if out == "" {
		return nil
	}
	show, framed := s.spread(len(frames)), map[int]bool{}
	if s.key {
		show, framed = keyFrames(m, len(frames))
	}
	return s.draw(ctx, clip, info, frames, show, framed, out)
}

// cpu is the processor time spent, in milliseconds a frame.
func cpu(u syscall.Rusage, frames int) float64 {
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e6 / float64(max(1, frames))
}

// draw decodes the clip once more and lays the frames out that are to be shown,
// in order; those of framed get a white edge.
func (s sheet) draw(ctx context.Context, clip string, info media.Info, frames []pose.Frame, show []int, framed map[int]bool, out string) error {
	n := len(show)
	if n == 0 {
		return fmt.Errorf("no frames to show: from %d to %d of %d", s.from, s.to, len(frames))
	}
	cols := int(math.Ceil(math.Sqrt(float64(n) * 1.6)))
	rows := (n + cols - 1) / cols
	img := image.NewRGBA(image.Rect(0, 0, cols*s.side, rows*s.side))
	draw.Draw(img, img.Bounds(), image.NewUniform(color.Black), image.Point{}, draw.Src)
	k := 0
	err := media.Frames(ctx, clip, info, media.Options{}, func(f media.Frame) error {
		if k == n || f.Index >= len(frames) {
			return media.ErrStop
		}
		if f.Index == show[k] {
			p := image.Pt(k%cols*s.side, k/cols*s.side)
			s.tile(img, p, f, frames[f.Index])
			if framed[f.Index] {
				edge(img, p, s.side)
			}
			k++
		}
		return nil
	})
	if err != nil {
		return err
	}
	w, err := os.Create(out)
	if err != nil {
		return err
	}
	if err := jpeg.Encode(w, img, &jpeg.Options{Quality: 88}); err != nil {
		w.Close()
		return err
	}
	return w.Close()
}

// tile draws one frame, cut to the athlete's surroundings, at p.
func (s sheet) tile(dst *image.RGBA, p image.Point, f media.Frame, track pose.Frame) {
	x0, y0, size := 0.0, 0.0, float64(max(f.Width, f.Height))
	if !s.whole && len(track.Points) > 0 {
		x0, y0, size = around(track.Points)
	}
	scale := float64(s.side) / size
	for y := range s.side {
		for x := range s.side {
			sx, sy := int(x0+float64(x)/scale), int(y0+float64(y)/scale)
			if sx >= 0 && sy >= 0 && sx < f.Width && sy < f.Height {
				q := f.Pix[3*(sy*f.Width+sx):]
				dst.SetRGBA(p.X+x, p.Y+y, color.RGBA{q[0], q[1], q[2], 255})
			}
		}
	}
	tile := dst.SubImage(image.Rect(p.X, p.Y, p.X+s.side, p.Y+s.side)).(*image.RGBA)
	number(tile, p.Add(image.Pt(4, 4)), f.Index)
	if len(track.Points) == 0 {
		return
	}
	at := func(k int) (float64, float64) {
		return float64(p.X) + (track.Points[k].X-x0)*scale, float64(p.Y) + (track.Points[k].Y-y0)*scale
	}
	for _, b := range pose.Bones {
		c := colour(b[0], b[1])
		if !track.Points[b[0]].Present() || !track.Points[b[1]].Present() {
			c = grey
		}
		ax, ay := at(b[0])
		bx, by := at(b[1])
		line(tile, ax, ay, bx, by, c)
	}
}

// around gives a square about the points, with room for the ball.
func around(pts []pose.Point) (x, y, size float64) {
	lx, ly, hx, hy := math.Inf(1), math.Inf(1), math.Inf(-1), math.Inf(-1)
	for _, p := range pts {
		lx, hx = min(lx, p.X), max(hx, p.X)
		ly, hy = min(ly, p.Y), max(hy, p.Y)
	}
	size = 1.35 * max(hx-lx, hy-ly, 8)
	return (lx+hx)/2 - size/2, (ly+hy)/2 - size/2, size
}

func colour(a, b int) color.RGBA {
	switch {
	case a == pose.Nose || pose.Opposite(a) == b:
		return yellow
	case a&1 == 1: // from the shoulders on, odd is left
		return left
	}
	return right
}

func line(img *image.RGBA, ax, ay, bx, by float64, c color.RGBA) {
	n := int(math.Hypot(bx-ax, by-ay)*2) + 1
	for i := 0; i <= n; i++ {
		t := float64(i) / float64(n)
		x, y := int(ax+(bx-ax)*t), int(ay+(by-ay)*t)
		img.Set(x, y, c)
		img.Set(x+1, y, c)
		img.Set(x, y+1, c)
	}
}

// number writes a frame's number in digits of seven strokes.
func number(img *image.RGBA, p image.Point, n int) {
	strokes := [10]byte{0x77, 0x24, 0x5d, 0x6d, 0x2e, 0x6b, 0x7b, 0x25, 0x7f, 0x6f}
	segments := [7][4]float64{{0, 0, 8, 0}, {0, 0, 0, 8}, {8, 0, 8, 8}, {0, 8, 8, 8}, {0, 8, 0, 16}, {8, 8, 8, 16}, {0, 16, 8, 16}}
	for i, d := range fmt.Sprint(n) {
		for s, seg := range segments {
			if strokes[d-'0']>>s&1 == 1 {
				x, y := float64(p.X+12*i), float64(p.Y)
				line(img, x+seg[0], y+seg[1], x+seg[2], y+seg[3], yellow)
			}
		}
	}
}

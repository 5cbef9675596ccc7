package report

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"math"

	"golang.org/x/image/draw"

	"fastbowlinglab/shared/motion"
	"fastbowlinglab/shared/pose"
	"fastbowlinglab/shared/report/pdf"
)

// MaxFrameBytes bounds a key frame's file.
const MaxFrameBytes = 16 << 20

// Limits on a key frame's picture.
const (
	maxFramePixels = 50 << 20 // 8K
	printDPI       = 200
	jpegQuality    = 84
	seen           = 0.1 // visibility below which a landmark is left out
	seenWell       = 0.5 // visibility above which it is drawn in full
)

// window is the part of the displayed frame that a tile shows, in pixels. It
// may reach beyond the frame.
type window struct{ x, y, w, h float64 }

// windows chooses what to show of each phase: the bowler with some air round,
// at one scale for all tiles of a clip so that the figures compare.
func windows(c motion.Clip, aspect float64) []window {
	out := make([]window, len(c.Phases))
	tall := 0.0
	for i, p := range c.Phases {
		b, ok := bounds(p.Points)
		if !ok {
			b = window{0, 0, float64(c.Width), float64(c.Height)}
		}
		out[i] = b
		tall = max(tall, b.h*1.2, b.w*1.2/aspect)
	}
	tall = max(tall, 64)
	for i, b := range out {
		w, h := tall*aspect, tall
		out[i] = window{
			x: inside(b.x+b.w/2-w/2, w, float64(c.Width)),
			y: inside(b.y+b.h/2-h/2, h, float64(c.Height)),
			w: w, h: h,
		}
	}
	return out
}

// inside moves a stretch of length w at x into [0, full], or to the middle of
// it when it is longer.
func inside(x, w, full float64) float64 {
	if w >= full {
		return (full - w) / 2
	}
	return min(max(x, 0), full-w)
}

// bounds is the box round the landmarks that were seen.
func bounds(ps []pose.Point) (window, bool) {
	x0, y0, x1, y1 := math.Inf(1), math.Inf(1), math.Inf(-1), math.Inf(-1)
	n := 0
	for _, p := range ps {
		if p.Visibility < seen {
			continue
		}
		n++
		x0, y0, x1, y1 = min(x0, p.X), min(y0, p.Y), max(x1, p.X), max(y1, p.Y)
	}
	return window{x0, y0, x1 - x0, y1 - y0}, n >= 4
}

// background is what shows where a window reaches beyond the frame.
var background = color.RGBA{0xE6, 0xEA, 0xEF, 0xFF}

// picture loads a phase's frame and cuts the window out of it, at no more than
// print resolution and never enlarged. It returns nil where there is no usable
// picture. Cutting decodes and encodes anew, so that nothing that a camera
// wrote beside the picture (place, owner, model) can reach the report.
func (s *sheet) picture(c motion.Clip, key string, w window, width float64) *pdf.Image {
	if key == "" || s.in.Frame == nil || s.err != nil {
		return nil
	}
	data, err := s.in.Frame(s.ctx, key)
	if errors.Is(err, ErrNoFrame) {
		return nil
	}
	if err != nil {
		s.err = fmt.Errorf("load a key frame: %w", err)
		return nil
	}
	out, err := cut(data, c.Width, w, width)
	if err != nil {
		return nil // the tile says that there is no picture
	}
	im, err := s.doc.JPEG(out)
	if err != nil {
		s.err = err
		return nil
	}
	return im
}

// cut takes the window, given in pixels of a frame shownW wide, out of a picture
// of that frame, which may be stored smaller.
func cut(data []byte, shownW int, w window, width float64) ([]byte, error) {
	if len(data) > MaxFrameBytes {
		return nil, fmt.Errorf("picture of %d bytes", len(data))
	}
	cfg, err := jpeg.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	if cfg.Width*cfg.Height > maxFramePixels {
		return nil, fmt.Errorf("picture of %d by %d", cfg.Width, cfg.Height)
	}
	src, err := jpeg.Decode(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	if f := float64(cfg.Width) / float64(shownW); shownW > 0 && f != 1 {
		w = window{w.x * f, w.y * f, w.w * f, w.h * f}
	}
	px := math.Round(min(w.w, width/72*printDPI))
	k := px / w.w // pixels of the tile for one of the frame
	dst := image.NewRGBA(image.Rect(0, 0, max(1, int(px)), max(1, int(math.Round(w.h*k)))))
	draw.Draw(dst, dst.Bounds(), image.NewUniform(background), image.Point{}, draw.Src)
	part := image.Rect(int(math.Floor(w.x)), int(math.Floor(w.y)), int(math.Ceil(w.x+w.w)), int(math.Ceil(w.y+w.h))).Intersect(src.Bounds())
	if part.Empty() {
		return nil, errors.New("the bowler is outside the picture")
	}
	to := image.Rect(
		int(math.Round((float64(part.Min.X)-w.x)*k)), int(math.Round((float64(part.Min.Y)-w.y)*k)),
		int(math.Round((float64(part.Max.X)-w.x)*k)), int(math.Round((float64(part.Max.Y)-w.y)*k)))
	draw.CatmullRom.Scale(dst, to, src, part, draw.Src, nil)
	var b bytes.Buffer
	if err := jpeg.Encode(&b, dst, &jpeg.Options{Quality: jpegQuality}); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

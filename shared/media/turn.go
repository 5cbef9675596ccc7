package media

import (
	"image"
	"math"
)

// Turn says how the stored picture is turned and flipped for display. The zero
// value is none.
type Turn struct {
	Quarter int  // quarter turns clockwise, 0 to 3
	Flip    bool // mirrored left to right, after the quarter turns
}

// turnOf reads a display matrix (row by row, as ffprobe prints it), which maps
// a stored point (x, y) to (a x + c y, b x + d y). Anything that is not a
// quarter turn is taken as the nearest one.
func turnOf(m [9]int64) Turn {
	a, b, c, d := float64(m[0]), float64(m[1]), float64(m[3]), float64(m[4])
	flip := a*d-b*c < 0
	if flip { // undo the mirror, which acts on displayed x
		a, c = -a, -c
	}
	if a == 0 && b == 0 && c == 0 && d == 0 {
		return Turn{}
	}
	angle := math.Atan2(b-c, a+d) // clockwise, since y points down
	q := int(math.Round(angle/(math.Pi/2))) & 3
	return Turn{Quarter: q, Flip: flip}
}

// filters gives the ffmpeg filters that carry out the turn. They are ours, not
// ffmpeg's automatic ones, which differ between its versions.
func (t Turn) filters() []string {
	var f []string
	switch t.Quarter {
	case 1:
		f = append(f, "transpose=clock")
	case 2:
		f = append(f, "hflip", "vflip")
	case 3:
		f = append(f, "transpose=cclock")
	}
	if t.Flip {
		f = append(f, "hflip")
	}
	return f
}

// sideways reports whether width and height change places.
func (t Turn) sideways() bool { return t.Quarter&1 == 1 }

// Walk gives where the first stored pixel of a w x h picture comes to lie in the
// displayed one, whose rows are stride apart, by index, and the steps to the next one
// across and down.
func (t Turn) Walk(w, h, stride int) (at, dx, dy int) {
	var x, y, ax, ay, bx, by int // place of the first pixel, steps across and down
	switch t.Quarter {
	case 0:
		ax, by = 1, 1
	case 1: // the left column becomes the top row, read from below
		x, ay, bx = h-1, 1, -1
	case 2:
		x, y, ax, by = w-1, h-1, -1, -1
	case 3:
		y, ay, bx = w-1, -1, 1
	}
	if t.Flip {
		width := w
		if t.sideways() {
			width = h
		}
		x, ax, bx = width-1-x, -ax, -bx
	}
	return y*stride + x, ay*stride + ax, by*stride + bx
}

// Stored gives the part of a stored w x h picture that is displayed as r.
func (t Turn) Stored(r image.Rectangle, w, h int) image.Rectangle {
	if t.Flip {
		width := w
		if t.sideways() {
			width = h
		}
		r.Min.X, r.Max.X = width-r.Max.X, width-r.Min.X
	}
	switch t.Quarter {
	case 1:
		return image.Rect(r.Min.Y, h-r.Max.X, r.Max.Y, h-r.Min.X)
	case 2:
		return image.Rect(w-r.Max.X, h-r.Max.Y, w-r.Min.X, h-r.Min.Y)
	case 3:
		return image.Rect(w-r.Max.Y, r.Min.X, w-r.Min.Y, r.Max.X)
	}
	return r
}

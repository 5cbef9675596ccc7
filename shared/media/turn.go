package media

import "math"

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

package media

// still gives the frame at or first after a time from the pictures kept; false
// when they are not of the size or kind that is wanted.
func (k *kept) still(info Info, at float64, maxWidth int) (Frame, bool) {
	if !k.complete() || !k.plain(info) {
		return Frame{}, false
	}
	f := Frame{Width: k.width, Height: k.height}
	if info.Turn.sideways() {
		f.Width, f.Height = f.Height, f.Width
	}
	w, h := info.FitWidth(maxWidth)
	if f.Width < w || f.Height < h || f.Width > w+1 || f.Height > h+1 { // stored sides are even
		return Frame{}, false
	}
	f.Index = k.at(at - min(timeSlack, 0.25/info.FrameRate))
	f.Time = k.times[f.Index]
	raw := make([]byte, k.frame)
	if _, err := k.file.ReadAt(raw, int64(k.raw[f.Index])*k.frame); err != nil {
		return Frame{}, false // the clip itself can be asked
	}
	f.Pix = make([]byte, 3*f.Width*f.Height)
	k.convert(raw, f.Pix, f.Width, info)
	return f, true
}

// plain reports whether convert can read the pictures kept.
func (k *kept) plain(info Info) bool {
	return k.format.bytes == 1 && k.format.subX == 2 && k.format.subY == 2 && !info.HDR
}

// convert turns a picture of 8 bits and 4:2:0 to RGB, upright, width pixels wide.
func (k *kept) convert(raw, out []byte, width int, info Info) {
	m := matrixOf(info)
	cw := (k.width + 1) / 2
	u := raw[k.width*k.height:]
	v := u[cw*((k.height+1)/2):]
	at, dx, dy := info.Turn.walk(k.width, k.height, width)
	for y := range k.height {
		row, o := raw[y*k.width:(y+1)*k.width], at+y*dy
		us, vs := u[y/2*cw:][:cw], v[y/2*cw:][:cw]
		for x, l := range row {
			r, g, b := m.rgb(int32(l), int32(us[x/2])-128, int32(vs[x/2])-128)
			p := out[3*o : 3*o+3 : 3*o+3]
			p[0], p[1], p[2] = r, g, b
			o += dx
		}
	}
}

// walk gives where the first stored pixel of a w x h picture comes to lie in the
// displayed one, by index, and the steps to the next one across and down.
func (t Turn) walk(w, h, width int) (at, dx, dy int) {
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
		x, ax, bx = width-1-x, -ax, -bx
	}
	return y*width + x, ay*width + ax, by*width + bx
}

// matrix turns luma and colour differences to RGB, in 65536ths.
type matrix struct{ black, y, rv, gu, gv, bu int32 }

// matrixOf is ITU-R BT.709's or BT.601's (which also stands for one that the clip
// does not name, as in ffmpeg), for the full range or the studio's.
func matrixOf(info Info) matrix {
	kr, kb := 0.299, 0.114
	if info.matrix == "bt709" {
		kr, kb = 0.2126, 0.0722
	}
	kg, y, c, black := 1-kr-kb, 1.0, 1.0, int32(0)
	if info.colourRange != "pc" && info.pixels != "yuvj420p" {
		y, c, black = 255.0/219, 255.0/224, 16
	}
	fixed := func(f float64) int32 { return int32(f*65536 + 0.5) }
	return matrix{black, fixed(y), fixed(2 * (1 - kr) * c), fixed(2 * kb * (1 - kb) / kg * c), fixed(2 * kr * (1 - kr) / kg * c), fixed(2 * (1 - kb) * c)}
}

func (m matrix) rgb(l, u, v int32) (r, g, b byte) {
	y := (l-m.black)*m.y + 1<<15
	return clip8((y + m.rv*v) >> 16), clip8((y - m.gu*u - m.gv*v) >> 16), clip8((y + m.bu*u) >> 16)
}

func clip8(v int32) byte { return byte(min(max(v, 0), 255)) }

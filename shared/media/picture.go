package media

// jpegColours gives the frames at or first after some times from the pictures kept, as
// displayed and in a JPEG's colours; nil when they are not of the size or kind that is
// wanted, or one cannot be read.
func (k *kept) jpegColours(info Info, at []float64, maxWidth int) (pictures []bitmap) {
	if !k.complete() || !k.plain(info) || len(at) == 0 {
		return nil
	}
	width, height := k.width, k.height
	if info.Turn.sideways() {
		width, height = height, width
	}
	w, h := info.FitWidth(maxWidth)
	if width < w || height < h || width > w+1 || height > h+1 { // stored sides are even
		return nil
	}
	stored := make([]byte, k.frame)
	for _, t := range at {
		if k.read(k.at(t-min(timeSlack, 0.25/info.FrameRate)), stored) != nil {
			return nil // the clip itself can be asked
		}
		pictures = append(pictures, bitmap{format: "yuvj420p", width: width, height: height, pix: k.upright(stored, info)})
	}
	return pictures
}

// plain reports whether pictures kept are of 8 bits and 4:2:0 and can be read here.
func (k *kept) plain(info Info) bool {
	return k.format.bytes == 1 && k.format.subX == 2 && k.format.subY == 2 && !info.HDR
}

// upright turns a picture as displayed, in a JPEG's colours: BT.601's in full range.
func (k *kept) upright(stored []byte, info Info) []byte {
	out := make([]byte, len(stored))
	luma, quarter := k.width*k.height, k.width*k.height/4
	ys, us, vs := stored[:luma], stored[luma:luma+quarter], stored[luma+quarter:]
	cb, cr := out[luma:luma+quarter], out[luma+quarter:]
	m, cw, ch := jfifOf(info), k.width/2, k.height/2
	stride := k.width
	if info.Turn.sideways() {
		stride = k.height
	}
	at, dx, dy := info.Turn.Walk(k.width, k.height, stride)
	cat, cdx, cdy := info.Turn.Walk(cw, ch, stride/2)
	for y := range ch {
		upper, lower := ys[2*y*k.width:][:k.width], ys[(2*y+1)*k.width:][:k.width]
		o, c := at+2*y*dy, cat+y*cdy
		for x, u := range us[y*cw:][:cw] {
			v := vs[y*cw+x]
			add := m.yu[u] + m.yv[v]
			out[o], out[o+dx] = m.luma(upper[2*x], add), m.luma(upper[2*x+1], add)
			out[o+dy], out[o+dx+dy] = m.luma(lower[2*x], add), m.luma(lower[2*x+1], add)
			cb[c] = clip8((m.uu[u] + m.uv[v] + 1<<15) >> 16)
			cr[c] = clip8((m.vu[u] + m.vv[v] + 1<<15) >> 16)
			o, c = o+2*dx, c+cdx
		}
	}
	return out
}

// jfif are the parts, in 65536ths, that luma and colour differences of a clip have in
// those of a JPEG.
type jfif struct{ y, yu, yv, uu, uv, vu, vv [256]int32 }

// luma is that of a JPEG for one of the clip and what its colour differences add.
func (m *jfif) luma(l byte, add int32) byte { return clip8((m.y[l] + add + 1<<15) >> 16) }

func jfifOf(info Info) *jfif {
	kr, kb := info.primaries()
	kg, luma, chroma, black := 1-kr-kb, 1.0, 1.0, 0.0
	if !info.fullRange() {
		luma, chroma, black = 255.0/219, 255.0/224, 16
	}
	// What a colour difference adds to red, green and blue, and these to the luma.
	rv, bu := 2*(1-kr)*chroma, 2*(1-kb)*chroma
	gu, gv := -bu*kb/kg, -rv*kr/kg
	yu, yv := 0.587*gu+0.114*bu, 0.299*rv+0.587*gv
	m := &jfif{}
	for i := range 256 {
		d := float64(i - 128)
		fixed := func(f float64) int32 { return int32(f * 65536) }
		m.y[i] = fixed(luma * (float64(i) - black))
		m.yu[i], m.yv[i] = fixed(yu*d), fixed(yv*d)
		m.uu[i], m.uv[i] = fixed(128+(bu-yu)*d/1.772), fixed(-yv*d/1.772)
		m.vu[i], m.vv[i] = fixed(128-yu*d/1.402), fixed((rv-yv)*d/1.402)
	}
	return m
}

func clip8(v int32) byte { return byte(min(max(v, 0), 255)) }

// primaries gives the shares of red and blue in the luma: ITU-R BT.601's also stand for
// those of a clip that names none, as in ffmpeg.
func (i Info) primaries() (kr, kb float64) {
	switch i.matrix {
	case "bt709":
		return 0.2126, 0.0722
	case "bt2020nc":
		return 0.2627, 0.0593
	}
	return 0.299, 0.114
}

// fullRange reports whether luma goes from 0 to 255; the studio's goes from 16 to 235.
func (i Info) fullRange() bool { return i.colourRange == "pc" || i.pixels == "yuvj420p" }

package media

import (
	"bytes"
	"image"
	"image/jpeg"
)

// still gives the frame at or first after a time from the pictures kept, as a JPEG;
// false when they are not of the size or kind that is wanted.
func (k *kept) still(info Info, at float64, maxWidth int) ([]byte, bool) {
	if !k.complete() || !k.plain(info) {
		return nil, false
	}
	width, height := k.width, k.height
	if info.Turn.sideways() {
		width, height = height, width
	}
	w, h := info.FitWidth(maxWidth)
	if width < w || height < h || width > w+1 || height > h+1 { // stored sides are even
		return nil, false
	}
	raw := make([]byte, k.frame)
	index := k.at(at - min(timeSlack, 0.25/info.FrameRate))
	if _, err := k.file.ReadAt(raw, int64(k.raw[index])*k.frame); err != nil {
		return nil, false // the clip itself can be asked
	}
	var b bytes.Buffer
	if err := jpeg.Encode(&b, k.upright(raw, info), &jpeg.Options{Quality: jpegQuality}); err != nil {
		return nil, false
	}
	return b.Bytes(), true
}

// plain reports whether pictures kept are of 8 bits and 4:2:0 and can be read here.
func (k *kept) plain(info Info) bool {
	return k.format.bytes == 1 && k.format.subX == 2 && k.format.subY == 2 && !info.HDR
}

// upright turns a picture as displayed, in a JPEG's colours: BT.601's in full range.
func (k *kept) upright(raw []byte, info Info) *image.YCbCr {
	cw, ch := (k.width+1)/2, (k.height+1)/2
	us := raw[k.width*k.height:]
	vs := us[cw*ch:]
	width, height := k.width, k.height
	if info.Turn.sideways() {
		width, height = height, width
	}
	img := image.NewYCbCr(image.Rect(0, 0, width, height), image.YCbCrSubsampleRatio420)
	m := jfifOf(info)
	at, dx, dy := info.Turn.walk(k.width, k.height, img.YStride)
	for y := range k.height {
		u, v := us[y/2*cw:][:cw], vs[y/2*cw:][:cw]
		o := at + y*dy
		for x, l := range raw[y*k.width:][:k.width] {
			img.Y[o] = clip8((m.y[l] + m.yu[u[x/2]] + m.yv[v[x/2]] + 1<<15) >> 16)
			o += dx
		}
	}
	at, dx, dy = info.Turn.walk(cw, ch, img.CStride)
	for y := range ch {
		o := at + y*dy
		v := vs[y*cw:][:cw]
		for x, u := range us[y*cw:][:cw] {
			img.Cb[o] = clip8((m.uu[u] + m.uv[v[x]] + 1<<15) >> 16)
			img.Cr[o] = clip8((m.vu[u] + m.vv[v[x]] + 1<<15) >> 16)
			o += dx
		}
	}
	return img
}

// jfif are the parts, in 65536ths, that luma and colour differences of a clip have in
// those of a JPEG.
type jfif struct{ y, yu, yv, uu, uv, vu, vv [256]int32 }

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

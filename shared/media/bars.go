package media

import "bytes"

// bars watches for a track that changes its shape on the way, as a call or a
// screen recording does when the phone is turned. The part after the change is
// fitted in between black bars (see fit): a length in it is another length than
// before, and a place another place, so that nothing may be measured across.
//
// The bars are exactly black, alike on both sides, and come or go once.
type bars struct {
	runs  int // of pictures with bars, and of pictures without
	last  int // thickness of the bars of the last picture, 0 for none
	count int // pictures of the run
	short bool
}

const (
	leastBar   = 0.02 // of the side: thinner ones are how codecs pad
	unevenBars = 2    // pixels by which the two may differ
	leastRun   = 2    // pictures
)

// see takes the next picture.
func (b *bars) see(pix []byte, w, h int) {
	t := thickness(pix, w, h)
	if b.runs > 0 && (t == 0) == (b.last == 0) && max(t-b.last, b.last-t) <= unevenBars {
		b.count++
		return
	}
	b.short = b.short || b.runs > 0 && b.count < leastRun
	b.runs, b.last, b.count = b.runs+1, t, 1
}

// changed reports whether bars came or went once.
func (b *bars) changed() bool { return b.runs == 2 && !b.short && b.count >= leastRun }

// thickness of the black bars of a picture in pixels, 0 where it has none.
func thickness(pix []byte, w, h int) int {
	if len(pix) != 3*w*h || !black(pix[:3]) || !black(pix[len(pix)-3:]) {
		return 0
	}
	if d := edge(h, func(y int) bool { return black(pix[3*y*w : 3*(y+1)*w]) }); d > 0 {
		return d
	}
	return edge(w, func(x int) bool {
		for i := 3 * x; i < len(pix); i += 3 * w {
			if !black(pix[i : i+3]) {
				return false
			}
		}
		return true
	})
}

// edge counts the lines from both ends that are black: as many on either side,
// or it is the picture that is dark and not a bar.
func edge(n int, dark func(int) bool) int {
	a, b := 0, 0
	for a < n/2 && dark(a) {
		a++
	}
	if a == n/2 || float64(a) < leastBar*float64(n) {
		return 0
	}
	for b < n/2 && dark(n-1-b) {
		b++
	}
	if b == n/2 || max(a-b, b-a) > unevenBars {
		return 0
	}
	return a
}

var zeros [3 * 8192]byte

func black(p []byte) bool {
	for len(p) > len(zeros) {
		if !bytes.Equal(p[:len(zeros)], zeros[:]) {
			return false
		}
		p = p[len(zeros):]
	}
	return bytes.Equal(p, zeros[:len(p)])
}

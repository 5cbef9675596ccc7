package media

import "testing"

// barred is a grey picture with bars of so many black columns at its left and right.
func barred(left, right int) []byte {
	const w, h = 100, 40
	pix := make([]byte, 3*w*h)
	for i := range pix {
		if x := i / 3 % w; x >= left && x < w-right {
			pix[i] = 120
		}
	}
	return pix
}

func TestBars(t *testing.T) {
	none, side, uneven, night := barred(0, 0), barred(20, 20), barred(20, 31), make([]byte, 3*100*40)
	night[3*50*40] = 9
	top := append(make([]byte, 3*100*8), barred(0, 0)[:3*100*24]...)
	top = append(top, make([]byte, 3*100*8)...)
	for _, c := range []struct {
		name  string
		shown [][]byte
		want  bool
	}{
		{"Plain", [][]byte{none, none, none, none}, false},
		{"TurnedOnTheWay", [][]byte{none, none, none, side, side, side}, true},
		{"FlattenedOnTheWay", [][]byte{none, none, top, top}, true},
		{"TurnedFirst", [][]byte{side, side, none, none}, true},
		{"BarsThroughout", [][]byte{side, side, side, side}, false},
		{"OneDarkPicture", [][]byte{none, none, side, none, none}, false},
		{"OneAtTheEnd", [][]byte{none, none, none, side}, false},
		{"CutToAndFro", [][]byte{none, none, side, side, none, none}, false},
		{"DarkEdgesUnevenly", [][]byte{none, none, uneven, uneven}, false},
		{"FadeToBlack", [][]byte{none, none, night, night}, false},
	} {
		var b bars
		for _, p := range c.shown {
			b.see(p, 100, 40)
		}
		if got := b.changed(); got != c.want {
			t.Errorf("%s: changed %t, want %t", c.name, got, c.want)
		}
	}
}

package pdf

import (
	"bytes"
	"image"
	"image/jpeg"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"fastbowlinglab/shared/report/typeset"
)

type one struct{ f *typeset.Face }

func (o one) Find(typeset.Query) (*typeset.Face, error) { return o.f, nil }

func face(t *testing.T, pkg, file string) *typeset.Face {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for dir != filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
		dir = filepath.Dir(dir)
	}
	data, err := os.ReadFile(filepath.Join(dir, "node_modules", "@expo-google-fonts", pkg, "400Regular", file))
	if err != nil {
		t.Skipf("font %s is not installed", file)
	}
	f, err := typeset.Parse(strings.TrimSuffix(file, ".ttf"), data)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func document(t *testing.T, f *typeset.Face, text string) []byte {
	t.Helper()
	d := New(Info{Title: text, Lang: "en", Created: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)})
	p := d.AddPage(300, 200)
	ls, err := typeset.NewSetter(one{f}).Paragraph([]typeset.Span{{Text: text, Style: typeset.Style{Size: 12}}}, 0, typeset.Auto)
	if err != nil {
		t.Fatal(err)
	}
	p.Tag("P", func() { p.Text(ls[0], 20, 40) })
	out, err := d.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// The outlines that are kept are the font's own, those of composite glyphs'
// parts too; all else is gone.
func TestSubsetKeepsWhatIsUsed(t *testing.T) {
	f := face(t, "noto-sans", "NotoSans_400Regular.ttf")
	s, err := parseSFNT(f.Data)
	if err != nil {
		t.Fatal(err)
	}
	var composite uint16
	var parts []uint16
	for g := range s.glyphs {
		o, err := s.outline(uint16(g))
		if err != nil {
			t.Fatal(err)
		}
		if parts, err = components(o); err != nil {
			t.Fatal(err)
		} else if len(parts) > 1 {
			composite = uint16(g)
			break
		}
	}
	if len(parts) < 2 {
		t.Skip("the font has no composite glyph")
	}
	b, err := s.subset([]uint16{composite})
	if err != nil {
		t.Fatal(err)
	}
	sub, err := parseSFNT(b)
	if err != nil {
		t.Fatalf("the subset cannot be read back: %v", err)
	}
	for _, g := range append(parts, composite, 0) {
		want, _ := s.outline(g)
		got, err := sub.outline(g)
		if err != nil || !bytes.HasPrefix(got, want) || len(got)-len(want) > 3 {
			t.Errorf("glyph %d: %d bytes, want %d (%v)", g, len(got), len(want), err)
		}
		if got, want := sub.advance(g), s.advance(g); got != want {
			t.Errorf("glyph %d: advance %v, want %v", g, got, want)
		}
	}
	kept := 0
	for g := range sub.glyphs {
		if o, _ := sub.outline(uint16(g)); len(o) > 0 {
			kept++
		}
	}
	if kept > 2+len(parts) {
		t.Errorf("%d glyphs kept", kept)
	}
	if sum := checksum(b); sum != 0xB1B0AFBA {
		t.Errorf("checksum of the file is %08X", sum)
	}
}

func TestSameCallsSameBytes(t *testing.T) {
	f := face(t, "noto-sans", "NotoSans_400Regular.ttf")
	a, b := document(t, f, "same"), document(t, f, "same")
	if !bytes.Equal(a, b) {
		t.Error("two documents of the same calls differ")
	}
	if bytes.Equal(a, document(t, f, "other")) {
		t.Error("documents of different text are the same")
	}
}

func TestUnusableCoordinatesAreErrors(t *testing.T) {
	for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), 1e9} {
		err := func() (err error) {
			defer Catch(&err)
			New(Info{}).AddPage(100, 100).FillRect(v, 0, 1, 1, 0, Colour{})
			return nil
		}()
		if err == nil {
			t.Errorf("a rectangle at %v was written", v)
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("Catch swallowed another panic")
		}
	}()
	var err error
	func() {
		defer Catch(&err)
		panic("other")
	}()
}

func TestBrokenFontsAreErrors(t *testing.T) {
	good := face(t, "noto-sans-gurmukhi", "NotoSansGurmukhi_400Regular.ttf").Data
	for n := 0; n < len(good); n += 1 + len(good)/97 {
		if s, err := parseSFNT(good[:n]); err == nil {
			if _, err := s.subset([]uint16{1, 2, 3, 65535}); err == nil {
				t.Errorf("a font cut at %d of %d was taken", n, len(good))
			}
		}
	}
	if _, err := parseSFNT([]byte("OTTO")); err == nil {
		t.Error("a font without TrueType outlines was taken")
	}
}

func TestPicturesAreStoredOnce(t *testing.T) {
	var b bytes.Buffer
	if err := jpeg.Encode(&b, image.NewRGBA(image.Rect(0, 0, 8, 4)), nil); err != nil {
		t.Fatal(err)
	}
	d := New(Info{})
	x, err := d.JPEG(b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if y, _ := d.JPEG(b.Bytes()); x != y || x.W != 8 || x.H != 4 {
		t.Errorf("%+v and %+v", x, y)
	}
	if _, err := d.JPEG([]byte("not a picture")); err == nil {
		t.Error("text was taken for a picture")
	}
	p := d.AddPage(10, 10)
	p.Draw(x, 0, 0, 10, 5)
	out, err := d.Bytes()
	if err != nil || bytes.Count(out, []byte("/Subtype /Image")) != 1 {
		t.Errorf("%v: %d images", err, bytes.Count(out, []byte("/Subtype /Image")))
	}
}

func TestNumbers(t *testing.T) {
	for v, want := range map[float64]string{0: "0", -0.001: "0", 1.5: "1.5", 2: "2", -3.257: "-3.26", 100: "100", 1e5: "100000"} {
		if got := num(v); got != want {
			t.Errorf("%v is written %s, want %s", v, got, want)
		}
	}
}

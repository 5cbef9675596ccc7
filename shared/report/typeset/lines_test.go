package typeset

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestClean(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"override", "\u202eevil\u202c", "evil"},
		{"isolates and marks", "a\u2066b\u2069\u200e\u200f\u061cc", "abc"},
		{"line break", "Line1\nBcc: x@example.com", "Line1 Bcc: x@example.com"},
		{"controls", "a\x00\x1b[31mb\x7f\u0085c", "a[31mb c"},
		{"spaces", " \u00a0 a \t\u3000 b\u2003 ", "a b"},
		{"byte-order mark and noncharacters", "\ufeffa\ufffe\U0001ffffb\ufdd0", "ab"},
		{"private use", "a\ue000\U000f0000b", "ab"},
		{"invalid bytes", "a\xff\xc0b", "ab"},
		{"joiners stay", "ක්\u200dෂ می\u200cخواهم", "ක්\u200dෂ می\u200cخواهم"},
		{"flag of England stays", "\U0001F3F4\U000E0067\U000E0062\U000E007F!", "\U0001F3F4\U000E0067\U000E0062\U000E007F!"},
		{"stray tags go", "a\U000E0067b", "ab"},
		{"markup is text", "<script>x</script> & \"Q\"", "<script>x</script> & \"Q\""},
		{"stacked marks", "a" + strings.Repeat("\u0301", 50), "a" + strings.Repeat("\u0301", maxMarks)},
		{"only spaces", "   ", ""},
	} {
		if got := Clean(c.in); got != c.want {
			t.Errorf("%s: %+q, want %+q", c.name, got, c.want)
		}
	}
}

// Every line fits, nothing of the text is lost, and no glyph is the empty box.
func check(t *testing.T, s *Setter, text string, width float64) {
	t.Helper()
	ls, err := s.Paragraph(plainSpan(text), width, Auto)
	if err != nil {
		t.Fatal(err)
	}
	var all string
	for _, l := range ls {
		var shown string
		for _, r := range l.Runs {
			for _, g := range r.Glyphs {
				if g.ID == 0 {
					t.Errorf("%.40q: an empty box for %q", text, g.Text)
				}
				shown += g.Text
			}
		}
		if l.Width > width+0.02 && utf8.RuneCountInString(l.Text) > 8 {
			t.Errorf("%.40q: a line of %.1f points in %.1f: %q", text, l.Width, width, l.Text)
		}
		if len([]rune(shown)) != len([]rune(l.Text)) {
			t.Errorf("%.40q: glyphs say %+q, the line is %+q", text, shown, l.Text)
		}
		all += l.Text
	}
	if strip(all) != strip(text) {
		t.Errorf("%.40q: the lines say %.80q", text, all)
	}
}

func strip(s string) string { return strings.ReplaceAll(s, " ", "") }

func TestLongWordsWrap(t *testing.T) {
	s := NewSetter(world(t))
	for _, text := range []string{
		strings.Repeat("x", 5000),
		strings.Repeat("கவின்குமார்", 120),
		strings.Repeat("ක්\u200dරිෂාන්ත", 60),
		strings.Repeat("محمد", 200),
		strings.Repeat("👨‍👩‍👧🏏", 100),
		strings.Repeat("word ", 300) + strings.Repeat("y", 400) + " end",
		"a", "",
	} {
		check(t, s, text, 120)
	}
	for w := 100.0; w < 115; w += 0.37 { // a cut takes back the kerning before it
		check(t, s, strings.Repeat("AV", 40), w)
	}
}

func TestUnknownScriptIsWrittenAsCodePoints(t *testing.T) {
	s := NewSetter(world(t))
	ls, err := s.Paragraph(plainSpan("Abebe አበበ"), 0, Auto)
	if err != nil || len(ls) != 1 {
		t.Fatal(ls, err)
	}
	if want := "Abebe [U+12A0 U+1260 U+1260]"; ls[0].Text != want {
		t.Errorf("%q, want %q", ls[0].Text, want)
	}
	if ls, _ = s.Paragraph(plainSpan("Ａｂ𝐂"), 0, Auto); ls[0].Text != "AbC" {
		t.Errorf("compatibility forms give %q, want AbC", ls[0].Text)
	}
}

// A span must not disturb the text of the one before it.
func TestSpansKeepTheirText(t *testing.T) {
	s := NewSetter(world(t))
	ls, err := s.Paragraph([]Span{{"Elbow angle", Style{Size: 9}}, {" [1]", Style{Size: 6}}}, 0, Auto)
	if err != nil || ls[0].Text != "Elbow angle [1]" {
		t.Fatalf("%q %v", ls[0].Text, err)
	}
	if n := len(ls[0].Runs); n != 2 {
		t.Errorf("%d runs, want one for each size", n)
	}
}

func TestRunsStandInTheOrderSeen(t *testing.T) {
	s := NewSetter(world(t))
	ls, err := s.Paragraph(plainSpan("عمر (Umar) 99"), 0, Auto)
	if err != nil || len(ls) != 1 {
		t.Fatal(ls, err)
	}
	var seen string
	x := 0.0
	for _, r := range ls[0].Runs {
		if r.X < x-0.001 {
			t.Errorf("a run at %v after one that ends at %v", r.X, x)
		}
		x = r.X + r.Width
		for _, g := range r.Glyphs {
			seen += g.Text
		}
	}
	if want := "99 (Umar) رمع"; seen != want || !ls[0].RTL {
		t.Errorf("seen from the left: %q, want %q", seen, want)
	}
}

// Glyphs, their order and their places are HarfBuzz's, where its program is
// installed. Each line is of one script and one face, so that the program
// shapes it as one run as well.
func TestShapingAgreesWithHarfBuzz(t *testing.T) {
	if _, err := exec.LookPath("hb-shape"); err != nil {
		t.Skip("hb-shape is not installed (Debian: libharfbuzz-bin)")
	}
	for _, c := range []struct{ pkg, file, lang, text string }{
		{"noto-naskh-arabic", "NotoNaskhArabic_400Regular.ttf", "ur", "محمد شاہین"},
		{"noto-naskh-arabic", "NotoNaskhArabic_400Regular.ttf", "ur", "یہ ایک لمبا جملہ ہے"},
		{"noto-naskh-arabic", "NotoNaskhArabic_400Regular.ttf", "ar", "لا إله لله مُحَمَّد"},
		{"noto-sans-tamil", "NotoSansTamil_400Regular.ttf", "ta", "கவின்குமார் ஸ்ரீதரன் கொடுத்த"},
		{"noto-sans-sinhala", "NotoSansSinhala_400Regular.ttf", "si", "සංජීව ක්\u200dරිෂාන්ත කොළඹ"},
		{"noto-sans-devanagari", "NotoSansDevanagari_400Regular.ttf", "hi", "नमस्ते प्रज्ञा क्षत्रिय"},
		{"noto-sans-bengali", "NotoSansBengali_400Regular.ttf", "bn", "বাংলা ক্রিকেট মুস্তাফিজুর"},
		{"noto-sans-gurmukhi", "NotoSansGurmukhi_400Regular.ttf", "pa", "ਗੁਰਪ੍ਰੀਤ ਸਿੰਘ"},
		{"noto-emoji", "NotoEmoji_400Regular.ttf", "en", "🏏🔥👨‍👩‍👧"},
		{"noto-sans", "NotoSans_400Regular.ttf", "en", "Zoë O’Neill-D’Souza AVA"},
	} {
		f := loadFace(t, c.pkg, c.file)
		s := NewSetter(facesInOrder{f})
		ls, err := s.Paragraph([]Span{{c.text, Style{Size: f.upem}}}, 0, Auto) // 1 point = 1 font unit
		if err != nil || len(ls) != 1 {
			t.Fatal(ls, err)
		}
		var want []struct {
			G  int `json:"g"`
			AX int `json:"ax"`
			DX int `json:"dx"`
			DY int `json:"dy"`
		}
		cmd := exec.Command("hb-shape", "--output-format=json", "--no-glyph-names", "--no-clusters",
			"--language="+c.lang, "--font-file="+fontFile(t, c.pkg, c.file), "--text="+c.text)
		var out bytes.Buffer
		cmd.Stdout = &out
		if err := cmd.Run(); err != nil {
			t.Fatalf("hb-shape: %v", err)
		}
		if err := json.Unmarshal(out.Bytes(), &want); err != nil {
			t.Fatal(err)
		}
		var got []Glyph
		for _, r := range ls[0].Runs {
			got = append(got, r.Glyphs...)
		}
		if len(got) != len(want) {
			t.Errorf("%s: %d glyphs, HarfBuzz has %d", c.text, len(got), len(want))
			continue
		}
		for i, w := range want {
			g := got[i]
			if int(g.ID) != w.G || int(g.Advance) != w.AX || int(g.DX) != w.DX || int(g.DY) != w.DY {
				t.Errorf("%s: glyph %d is %d+%v@%v,%v, HarfBuzz has %d+%d@%d,%d", c.text, i, g.ID, g.Advance, g.DX, g.DY, w.G, w.AX, w.DX, w.DY)
			}
		}
	}
}

func FuzzParagraph(f *testing.F) {
	for _, s := range []string{"கவின் 12", "(عمر) Umar \u202ex", "👨\u200d👩\u200d👧 a\u0301", "\u200d", "ക്ഷ", "[)]("} {
		f.Add(s, uint16(80))
	}
	f.Fuzz(func(t *testing.T, text string, width uint16) {
		if len(text) > 2000 {
			return
		}
		text = Clean(text)
		s := NewSetter(world(t))
		ls, err := s.Paragraph(plainSpan(text), 20+float64(width%600), Auto)
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range ls {
			for _, r := range l.Runs {
				for _, g := range r.Glyphs {
					if g.ID == 0 {
						t.Errorf("%+q: an empty box for %+q", text, g.Text)
					}
				}
			}
		}
	})
}

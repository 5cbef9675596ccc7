package typeset

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/text/unicode/bidi"
)

// show gives a line's runes in the order seen, with mirrored brackets in
// right-to-left text, as the shaper sets them.
func show(s string, b Base) string {
	rs := []rune(s)
	lv := levels(rs, baseLevel(rs, b))
	var out strings.Builder
	for _, i := range visual(lv) {
		r := rs[i]
		if k := strings.IndexRune(mirrored, r); k >= 0 && lv[i]%2 == 1 {
			r = []rune(mirrored)[utf8.RuneCountInString(mirrored[:k])^1]
		}
		out.WriteRune(r)
	}
	return out.String()
}

func TestOrderOfMixedLines(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"abc", "abc"},
		{"אבג", "גבא"},
		{"abc אבג def", "abc גבא def"},
		{"אבג abc 12", "abc 12 גבא"},       // an LTR word and the number after it stay together
		{"אבג 12 דהו", "והד 12 גבא"},       // numbers keep their order
		{"עמר (Umar) 99", "99 (Umar) רמע"}, // brackets round a foreign word
		{"car 1,234.5% אבג", "car 1,234.5% גבא"},
		{"محمد ۱۲۳ شاہ", "ہاش ۱۲۳ دمحم"},
		{"", ""},
	} {
		if got := show(c.in, Auto); got != c.want {
			t.Errorf("%q is seen as %q, want %q", c.in, got, c.want)
		}
	}
}

const mirrored = "()[]{}«»"

// alphabet holds characters of every class that text can have after Clean.
var alphabet = []rune("aZ אבއ٣۷12 +-.,:%$()[]{}!\u0301\u064e\u200d&«»/")

func randomText(r *rand.Rand) string {
	rs := make([]rune, 1+r.IntN(14))
	for i := range rs {
		rs[i] = alphabet[r.IntN(len(alphabet))]
	}
	return string(rs)
}

// The directions that x/text resolves are the parity of our levels.
func TestLevelsAgreeWithXText(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 20000 {
		s := randomText(r)
		if strings.ContainsAny(s, "\u200d()[]{}") {
			continue // a joiner is neutral there, and its pairs of brackets are not FriBidi's
		}
		rs := []rune(s)
		lv := levels(rs, 0)
		var p bidi.Paragraph
		p.SetString(s, bidi.DefaultDirection(bidi.LeftToRight))
		o, err := p.Order()
		if err != nil || baseLevel(rs, Auto) == 1 {
			continue // x/text takes the first strong character's direction
		}
		for i := range o.NumRuns() {
			run := o.Run(i)
			a, b := run.Pos()
			for k := a; k <= b; k++ {
				if (lv[k]%2 == 1) != (run.Direction() == bidi.RightToLeft) {
					t.Fatalf("%q: rune %d (%q) has level %d, x/text says %v", s, k, rs[k], lv[k], run.Direction())
				}
			}
		}
	}
}

// The whole order agrees with the reference implementation, where its program
// is installed.
func TestOrderAgreesWithFriBidi(t *testing.T) {
	if _, err := exec.LookPath("fribidi"); err != nil {
		t.Skip("fribidi is not installed (Debian: libfribidi-bin)")
	}
	r := rand.New(rand.NewPCG(3, 4))
	var in []string
	for range 1500 {
		s := strings.TrimSpace(randomText(r)) // fribidi's lines end in their own spaces
		if s != "" && !strings.ContainsAny(s, "\u200d\u0301\u064e") {
			in = append(in, s) // the program reorders marks for terminals
		}
	}
	for flag, base := range map[string]Base{"--ltr": LTR, "--rtl": RTL} {
		cmd := exec.Command("fribidi", flag, "--nopad", "--nobreak")
		cmd.Stdin = strings.NewReader(strings.Join(in, "\n") + "\n")
		var out, msg bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &msg
		if err := cmd.Run(); err != nil {
			t.Fatalf("fribidi %s: %v: %s", flag, err, msg.String())
		}
		got := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
		if len(got) != len(in) {
			t.Fatalf("fribidi gave %d lines for %d", len(got), len(in))
		}
		bad := 0
		for i, s := range in {
			if want := got[i]; show(s, base) != want {
				if bad++; bad < 5 {
					t.Errorf("%s %s is seen as %s, fribidi says %s (levels %v)", flag, escape(s), escape(show(s, base)), escape(want), levels([]rune(s), uint8(map[Base]int{LTR: 0, RTL: 1}[base])))
				}
			}
		}
		if bad > 0 {
			t.Errorf("%s: %d of %d lines differ", flag, bad, len(in))
		}
	}
}

func escape(s string) string { return fmt.Sprintf("%+q", s) }

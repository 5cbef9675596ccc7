package report

import (
	"encoding/json"
	"html"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/text/unicode/norm"

	"fastbowlinglab/shared/aitask"
	"fastbowlinglab/shared/motion"
	"fastbowlinglab/shared/reason"
)

// tool runs a program on a PDF, skipping the test where it is not installed.
func tool(t testing.TB, pdf []byte, name string, args ...string) string {
	t.Helper()
	if _, err := exec.LookPath("pdftotext"); err != nil {
		t.Skip("pdftotext is not installed (Debian: poppler-utils)")
	}
	file := filepath.Join(t.TempDir(), "report.pdf")
	if err := os.WriteFile(file, pdf, 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(name, append(args, file)...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v: %s", name, err, out)
	}
	return string(out)
}

// pdfText runs pdftotext, whose output file follows the input.
func pdfText(t testing.TB, pdf []byte, args ...string) string {
	t.Helper()
	return tool(t, pdf, "sh", append([]string{"-c", `exec pdftotext "$@" -`, "pdftotext"}, args...)...)
}

// words is a PDF's text as pdftotext gives it, without the marks of direction
// that it adds, every kind of space as one space.
func words(t testing.TB, pdf []byte) string {
	s := pdfText(t, pdf)
	s = strings.Map(func(r rune) rune {
		if r >= 0x202A && r <= 0x202E || r >= 0x2066 && r <= 0x2069 || r == 0x200E || r == 0x200F {
			return -1
		}
		return r
	}, s)
	return strings.Join(strings.Fields(s), " ")
}

func squeeze(s string) string {
	return norm.NFC.String(strings.Join(strings.Fields(strings.NewReplacer("\u200c", "", "\u200d", "").Replace(s)), ""))
}

// joined is s with single spaces and without joiners, which no extractor gives.
func joined(s string) string {
	s = strings.NewReplacer("\u200c", "", "\u200d", "").Replace(s)
	return norm.NFC.String(strings.Join(strings.Fields(s), " "))
}

func readJSON(t testing.TB, v any, parts ...string) {
	t.Helper()
	b, err := os.ReadFile(need(t, parts...))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, v); err != nil {
		t.Fatal(err)
	}
}

// inMargins checks that no word reaches out of the margins of any page, and
// that the pages' words do not lie on one another.
func inMargins(t *testing.T, pdf []byte) {
	t.Helper()
	out := pdfText(t, pdf, "-bbox")
	word := regexp.MustCompile(`xMin="([\d.-]+)" yMin="([\d.-]+)" xMax="([\d.-]+)" yMax="([\d.-]+)">(.*)</word>`)
	n := 0
	for _, m := range word.FindAllStringSubmatch(out, -1) {
		n++
		var v [4]float64
		for i := range v {
			v[i], _ = strconv.ParseFloat(m[i+1], 64)
		}
		if v[0] < left-2 || v[2] > pageW-right+2 || v[1] < 10 || v[3] > pageH-10 {
			t.Errorf("%q lies at %v", clip(html.UnescapeString(m[5]), 30), v)
		}
	}
	if n == 0 {
		t.Error("the PDF has no words")
	}
}

// short is a report without pictures, for tests of text.
func short(name string) Input {
	return Input{AnalysisID: "an-1", Attempt: 1, Athlete: name, TimeZone: "Asia/Kolkata",
		Submitted: time.Date(2026, 3, 31, 18, 30, 0, 0, time.UTC)}
}

// Field case 47: the names of n_names.json.
func TestNamesOfAnyScript(t *testing.T) {
	r := reporter(t)
	var list []string
	readJSON(t, &list, "..", "shared", "cases", "payloads", "n_names.json")
	list = append(list, "ਗੁਰਪ੍ਰੀਤ ਸਿੰਘ", "মুস্তাফিজুর রহমান", "تمیم اقبال", "佐藤 たけし", strings.Repeat("அஆஇ ", 60))
	for i, name := range list {
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			pdf, js := build(t, r, short(name))
			as := squeeze // a long name is broken into lines
			if len([]rune(name)) < 40 {
				as = joined
			}
			text := as(words(t, pdf))
			want := as(strings.NewReplacer("\u202e", "", "\u202c", "").Replace(name))
			if i == 3 { // mixed directions come back in the order of the page
				for _, part := range []string{"عمر اختر", "(Umar)", "99"} {
					if !strings.Contains(text, part) {
						t.Errorf("%q does not say %q", text, part)
					}
				}
			} else if !strings.Contains(text, want) {
				t.Errorf("the PDF does not say %q but %.300q", want, text)
			}
			if strings.ContainsAny(string(js), "\u202e\u202c\x00") {
				t.Error("report.json holds a control character")
			}
			inMargins(t, pdf)
		})
	}
}

// Field case 47: long words and lists.
func TestLongTexts(t *testing.T) {
	var long struct {
		NoSpaces string                         `json:"no_spaces"`
		Tamil    string                         `json:"one_tamil_word"`
		Drills   []struct{ Title, Text string } `json:"many_drills"`
	}
	readJSON(t, &long, "..", "shared", "cases", "payloads", "n_long_text.json")
	if len(long.NoSpaces) < 5000 || len(long.Drills) != 80 || long.Tamil == "" {
		t.Fatal("the case's fields have other names")
	}
	in := short("Long")
	in.Findings.Summary = long.Tamil
	in.Findings.Items = []aitask.Finding{{Title: long.NoSpaces, Detail: long.NoSpaces, Evidence: []string{long.NoSpaces}}, {Title: long.Tamil, Detail: long.Tamil}}
	for _, d := range long.Drills {
		in.Coaching.Drills = append(in.Coaching.Drills, aitask.Drill{Title: d.Title, Purpose: d.Text, Steps: []string{d.Text, d.Text}, Dose: "3 sets of 10"})
	}
	pdf, _ := build(t, reporter(t), in)
	text := squeeze(words(t, pdf))
	if !strings.Contains(text, squeeze(long.Tamil)[:600]) {
		t.Error("the long Tamil word did not come back")
	}
	if n := strings.Count(text, "xxxxxxxxxxxxxxxxxxxx"); n*20 < 9000 {
		t.Errorf("only %d of the x came back", n*20)
	}
	for i, d := range long.Drills {
		if !strings.Contains(text, squeeze(d.Title)+squeeze(d.Text[:27])) {
			t.Errorf("drill %d is missing", i)
		}
	}
	if n := strings.Count(text, "braced."); n != 80*3*12 {
		t.Errorf("%d sentences of 2880 came back", n)
	}
	inMargins(t, pdf)
}

func TestMarkupAndControlCharacters(t *testing.T) {
	var l13 struct {
		Output struct {
			Message struct {
				Content []struct {
					Text string `json:"text"`
				} `json:"content"`
			} `json:"message"`
		} `json:"output"`
	}
	readJSON(t, &l13, "..", "shared", "cases", "payloads", "l13_html_and_control_chars.json")
	var answer struct {
		Summary string `json:"summary"`
	}
	if err := json.Unmarshal([]byte(l13.Output.Message.Content[0].Text), &answer); err != nil {
		t.Fatal(err)
	}
	in := short("x")
	in.Findings.Summary = answer.Summary
	in.Findings.Items = []aitask.Finding{{Title: answer.Summary, Detail: "a\x00b\x1b[31m\u202ec\u2066\r\nsecond ( \\ ) line"}}
	in.ClipNames = []string{"café \u202e4pm.mp4"}
	in.Result.Clips = []motion.Clip{{Refused: reason.NotBowling}}
	in.AnalysisID = "an-\u202e1\n"
	pdf, js := build(t, reporter(t), in)
	text := words(t, pdf)
	for _, want := range []string{"<script>x</script> Front foot lands closed.", "ab[31mc", "second ( \\ ) line", "café 4pm.mp4", "Analysis an-1"} {
		if !strings.Contains(text, want) {
			t.Errorf("the PDF does not say %q", want)
		}
	}
	if strings.Contains(string(js), "<script>") || strings.Contains(string(js), "u202e") || strings.Contains(string(js), "u0000") {
		t.Error("report.json holds markup or control characters as they were")
	}
}

// Field case 48.
func TestDatesInTheAthletesZone(t *testing.T) {
	var cases []struct {
		UTC  time.Time `json:"utc"`
		TZ   string    `json:"tz"`
		Date string    `json:"date"`
	}
	readJSON(t, &cases, "..", "shared", "cases", "payloads", "t_times.json")
	seen := map[string]bool{}
	for _, c := range cases {
		d, err := time.Parse(time.DateOnly, c.Date)
		if err != nil {
			t.Fatal(err)
		}
		got := when(c.UTC, c.TZ)
		if want := d.Format("2 January 2006, "); !strings.HasPrefix(got, want) {
			t.Errorf("%s in %s is %q, want %q", c.UTC, c.TZ, got, want)
		}
		if !strings.Contains(got, c.TZ) || seen[got] {
			t.Errorf("%s in %s is %q: the zone is not named, or two instants are written alike", c.UTC, c.TZ, got)
		}
		seen[got] = true
	}
	for _, c := range []struct {
		t    time.Time
		zone string
		want string
	}{
		{time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), "", "1 March 2026, 12:00 (UTC)"},
		{time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), "UTC", "1 March 2026, 12:00 (UTC)"},
		{time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), "Local", "1 March 2026, 12:00 (UTC; the time zone “Local” is not known)"},
		{time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), "../../etc/passwd", "1 March 2026, 12:00 (UTC; the time zone “../../etc/passwd” is not known)"},
		{time.Date(1904, 1, 1, 0, 0, 0, 0, time.UTC), "Asia/Colombo", "date not known"},
		{time.Time{}, "Asia/Colombo", "date not known"},
	} {
		if got := when(c.t, c.zone); got != c.want {
			t.Errorf("%s in %q is %q, want %q", c.t, c.zone, got, c.want)
		}
	}
}

package aitask

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// coached is the shape of the answers among the field cases.
type coached struct {
	Verdict    string  `json:"verdict"`
	Confidence float64 `json:"confidence"`
	Summary    string  `json:"summary"`
	Drills     []struct {
		Title string `json:"title"`
		Reps  int    `json:"reps"`
	} `json:"drills"`
}

func (c *coached) check() error {
	if c.Verdict == "" {
		return errors.New("no verdict")
	}
	return texts(field{&c.Summary, 100, "summary"})
}

// converseText is the text of a stored Converse answer.
func converseText(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(shared(t), "cases", "payloads", name))
	if err != nil {
		t.Skipf("field case %s is missing: %v", name, err)
	}
	var a struct {
		Output struct {
			Message struct {
				Content []struct {
					Text string `json:"text"`
				} `json:"content"`
			} `json:"message"`
		} `json:"output"`
	}
	if err := json.Unmarshal(b, &a); err != nil {
		t.Fatal(err)
	}
	s := ""
	for _, c := range a.Output.Message.Content {
		s += c.Text
	}
	return s
}

// shared finds the folder with the field cases beside the repository.
func shared(t *testing.T) string {
	t.Helper()
	d, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for ; d != "/"; d = filepath.Dir(d) {
		if _, err := os.Stat(filepath.Join(d, "go.mod")); err == nil {
			return filepath.Join(d, "..", "shared")
		}
	}
	t.Fatal("no go.mod above the test")
	return ""
}

// Field case 38.
func TestParseFieldCases(t *testing.T) {
	for _, c := range []struct {
		file string
		ok   bool
		err  string
	}{
		{"l01_ok.json", true, ""},
		{"l03_fenced.json", true, ""},
		{"l04_prose_then_json_then_prose.json", true, ""},
		{"l05_refusal.json", false, "no JSON"},
		{"l06_guardrail.json", false, "no JSON"},
		{"l07_empty_content.json", false, "empty"},
		{"l12_wrong_types.json", false, "cannot unmarshal"},
		{"l13_html_and_control_chars.json", true, ""},
	} {
		t.Run(c.file, func(t *testing.T) {
			o, err := parse(converseText(t, c.file), func() output { return &coached{} })
			if c.ok != (err == nil) {
				t.Fatalf("err = %v, want ok %v", err, c.ok)
			}
			if err != nil {
				if !strings.Contains(err.Error(), c.err) {
					t.Errorf("err = %v, want one about %q", err, c.err)
				}
				return
			}
			got := o.(*coached)
			if got.Confidence != 0.82 || len(got.Drills) != 1 || got.Drills[0].Reps != 10 {
				t.Errorf("got %+v", got)
			}
			if strings.ContainsAny(got.Summary, "\x00\u202e") {
				t.Errorf("summary keeps control characters: %q", got.Summary)
			}
		})
	}
}

func TestParse(t *testing.T) {
	const whole = `{"verdict":"pass","reason":"A bowler.","confidence":0.9}`
	for _, c := range []struct {
		name, text, err string
	}{
		{"Whole", whole, ""},
		{"BraceInProse", "I { think } so: " + whole + " {", ""},
		{"Cut", whole[:40], "cut off"},
		{"CutInFence", "```json\n" + whole[:40], "cut off"},
		{"OtherShape", `{"result":` + whole + `}`, "unknown field"},
		{"WrongType", `{"verdict":"pass","reason":"A.","confidence":"high"}`, "cannot unmarshal"},
		{"OutOfRange", `{"verdict":"pass","reason":"A.","confidence":7}`, "outside"},
		{"OtherVerdict", `{"verdict":"maybe","reason":"A.","confidence":0.5}`, "neither"},
		{"NoReason", `{"verdict":"pass","reason":" \u0000 ","confidence":0.5}`, "empty"},
		{"Array", `[1,2]`, "no JSON object"},
		{"Endless", strings.Repeat("{", maxAnswer+1), "limit"},
		{"ManyBraces", strings.Repeat("{ ", 5000), "invalid character"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := parse(c.text, newOutput(Precheck))
			if (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
				t.Errorf("err = %v, want %q", err, c.err)
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	f.Add(`{"summary":"a","items":[{"title":"t","detail":"d","kind":"limits"}]}`)
	f.Add("```json\n{\"summary\":\"a\"")
	f.Fuzz(func(t *testing.T, s string) {
		o, err := parse(s, newOutput(Findings))
		if err != nil {
			return
		}
		b, err := json.Marshal(o)
		if err != nil {
			t.Fatalf("an accepted answer does not encode: %v", err)
		}
		if _, err := parse(string(b), newOutput(Findings)); err != nil {
			t.Fatalf("an accepted answer is refused when read back: %v", err)
		}
	})
}

package aitask

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"fastbowlinglab/shared/names"
)

// PrecheckText is the output of the precheck: names.VerdictPass or
// names.VerdictReject. Confidence is in [0,1].
type PrecheckText struct {
	Verdict    string  `json:"verdict"`
	Reason     string  `json:"reason"`
	Confidence float64 `json:"confidence"`
}

// Kind says what a finding is for.
type Kind string

// The kinds of findings.
const (
	Strength    Kind = "strength"
	WorkOn      Kind = "work_on"
	Observation Kind = "observation"
	Limits      Kind = "limits" // what could not be measured, and why
)

// Ref names the measure that a finding rests on.
type Ref struct {
	Clip  int    `json:"clip"`
	Name  string `json:"name"`
	Phase string `json:"phase,omitempty"`
}

// Finding is one thing that the numbers show. Evidence gives the measures in
// words, for a reader.
type Finding struct {
	Title    string   `json:"title"`
	Detail   string   `json:"detail"`
	Kind     Kind     `json:"kind"`
	Measures []Ref    `json:"measures,omitempty"`
	Evidence []string `json:"evidence,omitempty"`
}

// FindingsText is the output of findings.
type FindingsText struct {
	Summary string    `json:"summary"`
	Items   []Finding `json:"items"`
}

// Drill is one exercise; Finding is the title of the finding that it answers.
type Drill struct {
	Title   string   `json:"title"`
	Purpose string   `json:"purpose"`
	Finding string   `json:"finding,omitempty"`
	Steps   []string `json:"steps"`
	Dose    string   `json:"dose"`
}

// CoachingText is the output of coaching.
type CoachingText struct {
	Summary string  `json:"summary"`
	Drills  []Drill `json:"drills"`
	Safety  string  `json:"safety"`
}

// output is a typed answer that can clean and check itself.
type output interface{ check() error }

func (p *PrecheckText) check() error {
	if p.Verdict != names.VerdictPass && p.Verdict != names.VerdictReject {
		return fmt.Errorf("verdict %q is neither %s nor %s", p.Verdict, names.VerdictPass, names.VerdictReject)
	}
	if !(p.Confidence >= 0 && p.Confidence <= 1) {
		return fmt.Errorf("confidence %v is outside [0,1]", p.Confidence)
	}
	return texts(field{&p.Reason, 400, "reason"})
}

func (f *FindingsText) check() error {
	if len(f.Items) < 1 || len(f.Items) > 12 {
		return fmt.Errorf("%d items, want 1 to 12", len(f.Items))
	}
	if err := texts(field{&f.Summary, 1200, "summary"}); err != nil {
		return err
	}
	for i := range f.Items {
		it := &f.Items[i]
		switch it.Kind {
		case Strength, WorkOn, Observation, Limits:
		default:
			return fmt.Errorf("item %d: kind %q", i, it.Kind)
		}
		if len(it.Measures) > 16 || len(it.Evidence) > 16 {
			return fmt.Errorf("item %d: too much evidence", i)
		}
		fs := []field{{&it.Title, 160, "title"}, {&it.Detail, 2000, "detail"}}
		for k := range it.Evidence {
			fs = append(fs, field{&it.Evidence[k], 400, "evidence"})
		}
		for k := range it.Measures {
			if it.Measures[k].Clip < 0 {
				return fmt.Errorf("item %d: clip %d", i, it.Measures[k].Clip)
			}
			fs = append(fs, field{&it.Measures[k].Name, 80, "measure"})
		}
		if err := texts(fs...); err != nil {
			return fmt.Errorf("item %d: %w", i, err)
		}
	}
	return nil
}

func (c *CoachingText) check() error {
	if len(c.Drills) < 3 || len(c.Drills) > 5 {
		return fmt.Errorf("%d drills, want 3 to 5", len(c.Drills))
	}
	if err := texts(field{&c.Summary, 1200, "summary"}, field{&c.Safety, 800, "safety"}); err != nil {
		return err
	}
	for i := range c.Drills {
		d := &c.Drills[i]
		if len(d.Steps) < 1 || len(d.Steps) > 10 {
			return fmt.Errorf("drill %d: %d steps, want 1 to 10", i, len(d.Steps))
		}
		d.Finding = plain(d.Finding)
		fs := []field{{&d.Title, 160, "title"}, {&d.Purpose, 1200, "purpose"}, {&d.Dose, 200, "dose"}}
		for k := range d.Steps {
			fs = append(fs, field{&d.Steps[k], 500, "step"})
		}
		if err := texts(fs...); err != nil {
			return fmt.Errorf("drill %d: %w", i, err)
		}
	}
	return nil
}

// field is a text of an answer with its limit in runes.
type field struct {
	text *string
	max  int
	name string
}

var errEmpty = errors.New("is empty")

// texts cleans each field in place and checks that something is left of it.
func texts(fs ...field) error {
	for _, f := range fs {
		*f.text = plain(*f.text)
		if *f.text == "" {
			return fmt.Errorf("%s %w", f.name, errEmpty)
		}
		if n := utf8.RuneCountInString(*f.text); n > f.max {
			return fmt.Errorf("%s has %d characters, limit %d", f.name, n, f.max)
		}
	}
	return nil
}

// plain makes one line of plain text: control characters and those that reorder
// text invisibly are dropped, white space is single. Escaping for PDF, mail and
// HTML is the business of whoever shows it.
func plain(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case r == utf8.RuneError, unicode.IsControl(r),
			r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069, r == 0x200e, r == 0x200f, r == 0xfeff:
			return -1
		}
		return r
	}, s)
	return strings.Join(strings.Fields(s), " ")
}

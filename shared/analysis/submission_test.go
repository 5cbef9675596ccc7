package analysis_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/names"
)

func TestClean(t *testing.T) {
	ok := submission()
	ok.AthleteName, ok.Email, ok.TimeZone = "  கவின்\nBcc: x@example.com\u202e ", "a.b+c@example.co.uk", ""
	got, err := ok.Clean()
	if err != nil || got.AthleteName != "கவின் Bcc: x@example.com" || got.TimeZone != "UTC" {
		t.Errorf("Clean = %q %q, %v", got.AthleteName, got.TimeZone, err)
	}
	for name, change := range map[string]func(*analysis.Submission){
		"athlete.name":        func(s *analysis.Submission) { s.AthleteName = strings.Repeat("x", names.MaxNameRunes+1) },
		"notes":               func(s *analysis.Submission) { s.Notes = strings.Repeat("x", names.MaxNotesRunes+1) },
		"consent":             func(s *analysis.Submission) { s.Consent = false },
		"clips":               func(s *analysis.Submission) { s.Clips = nil },
		"clips[0].size_bytes": func(s *analysis.Submission) { s.Clips[0].SizeBytes = names.MaxClipBytes + 1 },
		"clips[0].name":       func(s *analysis.Submission) { s.Clips[0].Name = strings.Repeat("x", names.MaxNameRunes+1) },
		"time_zone":           func(s *analysis.Submission) { s.TimeZone = strings.Repeat("x", 65) },
		"email":               func(s *analysis.Submission) { s.Email = "a@example.com\r\nBcc: b@example.com" },
	} {
		s := submission()
		change(&s)
		var bad *analysis.InvalidError
		if _, err := s.Clean(); !errors.As(err, &bad) || len(bad.Fields) != 1 || bad.Fields[0].Field != name {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, e := range []string{"a", "@example.com", "A <a@example.com>", "a@b", "ü@example.com", "a@example.com, b@example.com", strings.Repeat("a", 250) + "@example.com"} {
		s := submission()
		s.Email = e
		if _, err := s.Clean(); err == nil {
			t.Errorf("e-mail %q is accepted", e)
		}
	}
}

// Field cases 18 and 47: names in any script get through as they are.
func TestCleanKeepsNames(t *testing.T) {
	b, err := os.ReadFile(filepath.Join("..", "..", "..", "shared", "cases", "payloads", "n_names.json"))
	if err != nil {
		t.Skipf("field cases are not here: %v", err)
	}
	var all []string
	if err := json.Unmarshal(b, &all); err != nil {
		t.Fatal(err)
	}
	for _, n := range all {
		s := submission()
		s.AthleteName, s.Clips[0].Name = n, n
		got, err := s.Clean()
		if len([]rune(n)) > names.MaxNameRunes {
			if err == nil {
				t.Errorf("a name of %d characters is accepted", len([]rune(n)))
			}
			continue
		}
		want := strings.TrimSpace(strings.NewReplacer("\n", " ", "\u202e", "", "\u202c", "").Replace(n))
		if err != nil || got.AthleteName != want || got.Clips[0].Name != want {
			t.Errorf("%q became %q, %v", n, got.AthleteName, err)
		}
	}
}

package analysis

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/mail"
	"strings"
	"unicode"
	"unicode/utf8"

	"fastbowlinglab/shared/names"
)

// Submission is what an athlete asks to have analysed.
type Submission struct {
	AthleteName string
	Email       string // "" for no mail
	TimeZone    string // IANA name; a report falls back to UTC for one it does not know
	Notes       string
	Consent     bool
	Clips       []Clip
	// The fields below came later. Each is left out of the hash when it is zero,
	// so that a request of an earlier release, repeated, is still the same.
	UnderAge    bool   `json:",omitempty"` // too young, by the law where they live, to consent themselves
	ConsentRole string `json:",omitempty"` // ConsentSelf (the default) or ConsentParent
	ConsentName string `json:",omitempty"` // of the parent
	Push        bool   `json:",omitempty"` // tell the app of the end, too
}

// Who gives consent.
const (
	ConsentSelf   = "self"
	ConsentParent = "parent" // or whoever has parental responsibility
)

// checkConsent says what is wrong with the consent. Whether an athlete is under
// age is the app's to find out; no birth date is asked for or kept. A child's
// consent counts only when a parent gives it, by name.
func (s Submission) checkConsent(fail func(field, format string, a ...any)) {
	if !s.Consent {
		fail("consent", "must be true: without consent nothing may be analysed")
	}
	switch {
	case s.ConsentRole != "" && s.ConsentRole != ConsentSelf && s.ConsentRole != ConsentParent:
		fail("consent_by.role", "either %s or %s", ConsentSelf, ConsentParent)
	case s.UnderAge && s.ConsentRole != ConsentParent:
		fail("consent_by.role", "must be %s: the athlete is under age", ConsentParent)
	case s.ConsentRole == ConsentParent && s.ConsentName == "":
		fail("consent_by.name", "is needed: a parent consents by name")
	}
}

// FieldError says what is wrong with one field of a request.
type FieldError struct {
	Field  string `json:"field"`
	Detail string `json:"detail"`
}

// InvalidError lists everything that is wrong with a submission.
type InvalidError struct{ Fields []FieldError }

func (e *InvalidError) Error() string {
	parts := make([]string, len(e.Fields))
	for i, f := range e.Fields {
		parts[i] = f.Field + ": " + f.Detail
	}
	return "invalid submission: " + strings.Join(parts, "; ")
}

const (
	maxEmailBytes = 254 // RFC 5321
	maxTypeBytes  = 127
	maxZoneBytes  = 64
)

// Clean gives the submission as it is stored: text without control and
// direction-override characters, an empty time zone as UTC. It returns an
// *InvalidError when a limit is broken.
func (s Submission) Clean() (Submission, error) {
	var bad []FieldError
	fail := func(field, format string, a ...any) {
		bad = append(bad, FieldError{field, fmt.Sprintf(format, a...)})
	}
	limit := func(field, v string, runes int) {
		if n := utf8.RuneCountInString(v); n > runes {
			fail(field, "%d characters; at most %d", n, runes)
		}
	}
	s.AthleteName = cleanLine(s.AthleteName)
	limit("athlete.name", s.AthleteName, names.MaxNameRunes)
	s.Notes = strings.TrimSpace(cleanText(s.Notes, true))
	limit("notes", s.Notes, names.MaxNotesRunes)
	s.TimeZone = cleanLine(s.TimeZone)
	if s.TimeZone == "" {
		s.TimeZone = "UTC"
	}
	limit("time_zone", s.TimeZone, maxZoneBytes)
	if s.Email != "" && !validEmail(s.Email) {
		fail("email", "not an address that mail can be sent to")
	}
	s.ConsentName = cleanLine(s.ConsentName)
	limit("consent_by.name", s.ConsentName, names.MaxNameRunes)
	s.checkConsent(fail)
	if len(s.Clips) < 1 || len(s.Clips) > names.MaxClips {
		fail("clips", "%d clips; between 1 and %d", len(s.Clips), names.MaxClips)
		return s, &InvalidError{bad}
	}
	clips := make([]Clip, len(s.Clips))
	for i, c := range s.Clips {
		field := fmt.Sprintf("clips[%d].", i)
		c = Clip{Name: cleanLine(c.Name), Type: cleanLine(c.Type), SizeBytes: c.SizeBytes}
		limit(field+"name", c.Name, names.MaxNameRunes)
		limit(field+"type", c.Type, maxTypeBytes)
		if c.SizeBytes < 0 || c.SizeBytes > names.MaxClipBytes {
			fail(field+"size_bytes", "%d; between 0 and %d", c.SizeBytes, names.MaxClipBytes)
		}
		clips[i] = c
	}
	s.Clips = clips
	if bad != nil {
		return s, &InvalidError{bad}
	}
	return s, nil
}

// Hash is the same for two requests that ask for the same.
func (s Submission) Hash() string {
	b, err := json.Marshal(s)
	if err != nil {
		panic("analysis: encode submission: " + err.Error()) // strings, numbers and a bool always encode
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// cleanLine is one line of text: control characters become spaces.
func cleanLine(s string) string { return strings.TrimSpace(cleanText(s, false)) }

// cleanText drops what can forge a header or turn a line around (U+202E and its
// kin) and keeps what scripts and emoji need, such as zero-width joiners.
func cleanText(s string, lines bool) string {
	return strings.Map(func(r rune) rune {
		switch {
		case lines && (r == '\n' || r == '\t'):
			return r
		case r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069:
			return -1
		case unicode.IsControl(r), r == 0x2028, r == 0x2029:
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
}

// validEmail takes a bare ASCII address: SES takes no other.
func validEmail(s string) bool {
	if len(s) > maxEmailBytes || strings.IndexFunc(s, func(r rune) bool { return r <= ' ' || r > '~' }) >= 0 {
		return false
	}
	a, err := mail.ParseAddress(s)
	return err == nil && a.Name == "" && a.Address == s && strings.Contains(s[strings.LastIndexByte(s, '@'):], ".")
}

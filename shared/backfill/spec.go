package backfill

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"fastbowlinglab/shared/fault"
	"fastbowlinglab/shared/names"
)

// Spec says what a run redoes: the input that an operator starts it with. The
// analyses are listed, or in an object with a JSON array of ids, or those that
// were delivered on the UTC days from From to To, both included.
type Spec struct {
	Effect    string   `json:"effect"`
	Version   string   `json:"version"` // of what is made; part of every key
	IDs       []string `json:"ids,omitempty"`
	IDsKey    string   `json:"ids_key,omitempty"`
	From      string   `json:"from,omitempty"` // YYYY-MM-DD
	To        string   `json:"to,omitempty"`
	BatchSize int      `json:"batch_size,omitempty"` // default and most: names.MaxBatch
	// Of a revision of reports: whether each athlete is told of it, once, and what
	// the report says of what it changes.
	Notice  bool   `json:"notice,omitempty"`
	Changed string `json:"changed,omitempty"`
}

// kept is a spec as the run's row keeps it: the ids are in the batches.
type kept struct {
	Effect  string `json:"effect"`
	Version string `json:"version"`
	Batches int    `json:"batches"`
	Notice  bool   `json:"notice,omitempty"`
	Changed string `json:"changed,omitempty"`
}

// maxChanged bounds, in characters, what an operator says of a revision.
const maxChanged = 200

// MaxIDs is how many analyses one run can take.
const MaxIDs = names.MaxBatch * names.MaxBatches

// maxDays bounds a query.
const maxDays = 366

var (
	versionForm  = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]{0,31}$`)
	analysisForm = regexp.MustCompile(`^[A-Za-z0-9-]{1,64}$`)
)

// ParseSpec reads and checks an input. Errors are fault.Permanent and say which
// field is wrong.
func ParseSpec(input []byte, effects []string) (Spec, error) {
	bad := func(format string, a ...any) (Spec, error) {
		return Spec{}, fault.New(fault.Permanent, "backfill: "+format, a...)
	}
	var s Spec
	d := json.NewDecoder(bytes.NewReader(input))
	d.DisallowUnknownFields()
	if err := d.Decode(&s); err != nil {
		return bad("the input is not as statemachine/OPERATIONS.md shows it: %v", err)
	}
	ways := 0
	for _, given := range []bool{len(s.IDs) > 0, s.IDsKey != "", s.From != "" || s.To != ""} {
		if given {
			ways++
		}
	}
	switch {
	case !slices.Contains(effects, s.Effect):
		return bad("effect %q: there are %v", s.Effect, effects)
	case !versionForm.MatchString(s.Version):
		return bad("version %q: want 1 to 32 of a-z, 0-9, . and -", s.Version)
	case ways != 1:
		return bad("give ids, or ids_key, or from and to")
	case s.Effect == names.EffectTags && (s.Notice || s.Changed != ""):
		return bad("notice and changed are for revisions of reports; tags are not shown")
	case utf8.RuneCountInString(s.Changed) > maxChanged || strings.ContainsFunc(s.Changed, unicode.IsControl):
		return bad("changed: want one line of at most %d characters", maxChanged)
	case s.BatchSize < 0 || s.BatchSize > names.MaxBatch:
		return bad("batch_size %d: want 1 to %d", s.BatchSize, names.MaxBatch)
	}
	if s.BatchSize == 0 {
		s.BatchSize = names.MaxBatch
	}
	if s.From != "" || s.To != "" {
		if _, err := s.days(); err != nil {
			return Spec{}, err
		}
	}
	return s, nil
}

// days lists the UTC days from From to To.
func (s Spec) days() ([]string, error) {
	from, err1 := time.Parse(time.DateOnly, s.From)
	to, err2 := time.Parse(time.DateOnly, s.To)
	if err1 != nil || err2 != nil || to.Before(from) || to.Sub(from) >= maxDays*24*time.Hour {
		return nil, fault.New(fault.Permanent, "backfill: from %q to %q: want two days, YYYY-MM-DD, at most %d apart", s.From, s.To, maxDays)
	}
	var out []string
	for d := from; !d.After(to); d = d.AddDate(0, 0, 1) {
		out = append(out, d.Format(time.DateOnly))
	}
	return out, nil
}

// clean sorts the ids, each once, and checks their form and number.
func (s Spec) clean(ids []string) ([]string, error) {
	slices.Sort(ids)
	ids = slices.Compact(ids)
	for _, id := range ids {
		if !analysisForm.MatchString(id) {
			return nil, fault.New(fault.Permanent, "backfill: %.80q is no analysis id", id)
		}
	}
	most := s.BatchSize * names.MaxBatches
	if len(ids) > most {
		return nil, fault.New(fault.Permanent, "backfill: %d analyses; one run takes %d batches of %d: split it", len(ids), names.MaxBatches, s.BatchSize)
	}
	return ids, nil
}

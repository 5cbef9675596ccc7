package outbox

import (
	"strconv"
	"strings"
	"time"

	"fastbowlinglab/shared/analysis"
)

// revised starts the kind of a notice that tells of a revision of the report;
// its number follows.
const revised = "revised-"

// OfRevision are the notices of a revision of a delivered report, on the channels
// of the analysis's end.
func OfRevision(r analysis.Row, number int, at time.Time) []Notice {
	all := All(r, analysis.Ready, at)
	for i := range all {
		n := &all[i]
		n.Kind = revised + strconv.Itoa(number)
		n.ID = n.Kind + "#" + string(n.Channel)
	}
	return all
}

// RevisionOf gives the number of the revision that a notice of this kind tells of.
func RevisionOf(kind string) (number int, ok bool) {
	s, ok := strings.CutPrefix(kind, revised)
	n, err := strconv.Atoi(s)
	return n, ok && err == nil && n > 0 && strconv.Itoa(n) == s
}

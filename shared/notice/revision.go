package notice

import (
	"fmt"
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

// words writes the mail of a notice's kind.
func words(r analysis.Row, kind, apiURL string) (Message, error) {
	number, ok := RevisionOf(kind)
	if !ok {
		return Render(r, apiURL)
	}
	if r.Status != analysis.Ready || number > len(r.Revisions) {
		return Message{}, fmt.Errorf("no mail tells of revision %d of an analysis that is %s with %d", number, r.Status, len(r.Revisions))
	}
	return write(r, apiURL, "Your bowling report was revised",
		[]string{"There is a new version of the report on your bowling action.", r.Revisions[number-1].Changed,
			"The report that you know is still there. Nothing was charged."})
}

package notice

import (
	"fmt"

	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/outbox"
)

// words writes the mail of a notice's kind.
func words(r analysis.Row, kind, appURL string) (Message, error) {
	number, ok := outbox.RevisionOf(kind)
	if !ok {
		return Render(r, appURL)
	}
	if r.Status != analysis.Ready || number > len(r.Revisions) {
		return Message{}, fmt.Errorf("no mail tells of revision %d of an analysis that is %s with %d", number, r.Status, len(r.Revisions))
	}
	return write(r, appURL, "Your bowling report was revised",
		[]string{"There is a new version of the report on your bowling action.", r.Revisions[number-1].Changed,
			"The report that you know is still there. Nothing was charged."})
}

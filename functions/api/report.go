package api

import (
	"context"
	"net/http"
	"time"

	"fastbowlinglab/shared/analysis"
)

// reportOut is where the report is, for a while: the newest one, which is what
// was delivered (revision 0) or the last of its revisions. Pictures are its key
// frames with their skeletons' frames, in the order of the clips and phases.
type reportOut struct {
	PDF       link       `json:"report_pdf"`
	JSON      link       `json:"report_json"`
	Pictures  []picture  `json:"pictures"`
	Revision  int        `json:"revision"`
	Changed   string     `json:"changed"`   // by it; empty for what was delivered
	Revisions []revision `json:"revisions"` // all of them, what was delivered first
}

// revision is one of the reports that there are of an analysis.
type revision struct {
	Number  int       `json:"number"` // 0 was delivered
	MadeAt  time.Time `json:"made_at"`
	Changed string    `json:"changed"`
	PDF     link      `json:"report_pdf"`
	JSON    link      `json:"report_json"`
}

// picture is one key frame.
type picture struct {
	Clip  int    `json:"clip"`
	Phase string `json:"phase"`
	link
}

// report signs links to the report at the moment they are asked for.
func (d Deps) report(ctx context.Context, r request) (answer, error) {
	row, err := d.own(ctx, r)
	if err != nil {
		return answer{}, err
	}
	if row.Status != analysis.Ready {
		p := ended(row)
		p.Code, p.Title = "no_report", "There is no report."
		if !row.Status.Ended() {
			p.Code, p.Title = "report_not_ready", "The report is not ready yet."
		}
		return answer{}, p
	}
	newest := row.Newest()
	out := reportOut{Revision: newest.Number, Changed: newest.Changed}
	for _, v := range append([]analysis.Revision{row.Delivered()}, row.Revisions...) {
		r := revision{Number: v.Number, MadeAt: v.At, Changed: v.Changed}
		if r.PDF, err = d.Signer.Link(ctx, v.ReportPDF); err != nil {
			return answer{}, err
		}
		if r.JSON, err = d.Signer.Link(ctx, v.ReportJSON); err != nil {
			return answer{}, err
		}
		out.Revisions = append(out.Revisions, r)
		out.PDF, out.JSON = r.PDF, r.JSON // the newest comes last
	}
	if out.Pictures, err = d.pictures(ctx, row); err != nil {
		return answer{}, err
	}
	return answer{Status: http.StatusOK, Body: out}, nil
}

package render

import (
	"context"
	"strings"

	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/fault"
	"fastbowlinglab/shared/names"
)

// revise makes a revision of a delivered report, under keys of its own: the
// report that was delivered stays, and so does a revision that the row names.
func (d Deps) revise(ctx context.Context, in names.RenderIn) (names.RenderOut, error) {
	row, err := d.row(ctx, in.AnalysisID)
	if err != nil {
		return names.RenderOut{}, err
	}
	if row.Status != analysis.Ready || row.Attempt != in.Attempt || !row.Kept() {
		return names.RenderOut{}, fault.New(fault.Permanent, "render: the analysis is %s at attempt %d, kept %t: only a delivered report has revisions",
			row.Status, row.Attempt, row.Kept())
	}
	if v, ok := row.Revised(in.Revision); ok {
		return names.RenderOut{PDFKey: v.ReportPDF, JSONKey: v.ReportJSON}, nil
	}
	out := names.RenderOut{
		PDFKey:  names.RevisionPDFKey(in.AnalysisID, in.Attempt, in.Number, in.Revision),
		JSONKey: names.RevisionJSONKey(in.AnalysisID, in.Attempt, in.Number, in.Revision),
	}
	return out, d.write(ctx, in, row, out)
}

// plain reports whether a revision's name may be part of a key.
func plain(name string) bool {
	return len(name) <= 80 && !strings.Contains(name, "..") && strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789.-") == ""
}

package operator

import (
	"context"
	"time"

	"fastbowlinglab/shared/awserr"
	"fastbowlinglab/shared/fault"
	"fastbowlinglab/shared/usage"
)

// RepriceIn asks what model calls cost at the prices as they are now: those of an
// analysis, or of the UTC days from From to To.
type RepriceIn struct {
	By
	AnalysisID string `json:"analysis_id"`
	From       string `json:"from"`
	To         string `json:"to"`
}

// RepriceOut has one line for each day, or one for the analysis.
type RepriceOut struct {
	Lines []RepriceLine `json:"lines"`
}

// RepriceLine is what the calls of a day cost. Unpriced counts those whose price
// or tokens nobody knows: the total is complete only when it is 0.
type RepriceLine struct {
	Of       string `json:"of"`
	Calls    int    `json:"calls"`
	TotalUSD string `json:"total_usd"`
	Unpriced int    `json:"unpriced"`
	More     bool   `json:"more"`
}

// maxRepriceDays bounds one call.
const maxRepriceDays = 31

func (d Deps) reprice(ctx context.Context, in RepriceIn) (RepriceOut, error) {
	if (in.AnalysisID == "") == (in.From == "" && in.To == "") {
		return RepriceOut{}, fault.New(fault.Permanent, "reprice: give analysis_id, or from and to")
	}
	if in.AnalysisID != "" {
		l, err := d.line(ctx, in.AnalysisID, "")
		return RepriceOut{[]RepriceLine{l}}, err
	}
	from, err1 := time.Parse(time.DateOnly, in.From)
	to, err2 := time.Parse(time.DateOnly, in.To)
	if err1 != nil || err2 != nil || to.Before(from) || to.Sub(from) >= maxRepriceDays*24*time.Hour {
		return RepriceOut{}, fault.New(fault.Permanent, "reprice: from and to are two days, YYYY-MM-DD, at most %d apart", maxRepriceDays)
	}
	var out RepriceOut
	for day := from; !day.After(to); day = day.AddDate(0, 0, 1) {
		l, err := d.line(ctx, "", day.Format(time.DateOnly))
		if err != nil {
			return out, err
		}
		out.Lines = append(out.Lines, l)
	}
	return out, nil
}

func (d Deps) line(ctx context.Context, analysisID, day string) (RepriceLine, error) {
	var b usage.Bill
	b, err := d.Usage.Bill(ctx, analysisID, day)
	return RepriceLine{analysisID + day, len(b.Lines), b.TotalUSD, b.Unpriced, b.More}, awserr.Fault(err, "reprice")
}

package nightly

import (
	"context"
	"errors"

	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/awserr"
	"fastbowlinglab/shared/backfill"
	"fastbowlinglab/shared/effect"
	"fastbowlinglab/shared/fault"
)

// Redo is the backfill's work on tags: another version beside the rows that are
// there. It needs no budget of the backfill's: a model's calls have theirs.
type Redo struct {
	Get    func(ctx context.Context, id string) (analysis.Row, error)
	Tagger Tagger
	Rows   Rows
}

// Do implements backfill.Work. Whatever it does is guarded by the analysis and
// the version, so that doing it again after a lost answer changes nothing.
func (d Redo) Do(ctx context.Context, o backfill.Order) (backfill.Made, error) {
	id, version := o.AnalysisID, o.Version
	row, err := d.Get(ctx, id)
	if errors.Is(err, analysis.ErrNotFound) {
		return backfill.Made{}, fault.Wrap(fault.Permanent, err, "tag")
	}
	if err != nil {
		return backfill.Made{}, backfill.NotSent(err)
	}
	if !row.Kept() {
		return backfill.Made{}, fault.New(fault.Permanent, "tag %s: it is no longer kept", id)
	}
	tags, err := d.Tagger.Tag(ctx, row, version)
	var busy *effect.InProgress
	if errors.As(err, &busy) {
		return backfill.Made{}, backfill.Later(busy.Until, err)
	}
	if fault.NameOf(err) == fault.Transient && err != nil {
		return backfill.Made{}, backfill.NotSent(err) // the call's own guard knows whether it was sent
	}
	if err != nil {
		return backfill.Made{}, err
	}
	r, err := NewRow(row.Day(), id, version, o.Run.ID, tags)
	if err != nil {
		return backfill.Made{}, fault.Wrap(fault.Permanent, err, "tag %s", id)
	}
	if _, err := d.Rows.Write(ctx, o.Run, r); err != nil {
		switch {
		case errors.Is(err, ErrMismatch):
			return backfill.Made{}, fault.Wrap(fault.Permanent, err, "tag %s", id)
		case fault.NameOf(err) == fault.Conceded:
			return backfill.Made{}, err
		}
		return backfill.Made{}, backfill.NotSent(awserr.Fault(err, "tag "+id)) // written again it is the same
	}
	return backfill.Made{Key: r.Day + "/" + r.Item, Hash: r.Hash}, nil
}

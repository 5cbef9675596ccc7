package operator

import (
	"context"
	"time"

	"fastbowlinglab/shared/awserr"
	"fastbowlinglab/shared/erasure"
	"fastbowlinglab/shared/fault"
	"fastbowlinglab/shared/names"
)

// EraseIn has an athlete deleted who cannot ask by the app. The reason says how it
// was asked: what goes does not come back.
type EraseIn struct {
	By
	AthleteID string `json:"athlete_id"`
}

// EraseOut is how far the deletion is. It is the one that the athlete would have
// asked for: asked twice, by either, it is one.
type EraseOut struct {
	State       erasure.State   `json:"state"`
	RequestedAt time.Time       `json:"requested_at"`
	FinishedAt  time.Time       `json:"finished_at,omitzero"`
	Removed     erasure.Removed `json:"removed"`
}

func (d Deps) erase(ctx context.Context, in EraseIn) (EraseOut, error) {
	if in.AthleteID == "" || len(in.AthleteID) > names.MaxIDBytes || in.Reason == "" {
		return EraseOut{}, fault.New(fault.Permanent, "erase: athlete_id, of %d bytes at most, and reason are needed", names.MaxIDBytes)
	}
	e, err := d.Erasures.Ask(ctx, in.AthleteID)
	if err != nil {
		return EraseOut{}, awserr.Fault(err, "erase")
	}
	return EraseOut{e.State, e.RequestedAt, e.FinishedAt, e.Removed}, nil
}

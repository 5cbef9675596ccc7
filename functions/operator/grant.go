package operator

import (
	"context"
	"time"

	"fastbowlinglab/shared/awserr"
	"fastbowlinglab/shared/credit"
	"fastbowlinglab/shared/fault"
	"fastbowlinglab/shared/names"
)

// GrantIn gives an athlete credits. The operator and Key name the grant: asked
// twice, it is entered once.
type GrantIn struct {
	By
	AthleteID string `json:"athlete_id"`
	Credits   int64  `json:"credits"`
	Key       string `json:"key"`
}

// GrantOut is the ledger's entry and the balance that the rows add up to.
type GrantOut struct {
	Entry   string    `json:"entry"`
	Credits int64     `json:"credits"`
	At      time.Time `json:"at"`
	Balance int64     `json:"balance"`
}

// maxGrant bounds a grant: a slip of the finger is not a thousand credits.
const maxGrant = 100

func (d Deps) grant(ctx context.Context, in GrantIn) (GrantOut, error) {
	if in.AthleteID == "" || len(in.AthleteID) > names.MaxIDBytes || in.Key == "" || in.Reason == "" || in.Credits < 1 || in.Credits > maxGrant {
		return GrantOut{}, fault.New(fault.Permanent, "grant: athlete_id, of %d bytes at most, key, reason and 1 to %d credits are needed", names.MaxIDBytes, maxGrant)
	}
	e, err := d.Ledger.Enter(ctx, credit.Grant{AthleteID: in.AthleteID, Credits: in.Credits, Reason: in.Reason, Operator: in.Operator, Key: in.Key})
	if err != nil {
		return GrantOut{}, awserr.Fault(err, "grant")
	}
	l, err := d.Ledger.Read(ctx, in.AthleteID)
	return GrantOut{e.Entry, e.Credits, e.At, l.Balance}, awserr.Fault(err, "grant: it is entered; read the balance")
}

package api

import (
	"context"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"fastbowlinglab/shared/credit"
	"fastbowlinglab/shared/names"
)

func (d Deps) credits(ctx context.Context, r request) (answer, error) {
	l, err := d.Ledger.Read(ctx, r.Athlete)
	if err != nil {
		return answer{}, err
	}
	if l.Entries == nil {
		l.Entries = []credit.Entry{}
	}
	return answer{Status: http.StatusOK, Body: struct {
		Balance int64          `json:"balance"`
		Entries []credit.Entry `json:"entries"`
		More    bool           `json:"more,omitempty"`
	}{l.Balance, l.Entries, l.More}}, nil
}

// Limits of a grant.
const (
	maxGrant       = 10_000
	maxReasonRunes = 500
	maxIDBytes     = 128
)

func (d Deps) grant(ctx context.Context, r request) (answer, error) {
	key, err := r.idempotencyKey()
	if err != nil {
		return answer{}, err
	}
	var in struct {
		AthleteID string `json:"athlete_id"`
		Credits   int64  `json:"credits"`
		Reason    string `json:"reason"`
	}
	if err := decodeBody(r.Body, &in); err != nil {
		return answer{}, err
	}
	switch {
	case in.AthleteID == "" || len(in.AthleteID) > maxIDBytes:
		return answer{}, invalid("athlete_id: 1 to %d bytes", maxIDBytes)
	case in.Credits < 1 || in.Credits > maxGrant:
		return answer{}, invalid("credits: a whole number from 1 to %d", maxGrant)
	case strings.TrimSpace(in.Reason) == "" || utf8.RuneCountInString(in.Reason) > maxReasonRunes:
		return answer{}, invalid("reason: 1 to %d characters; it stays in the ledger", maxReasonRunes)
	}
	e, err := d.Ledger.Enter(ctx, credit.Grant{AthleteID: in.AthleteID, Credits: in.Credits, Reason: in.Reason, Operator: r.Athlete, Key: key})
	if err != nil {
		return answer{}, err
	}
	return answer{Status: http.StatusCreated, Body: struct {
		AthleteID string       `json:"athlete_id"`
		Entry     credit.Entry `json:"entry"`
	}{in.AthleteID, e}}, nil
}

// usage lists model calls with their tokens and what they cost at the prices of
// their day, as known now.
func (d Deps) usage(ctx context.Context, r request) (answer, error) {
	id, day := r.QueryStringParameters["analysis_id"], r.QueryStringParameters["day"]
	if (id == "") == (day == "") {
		return answer{}, invalid("either analysis_id or day (YYYY-MM-DD) is needed")
	}
	if len(id) > names.MaxIdempotency {
		return answer{}, invalid("analysis_id: too long")
	}
	if day != "" {
		if _, err := time.Parse(time.DateOnly, day); err != nil {
			return answer{}, invalid("day: YYYY-MM-DD")
		}
	}
	bill, err := d.Usage.Bill(ctx, id, day)
	if err != nil {
		return answer{}, err
	}
	return answer{Status: http.StatusOK, Body: bill}, nil
}

package api

import (
	"context"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"fastbowlinglab/shared/credit"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/stamp"
	"fastbowlinglab/shared/usage"
)

// creditsOut is the balance and a page of the entries, newest first.
type creditsOut struct {
	Balance int64          `json:"balance"`
	Entries []credit.Entry `json:"entries"`
	Next    string         `json:"next_cursor,omitempty"`
}

// creditsCursor says where a page of entries ended.
type creditsCursor struct {
	At    string `json:"a"`
	Entry string `json:"e"`
}

func (d Deps) credits(ctx context.Context, r request) (answer, error) {
	limit, err := r.limit(maxPage)
	if err != nil {
		return answer{}, err
	}
	var from creditsCursor
	if err := r.cursor(&from); err != nil {
		return answer{}, err
	}
	l, err := d.Ledger.Read(ctx, r.Athlete)
	if err != nil {
		return answer{}, err
	}
	out := creditsOut{Balance: l.Balance, Entries: []credit.Entry{}}
	for _, e := range l.Entries {
		at := creditsCursor{stamp.Format(e.At), e.Entry}
		if from.At != "" && (at.At > from.At || at.At == from.At && at.Entry <= from.Entry) {
			continue
		}
		if len(out.Entries) == limit {
			last := out.Entries[limit-1]
			out.Next = cursorText(creditsCursor{stamp.Format(last.At), last.Entry})
			break
		}
		out.Entries = append(out.Entries, e)
	}
	return answer{Status: http.StatusOK, Body: out, ETag: true}, nil
}

// Limits of a grant.
const (
	maxGrant       = 10_000
	maxReasonRunes = 500
	maxModelBytes  = 2048
)

// grantIn is the body of POST /v1/operator/grants.
type grantIn struct {
	AthleteID string `json:"athlete_id"`
	Credits   int64  `json:"credits"`
	Reason    string `json:"reason"`
}

type grantOut struct {
	AthleteID string       `json:"athlete_id"`
	Entry     credit.Entry `json:"entry"`
}

func (d Deps) grant(ctx context.Context, r request) (answer, error) {
	key, err := r.idempotencyKey()
	if err != nil {
		return answer{}, err
	}
	var in grantIn
	if err := decodeBody(r.Body, &in); err != nil {
		return answer{}, err
	}
	switch {
	case in.AthleteID == "" || len(in.AthleteID) > names.MaxIDBytes:
		return answer{}, invalid("athlete_id: 1 to %d bytes", names.MaxIDBytes)
	case in.Credits < 1 || in.Credits > maxGrant:
		return answer{}, invalid("credits: a whole number from 1 to %d", maxGrant)
	case strings.TrimSpace(in.Reason) == "" || utf8.RuneCountInString(in.Reason) > maxReasonRunes:
		return answer{}, invalid("reason: 1 to %d characters; it stays in the ledger", maxReasonRunes)
	}
	g := credit.Grant{AthleteID: in.AthleteID, Credits: in.Credits, Reason: in.Reason, Operator: r.Athlete, Key: key}
	known, err := d.Ledger.Granted(ctx, g) // a repeat is answered as ever
	if err == nil && !known {
		err = d.notErased(ctx, in.AthleteID)
	}
	if err != nil {
		return answer{}, err
	}
	e, err := d.Ledger.Enter(ctx, g)
	if err != nil {
		return answer{}, err
	}
	return answer{Status: http.StatusCreated, Body: grantOut{in.AthleteID, e}}, nil
}

// usage lists model calls of an analysis or a day, all or those of a task or a model, with
// their tokens and what they cost at the prices of their day, as known now.
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
	q := usage.Query{AnalysisID: id, Day: day, Task: r.QueryStringParameters["task"], Model: r.QueryStringParameters["model"]}
	if len(q.Task) > names.MaxIDBytes || len(q.Model) > maxModelBytes {
		return answer{}, invalid("task, model: too long")
	}
	bill, err := d.Usage.Query(ctx, q)
	if err != nil {
		return answer{}, err
	}
	return answer{Status: http.StatusOK, Body: bill}, nil
}

package demo

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"time"

	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/credit"
	"fastbowlinglab/shared/outbox"
	"fastbowlinglab/shared/retry"
	"fastbowlinglab/shared/usage"
)

// ErrStillOpen says that the analysis has no end yet; it goes on without us.
var ErrStillOpen = errors.New("the analysis has no end yet")

// follow looks at the analysis until it has its end.
func (j *job) follow(ctx context.Context, uploaded time.Duration) (view, error) {
	for {
		v, err := j.look(ctx)
		if err != nil {
			if ctx.Err() != nil {
				err = ErrStillOpen
			}
			return v, err
		}
		j.sum.Status = v.Status
		j.Screen.show(j.rows(ctx, v, uploaded))
		if analysis.Status(v.Status).Ended() {
			return v, nil
		}
		if retry.Sleep(ctx, j.Poll) != nil {
			return v, fmt.Errorf("%w: it is %s", ErrStillOpen, v.Status)
		}
	}
}

// rows is the board: one row a stage.
func (j *job) rows(ctx context.Context, v view, uploaded time.Duration) []Row {
	since := time.Since(j.started) - uploaded
	if j.Cloud == nil {
		return rowsOfStatus(v, uploaded, since)
	}
	t, err := j.Cloud.timeline(ctx, v.AnalysisID, v.Attempt)
	if err != nil { // the board is a comfort; the status decides
		return rowsOfStatus(v, uploaded, since)
	}
	return rowsOfTimeline(v, t, uploaded, time.Now())
}

// collect reads everything that is to be told about an analysis with an end.
// What cannot be read is said and does not hide the rest; a report that cannot
// be fetched is an error.
func (j *job) collect(ctx context.Context, v view, uploaded time.Duration) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
	defer cancel()
	if err := j.ledger(ctx); err != nil {
		j.Screen.note("the ledger cannot be read: %v", err)
	}
	if err := j.usage(ctx); err != nil {
		j.Screen.note("the model calls cannot be read: %v", err)
	}
	if j.Cloud != nil {
		if err := j.times(ctx, v, uploaded); err != nil {
			j.Screen.note("the time by stage cannot be read: %v", err)
		}
		if err := j.notices(ctx); err != nil {
			j.Screen.note("the notices cannot be read: %v", err)
		}
	}
	if analysis.Status(v.Status) == analysis.Ready {
		return j.report(ctx)
	}
	return nil
}

func (j *job) ledger(ctx context.Context) error {
	var l ledger
	if err := j.api.do(ctx, call{method: "GET", path: "/v1/credits", token: j.token}, &l); err != nil {
		return err
	}
	// The API gives the newest first; a story begins at its beginning.
	slices.SortStableFunc(l.Entries, func(a, b credit.Entry) int { return a.At.Compare(b.At) })
	j.sum.Entries, j.sum.Balance = l.Entries, l.Balance
	return nil
}

func (j *job) usage(ctx context.Context) error {
	if j.Operator == nil {
		return nil
	}
	var bill usage.Bill
	path := "/v1/usage?analysis_id=" + url.QueryEscape(j.sum.AnalysisID)
	if err := j.api.do(ctx, call{method: "GET", path: path, token: j.Operator}, &bill); err != nil {
		return err
	}
	j.sum.Bill = bill
	return nil
}

// times puts the upload before the execution's own stages.
func (j *job) times(ctx context.Context, v view, uploaded time.Duration) error {
	t, err := j.Cloud.timeline(ctx, v.AnalysisID, v.Attempt)
	if err != nil {
		return err
	}
	j.sum.Total = t.End.Sub(t.Start)
	if uploaded > 0 {
		t.Stages = append([]Stage{{Name: StageUpload, Took: uploaded, Tries: 1, Done: true}}, t.Stages...)
		j.sum.Total = time.Duration(j.sum.Seconds * float64(time.Second))
	}
	j.sum.Timeline = t
	return nil
}

// noticeWait is how long an owed notice is waited for: it leaves from the
// outbox after the end is there.
const noticeWait = 15 * time.Second

func (j *job) notices(ctx context.Context) error {
	limit := time.Now().Add(noticeWait)
	for {
		ns, err := j.Cloud.notices(ctx, j.sum.AnalysisID)
		if err != nil {
			return err
		}
		j.sum.Notices = ns
		open := false
		for _, n := range ns {
			open = open || n.State == outbox.Owed || n.State == outbox.Claimed
		}
		if !open || time.Now().After(limit) {
			return nil
		}
		if err := retry.Sleep(ctx, 100*time.Millisecond); err != nil {
			return err
		}
	}
}

func (j *job) report(ctx context.Context) error {
	var r reportLinks
	if err := j.api.do(ctx, call{method: "GET", path: j.path("/report"), token: j.token}, &r); err != nil {
		return err
	}
	dir := filepath.Join(j.Dir, "out", j.sum.AnalysisID)
	for _, f := range []struct {
		link link
		name string
		to   *string
	}{{r.PDF, "report.pdf", &j.sum.ReportPDF}, {r.JSON, "report.json", &j.sum.ReportJSON}} {
		path := filepath.Join(dir, f.name)
		if err := j.api.download(ctx, f.link.URL, path); err != nil {
			return err
		}
		*f.to = path
	}
	return nil
}

// withoutURL takes the address out of an HTTP client's error: a presigned one is
// a secret.
func withoutURL(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}

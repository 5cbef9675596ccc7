package analysis

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/s3"

	"fastbowlinglab/shared/awserr"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/retry"
)

// ErrClipsGone says that the clips of an analysis are no longer kept, or not for
// long enough to be analysed again.
var ErrClipsGone = errors.New("clips no longer kept")

// RerunID derives the id of a rerun, as ID does for a submission. A rerun's key
// is never a submission's, since a submission's holds no line break.
func RerunID(athleteID, clientKey, of string) string {
	return ID(athleteID, "rerun\n"+of+"\n"+clientKey)
}

// Rerun reserves a credit for a second analysis of the clips of one that has
// ended, and queues it: the same objects in the same versions, without an
// upload. Asking again returns the row that is there. Errors: ErrMoved while the
// first is open, ErrClipsGone, ErrNoCredit.
func (s Store) Rerun(ctx context.Context, objects Objects, bucket, clientKey string, of Row) (r Row, created bool, err error) {
	now := s.now().UTC().Truncate(time.Millisecond)
	r = Row{
		AnalysisID: RerunID(of.AthleteID, clientKey, of.AnalysisID), AthleteID: of.AthleteID, RequestHash: "rerun#" + of.AnalysisID,
		RerunOf: of.AnalysisID, Status: Queued, Attempt: 1, Clips: of.Clips, AthleteName: of.AthleteName, Email: of.Email,
		TimeZone: of.TimeZone, Notes: of.Notes, Consent: of.Consent, ConsentBy: of.ConsentBy, Push: of.Push,
		CreatedAt: now, QueuedAt: now, Open: OpenMark, Deadline: now.Add(names.QueuedDeadline),
	}
	// A repeat is answered by the row, whatever became of the clips since.
	if old, err := s.Get(ctx, r.AnalysisID); err == nil {
		return old, false, nil
	} else if !errors.Is(err, ErrNotFound) {
		return Row{}, false, fmt.Errorf("rerun %s: %w", of.AnalysisID, err)
	}
	switch {
	case !of.Status.Ended():
		return Row{}, false, fmt.Errorf("rerun %s: %w: %s", of.AnalysisID, ErrMoved, of.Status)
	case of.QueuedAt.IsZero():
		return Row{}, false, fmt.Errorf("rerun %s: never uploaded: %w", of.AnalysisID, ErrClipsGone)
	}
	for i, c := range of.Clips {
		if err := kept(ctx, objects, bucket, c, now.Add(names.QueuedDeadline+names.AnalysingDeadline)); err != nil {
			return Row{}, false, fmt.Errorf("rerun %s: clip %d: %w", of.AnalysisID, i, err)
		}
	}
	return s.reserve(ctx, r)
}

// kept finds out whether a clip's version is there, and will be until then.
func kept(ctx context.Context, objects Objects, bucket string, c Clip, until time.Time) error {
	first := "bytes=0-0"
	in := &s3.GetObjectInput{Bucket: &bucket, Key: &c.Key, VersionId: &c.VersionID, Range: &first}
	if c.SizeBytes == 0 {
		in.Range = nil
	}
	var uploaded time.Time
	err := retry.Policy{}.Do(ctx, func() error {
		out, err := objects.GetObject(ctx, in)
		if err != nil {
			return err
		}
		if out.LastModified != nil {
			uploaded = *out.LastModified
		}
		_, err = io.Copy(io.Discard, io.LimitReader(out.Body, 1))
		return errors.Join(err, out.Body.Close())
	})
	switch {
	case awserr.KindOf(err) == awserr.NotFound:
		return ErrClipsGone
	case err != nil:
		return fmt.Errorf("look at %s: %w", c.Key, err)
	case !uploaded.IsZero() && until.After(uploaded.Add(names.ClipLifecycle)):
		return fmt.Errorf("%w: kept until %s", ErrClipsGone, uploaded.Add(names.ClipLifecycle).Format(time.DateOnly))
	}
	return nil
}

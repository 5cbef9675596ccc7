package erase

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/aws/aws-sdk-go-v2/service/s3"

	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/awserr"
	"fastbowlinglab/shared/erasure"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/reason"
	"fastbowlinglab/shared/retry"
)

// Storage is what Objects needs of S3.
type Storage interface {
	ListObjectVersions(context.Context, *s3.ListObjectVersionsInput, ...func(*s3.Options)) (*s3.ListObjectVersionsOutput, error)
	DeleteObject(context.Context, *s3.DeleteObjectInput, ...func(*s3.Options)) (*s3.DeleteObjectOutput, error)
}

// Objects is the bucket.
type Objects struct {
	S3     Storage
	Bucket string
	Retry  retry.Policy
}

// end ends an analysis that is open, with its refund, after taking out of its
// row what a notice would need: somebody who asked to be forgotten gets no mail,
// nor one that a delivery or a revision still owes. It returns the row as it ended.
func (d Deps) end(ctx context.Context, id string) (analysis.Row, error) {
	row, err := d.Life.Get(ctx, id)
	if errors.Is(err, analysis.ErrNotFound) { // the index lags behind
		return row, nil
	}
	if err != nil {
		return row, err
	}
	if err := d.Life.Scrub(ctx, id); err != nil || row.Status.Ended() {
		return row, err
	}
	by := names.FnErase + "#" + id
	res, err := d.Ends.Cancel(ctx, id, by)
	if err == nil && !res.Status.Ended() { // a worker has claimed it
		res, err = d.Ends.Fail(ctx, id, res.Attempt, "", by, reason.Stopped)
	}
	if err != nil {
		return row, err
	}
	if !res.Status.Ended() { // it was restarted in between: the next pass ends it
		return row, fmt.Errorf("end analysis %s: it is %s at attempt %d", id, res.Status, res.Attempt)
	}
	if !row.QueuedAt.IsZero() {
		if err := analysis.Stop(ctx, d.Steps, d.MachineARN, row.Holder(), "Erased"); err != nil {
			slog.WarnContext(ctx, "execution not stopped", "analysis_id", id, "detail", err.Error()) // its next step finds the end
		}
	}
	return d.Life.Get(ctx, id)
}

// purge removes what belongs to an analysis that has ended: clips, keypoints,
// pictures and reports in all their versions, then its rows, its own last.
func (d Deps) purge(ctx context.Context, h erasure.Held, pseudonym string, settled bool) (r erasure.Removed, err error) {
	for _, prefix := range []string{names.PrefixClips, names.PrefixWork, names.PrefixReports} {
		n, err := d.Objects.remove(ctx, prefix+h.ID+"/")
		r.Objects += n
		if err != nil {
			return r, err
		}
	}
	if r.Rows, err = d.Rows.remove(ctx, h); err != nil {
		return r, err
	}
	if settled {
		n, err := d.Rows.calls(ctx, h.ID, pseudonym)
		r.Rows += n
		if err != nil {
			return r, err
		}
	}
	gone, err := d.Rows.drop(ctx, d.Rows.Analyses, analysis.Key(h.ID))
	if gone {
		r.Analyses = 1
	}
	return r, err
}

// remove deletes every version of every object under a prefix.
func (o Objects) remove(ctx context.Context, prefix string) (n int64, err error) {
	in := &s3.ListObjectVersionsInput{Bucket: &o.Bucket, Prefix: &prefix}
	for {
		if err := enough(ctx); err != nil {
			return n, err
		}
		var page *s3.ListObjectVersionsOutput
		err := o.Retry.Do(ctx, func() (err error) {
			page, err = o.S3.ListObjectVersions(ctx, in)
			return err
		})
		if err != nil {
			return n, fmt.Errorf("list versions under %s: %w", prefix, err)
		}
		type version struct{ key, id *string }
		var all []version
		for _, v := range page.Versions {
			all = append(all, version{v.Key, v.VersionId})
		}
		for _, v := range page.DeleteMarkers {
			all = append(all, version{v.Key, v.VersionId})
		}
		for _, v := range all {
			if err := enough(ctx); err != nil {
				return n, err
			}
			err := o.Retry.Do(ctx, func() error {
				_, err := o.S3.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: &o.Bucket, Key: v.key, VersionId: v.id})
				return err
			})
			if err != nil && awserr.KindOf(err) != awserr.NotFound {
				return n, fmt.Errorf("delete a version under %s: %w", prefix, err)
			}
			n++
		}
		if page.IsTruncated == nil || !*page.IsTruncated {
			return n, nil
		}
		in.KeyMarker, in.VersionIdMarker = page.NextKeyMarker, page.NextVersionIdMarker
	}
}

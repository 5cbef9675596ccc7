package erase

import (
	"context"
	"fmt"

	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/names"
)

// sweep enforces the retention of analyses that ended names.ClipLifecycle ago:
// clips and keypoints, which are biometric data, in all versions, and the name,
// address and notes in the row. The bucket's lifecycle rules do the same for
// objects; this does not depend on them. The report stays until the athlete
// deletes it.
func (d Deps) sweep(ctx context.Context) (n int, err error) {
	err = d.Life.EndedBefore(ctx, d.Scan, d.now().Add(-names.ClipLifecycle), func(row analysis.Row) error {
		if err := enough(ctx); err != nil {
			return err
		}
		for _, prefix := range []string{names.PrefixClips, names.PrefixWork} {
			if _, err := d.Objects.remove(ctx, prefix+row.AnalysisID+"/"); err != nil {
				return err
			}
		}
		if err := d.Life.Scrub(ctx, row.AnalysisID); err != nil {
			return err
		}
		n++
		return nil
	})
	if err != nil {
		err = fmt.Errorf("retention: %w", err)
	}
	return n, err
}

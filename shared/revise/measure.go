package revise

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"

	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/awserr"
	"fastbowlinglab/shared/fault"
	"fastbowlinglab/shared/motion"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/object"
	"fastbowlinglab/shared/posejob"
)

// result gives the result that a revision reports, and where it is: the newest
// one, or one measured again, which is stored first. What an earlier call stored
// stands: the texts may rest on it already.
func (d Redo) result(ctx context.Context, row analysis.Row, name string) (string, motion.Result, error) {
	newest := row.Newest().ResultKey
	if !d.Measure {
		r, err := d.Files.result(ctx, row.AnalysisID, newest)
		return newest, r, err
	}
	key := names.RevisedResultKey(row.AnalysisID, row.Attempt, name)
	r, err := d.Files.result(ctx, row.AnalysisID, key)
	if err == nil || !errors.Is(err, object.ErrNotFound) {
		return key, r, err
	}
	was, err := d.Files.result(ctx, row.AnalysisID, newest)
	if err != nil {
		return "", was, err
	}
	if r, err = d.again(ctx, row, was); err != nil {
		return "", r, err
	}
	b, err := json.Marshal(r)
	if err != nil {
		return "", r, fault.Wrap(fault.Permanent, err, "encode the result of %s", row.AnalysisID)
	}
	old, err := json.Marshal(was)
	if err != nil {
		return "", r, fault.Wrap(fault.Permanent, err, "encode the result of %s", row.AnalysisID)
	}
	if bytes.Equal(b, old) {
		return newest, was, nil
	}
	return key, r, d.Files.put(ctx, key, b)
}

// again measures every clip whose keypoints were stored to its end; the others
// stay refused as they were. Engine and model are those that found the keypoints.
func (d Redo) again(ctx context.Context, row analysis.Row, was motion.Result) (motion.Result, error) {
	job, err := d.Jobs.Get(ctx, row.AnalysisID)
	if errors.Is(err, posejob.ErrNoJob) {
		return motion.Result{}, fault.Wrap(fault.Permanent, err, "measure %s again", row.AnalysisID)
	}
	if err != nil {
		return motion.Result{}, awserr.Fault(err, "measure "+row.AnalysisID+" again")
	}
	out := motion.Result{Version: motion.ResultVersion, Engine: was.Engine, Model: was.Model}
	for i, before := range was.Clips {
		track, ok, err := posejob.Keypoints(ctx, d.Files.Objects, d.Files.Bucket, d.Files.Retry, job, before.Index)
		if err != nil {
			return motion.Result{}, err
		}
		if !ok {
			if before.Refused == "" {
				return motion.Result{}, fault.New(fault.Permanent, "measure %s again: clip %d was measured, and its keypoints are not complete", row.AnalysisID, i)
			}
			out.Clips = append(out.Clips, before)
			continue
		}
		out.Clips = append(out.Clips, pictures(motion.Analyse(before.Index, track), before))
	}
	if !out.Usable() {
		return motion.Result{}, fault.New(fault.Permanent, "measure %s again: no clip can be measured any more; what was delivered stays", row.AnalysisID)
	}
	return out, nil
}

// pictures gives a clip the key frames that were taken of it: those of phases
// that are still the same frame. The footage is not read again.
func pictures(now, before motion.Clip) motion.Clip {
	for i := range now.Phases {
		p := &now.Phases[i]
		for _, q := range before.Phases {
			if q.Name != p.Name || q.Frame != p.Frame {
				continue
			}
			p.FrameKey = q.FrameKey
			if said := motion.NoPicture(p.Name); slices.Contains(before.Warnings, said) {
				now.Warnings = append(now.Warnings, said)
			}
		}
	}
	return now
}

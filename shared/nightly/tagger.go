package nightly

import (
	"bytes"
	"context"
	"strings"

	"fastbowlinglab/shared/aitask"
	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/awserr"
	"fastbowlinglab/shared/fault"
	"fastbowlinglab/shared/motion"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/object"
	"fastbowlinglab/shared/retry"
)

// Tasks makes the call of tags; *aitask.Runner does.
type Tasks interface {
	Tag(ctx context.Context, run names.Run, version string, in aitask.Input) (aitask.Tagged, error)
}

// TaskTagger tags an analysis by an AI task on its stored result. The call is
// guarded: whoever asks again gets the recorded answer.
type TaskTagger struct {
	Tasks   Tasks
	Objects object.Getter
	Bucket  string
	Retry   retry.Policy
}

// Tag implements Tagger.
func (t TaskTagger) Tag(ctx context.Context, row analysis.Row, version string) (aitask.Tagged, error) {
	if row.Status != analysis.Ready || row.ResultKey == "" {
		return aitask.Tagged{}, fault.New(fault.Permanent, "tag %s: it is %s, without a result", row.AnalysisID, row.Status)
	}
	r, err := t.result(ctx, row)
	if err != nil {
		return aitask.Tagged{}, err
	}
	return t.Tasks.Tag(ctx, names.Run{AnalysisID: row.AnalysisID, Attempt: row.Attempt}, version, aitask.Input{Result: r})
}

func (t TaskTagger) result(ctx context.Context, row analysis.Row) (motion.Result, error) {
	if !strings.HasPrefix(row.ResultKey, names.PrefixWork+row.AnalysisID+"/") {
		return motion.Result{}, fault.New(fault.Permanent, "tag %s: its result is at %.80q", row.AnalysisID, row.ResultKey)
	}
	b, err := object.Read(ctx, t.Objects, t.Retry, t.Bucket, row.ResultKey, motion.MaxResultBytes)
	if err != nil {
		return motion.Result{}, awserr.Fault(err, "read the result of "+row.AnalysisID)
	}
	r, err := motion.ReadResult(bytes.NewReader(b))
	return r, fault.Wrap(fault.Permanent, err, "read the result of %s", row.AnalysisID)
}

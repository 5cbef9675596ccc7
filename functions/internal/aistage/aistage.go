// Package aistage is what the two text stages of an analysis, findings and
// coaching, have in common: concede when the analysis has its end, read what the
// pose pass left, run the task.
package aistage

import (
	"bytes"
	"context"
	"errors"
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

// Tasks runs AI tasks; *aitask.Runner does.
type Tasks interface {
	Run(context.Context, names.Run, aitask.Task, aitask.Input) (names.TextOut, error)
}

// Deps is what a text stage works with.
type Deps struct {
	DB       analysis.Getter
	Analyses string // table
	Objects  object.Getter
	Bucket   string
	Tasks    Tasks
	Retry    retry.Policy
}

// Open reads the analysis and concedes when it has its end or another attempt.
func (d Deps) Open(ctx context.Context, run names.Run) (analysis.Row, error) {
	if run.AnalysisID == "" || run.Attempt < 1 {
		return analysis.Row{}, fault.New(fault.Permanent, "analysis_id and attempt are needed")
	}
	var row analysis.Row
	err := d.Retry.Do(ctx, func() (err error) {
		row, err = analysis.Get(ctx, d.DB, d.Analyses, run.AnalysisID)
		return err
	})
	switch {
	case errors.Is(err, analysis.ErrNotFound):
		return row, fault.Wrap(fault.Permanent, err, "read the analysis")
	case err != nil:
		return row, awserr.Fault(err, "read the analysis")
	case row.Status.Ended():
		return row, fault.New(fault.Conceded, "analysis %s has ended: %s", run.AnalysisID, row.Status)
	case row.Attempt != run.Attempt:
		return row, fault.New(fault.Conceded, "analysis %s is at attempt %d, not %d", run.AnalysisID, row.Attempt, run.Attempt)
	}
	return row, nil
}

// Result reads what the pose pass left at key.
func (d Deps) Result(ctx context.Context, run names.Run, key string) (motion.Result, error) {
	b, err := d.read(ctx, run, key, motion.MaxResultBytes)
	if err != nil {
		return motion.Result{}, err
	}
	r, err := motion.ReadResult(bytes.NewReader(b))
	if err != nil {
		return motion.Result{}, fault.Wrap(fault.Permanent, err, "object %s", key)
	}
	if !r.Usable() {
		return motion.Result{}, fault.New(fault.Permanent, "object %s: no clip was measured", key)
	}
	return r, nil
}

// Findings reads the findings at key.
func (d Deps) Findings(ctx context.Context, run names.Run, key string) (aitask.FindingsText, error) {
	b, err := d.read(ctx, run, key, aitask.MaxDocument)
	if err != nil {
		return aitask.FindingsText{}, err
	}
	doc, err := aitask.ReadDocument(bytes.NewReader(b), aitask.Findings)
	if err != nil {
		return aitask.FindingsText{}, fault.Wrap(fault.Permanent, err, "object %s", key)
	}
	return *doc.Findings, nil
}

// read gets an object of the analysis, at most limit bytes.
func (d Deps) read(ctx context.Context, run names.Run, key string, limit int64) ([]byte, error) {
	if !strings.HasPrefix(key, names.PrefixWork+run.AnalysisID+"/") {
		return nil, fault.New(fault.Permanent, "key %q is not of analysis %s", key, run.AnalysisID)
	}
	b, err := object.Read(ctx, d.Objects, d.Retry, d.Bucket, key, limit)
	return b, awserr.Fault(err, "read "+key)
}

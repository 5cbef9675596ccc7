// Package aistage is what the two text stages of an analysis, findings and
// coaching, have in common: concede when the analysis has its end, read what the
// pose pass left, run the task.
package aistage

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/s3"

	"fastbowlinglab/shared/aitask"
	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/awserr"
	"fastbowlinglab/shared/fault"
	"fastbowlinglab/shared/motion"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/retry"
)

// Objects is what a text stage needs of S3.
type Objects interface {
	GetObject(context.Context, *s3.GetObjectInput, ...func(*s3.Options)) (*s3.GetObjectOutput, error)
}

// Tasks runs AI tasks; *aitask.Runner does.
type Tasks interface {
	Run(context.Context, names.Run, aitask.Task, aitask.Input) (names.TextOut, error)
}

// Deps is what a text stage works with.
type Deps struct {
	DB       analysis.Getter
	Analyses string // table
	Objects  Objects
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
		return row, storeFault(err, "read the analysis")
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
	var b []byte
	err := d.Retry.Do(ctx, func() error {
		out, err := d.Objects.GetObject(ctx, &s3.GetObjectInput{Bucket: &d.Bucket, Key: &key})
		if err != nil {
			return err
		}
		defer out.Body.Close()
		b, err = io.ReadAll(io.LimitReader(out.Body, limit+1))
		return err
	})
	if err != nil {
		return nil, storeFault(err, fmt.Sprintf("read %s", key))
	}
	if int64(len(b)) > limit {
		return nil, fault.New(fault.Permanent, "object %s has more than %d bytes", key, limit)
	}
	return b, nil
}

// storeFault names an error of a store: what may go away by itself is Transient.
func storeFault(err error, doing string) error {
	if awserr.KindOf(err).Retryable() {
		return fault.Wrap(fault.Transient, err, "%s", doing)
	}
	return fault.Wrap(fault.Permanent, err, "%s", doing)
}

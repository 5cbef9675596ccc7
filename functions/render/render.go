// Package render makes the report of a finished pose pass: it loads the result,
// the two texts and the key frames, and stores report.pdf and report.json. The
// same inputs give the same bytes under the same keys, so that doing it twice
// changes nothing.
package render

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/aws/aws-lambda-go/lambda"

	"fastbowlinglab/shared/aitask"
	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/awserr"
	"fastbowlinglab/shared/fault"
	"fastbowlinglab/shared/handler"
	"fastbowlinglab/shared/motion"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/object"
	"fastbowlinglab/shared/report"
	"fastbowlinglab/shared/retry"
)

// Reporter makes the two files of a report; report.Reporter is one.
type Reporter interface {
	Build(context.Context, report.Input) (pdf, json []byte, err error)
}

// Deps is what the function works with.
type Deps struct {
	DB       analysis.Getter
	Table    string // of analyses
	Objects  Objects
	Bucket   string
	Reporter Reporter
	Retry    retry.Policy
}

// New makes the function.
func New(d Deps) lambda.Handler { return handler.New(names.FnRender, d.run) }

func (d Deps) run(ctx context.Context, in names.RenderIn) (names.RenderOut, error) {
	if err := check(in); err != nil {
		return names.RenderOut{}, err
	}
	if in.Revision != "" {
		return d.revise(ctx, in)
	}
	out := names.RenderOut{
		PDFKey:  names.ReportPDFKey(in.AnalysisID, in.Attempt),
		JSONKey: names.ReportJSONKey(in.AnalysisID, in.Attempt),
	}
	row, err := d.row(ctx, in.AnalysisID)
	if err != nil {
		return names.RenderOut{}, err
	}
	if row.Status == analysis.Ready && row.Attempt == in.Attempt && row.ReportPDF == out.PDFKey {
		return out, nil // delivered already: this is a repeat of what led to it
	}
	if row.Status != analysis.Analysing || row.Attempt != in.Attempt {
		return names.RenderOut{}, fault.New(fault.Conceded, "render: the analysis is %s at attempt %d", row.Status, row.Attempt)
	}
	return out, d.write(ctx, in, row, out)
}

// write builds the report and stores both its files.
func (d Deps) write(ctx context.Context, in names.RenderIn, row analysis.Row, out names.RenderOut) error {
	input, err := d.load(ctx, in, row)
	if err != nil {
		return err
	}
	pdf, js, err := d.Reporter.Build(ctx, input)
	if err != nil {
		return awserr.Fault(err, "render")
	}
	if err := d.put(ctx, out.JSONKey, "application/json", js); err != nil {
		return err
	}
	if err := d.put(ctx, out.PDFKey, "application/pdf", pdf); err != nil {
		return err
	}
	slog.InfoContext(ctx, "report stored", "analysis_id", in.AnalysisID, "attempt", in.Attempt, "revision", in.Number,
		"pdf_bytes", len(pdf), "json_bytes", len(js))
	return nil
}

// check refuses a payload that is incomplete or names another analysis's files.
func check(in names.RenderIn) error {
	if in.AnalysisID == "" || in.Attempt < 1 {
		return fault.New(fault.Permanent, "render: analysis_id and attempt are needed")
	}
	if (in.Revision == "") != (in.Number == 0) || in.Number < 0 || in.Number > names.MaxRevisions || !plain(in.Revision) {
		return fault.New(fault.Permanent, "render: revision %.80q, number %d: a revision has a name of a-z, 0-9, . and -, and a number from 1 to %d",
			in.Revision, in.Number, names.MaxRevisions)
	}
	for name, key := range map[string]string{"result_key": in.ResultKey, "findings_key": in.FindingsKey, "coaching_key": in.CoachingKey} {
		if !own(in.AnalysisID, key) {
			return fault.New(fault.Permanent, "render: %s %q is not a file of analysis %s", name, key, in.AnalysisID)
		}
	}
	return nil
}

func (d Deps) row(ctx context.Context, id string) (analysis.Row, error) {
	var row analysis.Row
	err := d.Retry.Do(ctx, func() (err error) {
		row, err = analysis.Get(ctx, d.DB, d.Table, id)
		return err
	})
	return row, awserr.Fault(err, "render")
}

// load reads everything that the report is made from but the pictures.
func (d Deps) load(ctx context.Context, in names.RenderIn, row analysis.Row) (report.Input, error) {
	out := report.Input{
		AnalysisID: in.AnalysisID, Attempt: in.Attempt, Athlete: row.AthleteName, TimeZone: row.TimeZone,
		Submitted: row.CreatedAt, Frame: d.frames(in), Revision: in.Number, Changed: in.Changed,
	}
	for _, c := range row.Clips {
		out.ClipNames = append(out.ClipNames, c.Name)
	}
	b, err := d.get(ctx, in.ResultKey, motion.MaxResultBytes)
	if err != nil {
		return report.Input{}, err
	}
	if out.Result, err = motion.ReadResult(bytes.NewReader(b)); err != nil {
		return report.Input{}, fault.Wrap(fault.Permanent, err, "render %s", in.ResultKey)
	}
	about := aitask.About(out.Result)
	doc, err := d.text(ctx, in.FindingsKey, aitask.Findings, about)
	if err != nil {
		return report.Input{}, err
	}
	out.Findings = report.Findings{Author: doc.Author, FindingsText: *doc.Findings}
	if doc, err = d.text(ctx, in.CoachingKey, aitask.Coaching, about); err != nil {
		return report.Input{}, err
	}
	out.Coaching = report.Coaching{Author: doc.Author, CoachingText: *doc.Coaching}
	return out, nil
}

// text reads words, which must be about the numbers that they are printed beside.
func (d Deps) text(ctx context.Context, key string, t aitask.Task, about string) (aitask.Document, error) {
	b, err := d.get(ctx, key, aitask.MaxDocument)
	if err != nil {
		return aitask.Document{}, err
	}
	doc, err := aitask.ReadDocument(bytes.NewReader(b), t)
	if err == nil && !aitask.Suits(doc.About, about) {
		err = fmt.Errorf("the words are about a result %s, the numbers are %s", doc.About, about)
	}
	return doc, fault.Wrap(fault.Permanent, err, "render %s", key)
}

// frames loads key frames. One that is missing or too large leaves a note in
// the report and a line in the log; a store that does not answer is an error.
func (d Deps) frames(in names.RenderIn) func(context.Context, string) ([]byte, error) {
	return func(ctx context.Context, key string) ([]byte, error) {
		if !own(in.AnalysisID, key) {
			slog.WarnContext(ctx, "frame key of another analysis", "analysis_id", in.AnalysisID, "attempt", in.Attempt)
			return nil, report.ErrNoFrame
		}
		b, err := d.get(ctx, key, report.MaxFrameBytes)
		if errors.Is(err, object.ErrNotFound) || errors.Is(err, object.ErrTooLarge) {
			slog.WarnContext(ctx, "no picture", "analysis_id", in.AnalysisID, "attempt", in.Attempt, "key", key, "detail", err.Error())
			return nil, report.ErrNoFrame
		}
		return b, err
	}
}

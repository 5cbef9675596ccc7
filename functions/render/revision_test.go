package render

import (
	"bytes"
	"maps"
	"testing"
	"time"

	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/fault"
	"fastbowlinglab/shared/names"
)

// delivered is a setting whose report was delivered, with a revision to be made.
func delivered(t *testing.T) *setting {
	s := newSetting(t)
	s.invoke(t)
	s.row.Status, s.row.ReportPDF, s.row.ReportJSON = analysis.Ready, names.ReportPDFKey(id, 2), names.ReportJSONKey(id, 2)
	s.in.Revision, s.in.Number, s.in.Changed = "report-v2", 1, "New words."
	return s
}

func TestARevisionStandsBesideTheDeliveredReport(t *testing.T) {
	s := delivered(t)
	before := maps.Clone(s.bucket.data)
	out, e := s.invoke(t)
	if e != "" || out.PDFKey != names.RevisionPDFKey(id, 2, 1, "report-v2") || out.JSONKey != names.RevisionJSONKey(id, 2, 1, "report-v2") {
		t.Fatalf("%+v %s", out, e)
	}
	if s.echo.in.Revision != 1 || s.echo.in.Changed != "New words." {
		t.Errorf("input %+v", s.echo.in)
	}
	for k, v := range before {
		if !bytes.Equal(v, s.bucket.data[k]) {
			t.Errorf("%s changed", k)
		}
	}
	if len(s.bucket.data) != len(before)+2 {
		t.Errorf("%d objects, were %d", len(s.bucket.data), len(before))
	}
}

func TestAPublishedRevisionIsNotWrittenAgain(t *testing.T) {
	s := delivered(t)
	s.row.Revisions = []analysis.Revision{{Number: 1, Name: "report-v2", ReportPDF: "p", ReportJSON: "j"}}
	puts := s.bucket.puts
	s.in.Number = 2
	if out, e := s.invoke(t); e != "" || out.PDFKey != "p" || s.bucket.puts != puts {
		t.Errorf("%+v %s, %d writes", out, e, s.bucket.puts-puts)
	}
}

func TestARevisionNeedsADeliveredReport(t *testing.T) {
	for name, spoil := range map[string]func(*setting){
		"not delivered":   func(s *setting) { s.row.Status = analysis.Analysing },
		"scrubbed":        func(s *setting) { s.row.SweptAt = time.Now() },
		"another attempt": func(s *setting) { s.row.Attempt = 3 },
		"no number":       func(s *setting) { s.in.Number = 0 },
		"no name":         func(s *setting) { s.in.Revision = "" },
		"too many":        func(s *setting) { s.in.Number = names.MaxRevisions + 1 },
		"a path":          func(s *setting) { s.in.Revision = "../../x" },
		"a folder":        func(s *setting) { s.in.Revision = "a/b" },
	} {
		t.Run(name, func(t *testing.T) {
			s := delivered(t)
			puts := s.bucket.puts
			spoil(s)
			if _, e := s.invoke(t); e != string(fault.Permanent) || s.bucket.puts != puts {
				t.Errorf("error %q, %d writes", e, s.bucket.puts-puts)
			}
		})
	}
}

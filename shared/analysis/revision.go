package analysis

import "time"

// Revision is a report that was made again after the delivery. It stands beside
// the delivered one, which stays as it was.
type Revision struct {
	Number     int       `dynamodbav:"number"`  // from 1; the delivered report is 0
	Name       string    `dynamodbav:"name"`    // names.RevisionName
	Changed    string    `dynamodbav:"changed"` // for the reader
	ReportPDF  string    `dynamodbav:"report_pdf"`
	ReportJSON string    `dynamodbav:"report_json"`
	ResultKey  string    `dynamodbav:"result_key"`
	At         time.Time `dynamodbav:"at"`
	By         string    `dynamodbav:"by_run"`
}

// Newest is the report that an athlete is shown: the last revision, or what was
// delivered, as number 0.
func (r Row) Newest() Revision {
	if n := len(r.Revisions); n > 0 {
		return r.Revisions[n-1]
	}
	return r.Delivered()
}

// Delivered is the report that was delivered, in the form of a revision.
func (r Row) Delivered() Revision {
	return Revision{ReportPDF: r.ReportPDF, ReportJSON: r.ReportJSON, ResultKey: r.ResultKey, At: r.EndedAt, By: r.EndedBy}
}

// Revised finds a revision by its name.
func (r Row) Revised(name string) (Revision, bool) {
	for _, v := range r.Revisions {
		if v.Name == name {
			return v, true
		}
	}
	return Revision{}, false
}

// Kept reports whether anything new may be made of the analysis: not once its
// retention is over, or its athlete has asked to be forgotten.
func (r Row) Kept() bool { return r.SweptAt.IsZero() }

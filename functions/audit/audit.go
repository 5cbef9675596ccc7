// Package audit reads every analysis, ledger, notice and paid call, and reports
// what breaks a promise (I1 to I5 of the design): damage that no request of the
// system can do, but a restore, a script or a defect can. It runs once a day and
// whenever an operator starts it, changes nothing, and counts what it finds; the
// alarm is on that count.
//
// The tables are scanned, one page in memory at a time, while the system goes on.
// A row that looks wrong is read again before it is reported, since it may have
// been between two reads of ours.
package audit

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	ddb "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"fastbowlinglab/shared/awserr"
	"fastbowlinglab/shared/handler"
	"fastbowlinglab/shared/metric"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/paging"
	"fastbowlinglab/shared/retry"
	"fastbowlinglab/shared/stamp"
)

// DB is what the audit needs of DynamoDB: it only reads.
type DB interface {
	GetItem(context.Context, *dynamodb.GetItemInput, ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error)
	Query(context.Context, *dynamodb.QueryInput, ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error)
	Scan(context.Context, *dynamodb.ScanInput, ...func(*dynamodb.Options)) (*dynamodb.ScanOutput, error)
}

// Objects is what it needs of S3.
type Objects interface {
	PutObject(context.Context, *s3.PutObjectInput, ...func(*s3.Options)) (*s3.PutObjectOutput, error)
}

// Deps is what the function works with.
type Deps struct {
	DB       DB
	Objects  Objects
	Bucket   string
	Analyses string // tables
	Credits  string
	Notices  string
	Effects  string
	Usage    string
	Prices   string
	Retry    retry.Policy
	Now      func() time.Time
}

// Limits of one audit.
const (
	pageSize    = 200
	maxFindings = 1000 // listed; the counts are of all
	// reserve is the time kept for the report.
	reserve = 20 * time.Second
	// noDeadline bounds an audit whose caller sets none.
	noDeadline = 10 * time.Minute
)

// Finding is one promise that does not hold.
type Finding struct {
	Invariant string `json:"invariant"`
	Subject   string `json:"subject"` // an analysis, an athlete or an effect, by its id
	What      string `json:"what"`
}

// Report is what an audit found, as it is stored. Partial says that time ran out:
// what was not read is not known to be sound.
type Report struct {
	Started    time.Time      `json:"started"`
	Ended      time.Time      `json:"ended"`
	Partial    bool           `json:"partial"`
	Analyses   int            `json:"analyses"` // rows read
	Athletes   int            `json:"athletes"`
	Notices    int            `json:"notices"`
	Calls      int            `json:"calls"`      // effects of paid calls
	Unknown    int            `json:"unknown"`    // notices and calls whose outcome is unknown: counted, no damage
	Violations map[string]int `json:"violations"` // by invariant
	Total      int            `json:"total"`
	Findings   []Finding      `json:"findings"`
}

// Out is the function's answer.
type Out struct {
	Key        string         `json:"key"` // of the report
	Total      int            `json:"total"`
	Violations map[string]int `json:"violations"`
	Partial    bool           `json:"partial"`
}

// New makes the function. It takes any payload: the schedule's says nothing.
func New(d Deps) lambda.Handler {
	return handler.New(names.FnAudit, func(ctx context.Context, _ struct{}) (Out, error) { return d.run(ctx) })
}

func (d Deps) run(ctx context.Context) (Out, error) {
	ctx, cancel := context.WithTimeout(ctx, noDeadline)
	defer cancel()
	a := &audit{Deps: d, rep: Report{Started: d.now(), Violations: map[string]int{}, Findings: []Finding{}}}
	if end, ok := ctx.Deadline(); ok {
		a.until = end.Add(-reserve)
	}
	for _, part := range []struct {
		table string
		check func(context.Context, map[string]ddb.AttributeValue) error
	}{
		{d.Analyses, a.analysis}, {d.Credits, a.credits}, {d.Notices, a.notice}, {d.Effects, a.effect},
	} {
		if err := a.scan(ctx, part.table, part.check); err != nil {
			return Out{}, awserr.Fault(fmt.Errorf("audit %s: %w", part.table, err), "audit")
		}
	}
	if err := a.prices(ctx); err != nil {
		return Out{}, awserr.Fault(fmt.Errorf("audit prices: %w", err), "audit")
	}
	a.rep.Ended = d.now()
	key, err := a.store(ctx)
	if err != nil {
		return Out{}, awserr.Fault(err, "audit")
	}
	metric.Count(ctx, metric.AuditViolations, a.rep.Total, "report", key, "violations", a.rep.Violations, "unknown", a.rep.Unknown, "partial", a.rep.Partial)
	return Out{Key: key, Total: a.rep.Total, Violations: a.rep.Violations, Partial: a.rep.Partial}, nil
}

// audit is one audit under way.
type audit struct {
	Deps
	rep   Report
	until time.Time // zero: no limit
}

// found notes a finding.
func (a *audit) found(invariant, subject, format string, args ...any) {
	a.rep.Total++
	a.rep.Violations[invariant]++
	if len(a.rep.Findings) < maxFindings {
		a.rep.Findings = append(a.rep.Findings, Finding{invariant, subject, fmt.Sprintf(format, args...)})
	}
}

// scan checks the items of a table, as long as there is time.
func (a *audit) scan(ctx context.Context, table string, check func(context.Context, map[string]ddb.AttributeValue) error) error {
	limit := int32(pageSize)
	for item, err := range paging.Scan(ctx, a.DB, a.Retry, &dynamodb.ScanInput{TableName: &table, Limit: &limit}) {
		if err != nil {
			return err
		}
		if !a.until.IsZero() && time.Now().After(a.until) {
			a.rep.Partial = true
			return nil
		}
		if err := check(ctx, item); err != nil {
			return err
		}
	}
	return nil
}

// store writes the report.
func (a *audit) store(ctx context.Context) (string, error) {
	body, err := json.MarshalIndent(a.rep, "", " ")
	if err != nil {
		return "", fmt.Errorf("encode the report: %w", err)
	}
	key, kind := names.PrefixAudits+stamp.Format(a.rep.Started)+".json", "application/json"
	err = a.Retry.Do(ctx, func() error {
		_, err := a.Objects.PutObject(ctx, &s3.PutObjectInput{Bucket: &a.Bucket, Key: &key, ContentType: &kind, Body: bytes.NewReader(body)})
		return err
	})
	if err != nil {
		return "", fmt.Errorf("store the report %s: %w", key, err)
	}
	return key, nil
}

func (d Deps) now() time.Time {
	if d.Now != nil {
		return d.Now().UTC()
	}
	return time.Now().UTC()
}

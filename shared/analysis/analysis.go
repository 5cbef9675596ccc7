// Package analysis holds the life of one analysis: its row, the states it goes
// through before its end, and the store that moves it. Ends are written by
// package outcome alone.
package analysis

import (
	"crypto/sha256"
	"encoding/base32"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Status is where an analysis is in its life:
// reserved -> queued -> analysing -> ready | rejected | failed, and
// reserved -> expired.
type Status string

// The states. The last four are ends: final and never reopened.
const (
	Reserved  Status = "reserved"
	Queued    Status = "queued"
	Analysing Status = "analysing"
	Ready     Status = "ready"
	Rejected  Status = "rejected"
	Failed    Status = "failed"
	Expired   Status = "expired"
)

// Ended reports whether s is an end.
func (s Status) Ended() bool {
	return s == Ready || s == Rejected || s == Failed || s == Expired
}

// Clip is one declared clip and, after the confirm, the object version that is
// analysed whatever is uploaded later.
type Clip struct {
	Name      string `dynamodbav:"name" json:"name"`             // the athlete's file name, for display only
	Type      string `dynamodbav:"type" json:"type"`             // declared content type
	SizeBytes int64  `dynamodbav:"size_bytes" json:"size_bytes"` // declared; after the confirm, the object's
	Key       string `dynamodbav:"key" json:"-"`
	VersionID string `dynamodbav:"version_id,omitempty" json:"-"`
	ETag      string `dynamodbav:"etag,omitempty" json:"-"`
	Sniffed   string `dynamodbav:"sniffed,omitempty" json:"-"` // content type by the first bytes; a hint, the precheck decides
}

// Row is the item of the analyses table.
type Row struct {
	AnalysisID  string            `dynamodbav:"analysis_id"`
	AthleteID   string            `dynamodbav:"athlete_id"`
	RequestHash string            `dynamodbav:"request_hash"` // sha256 of the create request, in its canonical form
	Status      Status            `dynamodbav:"status"`
	Attempt     int               `dynamodbav:"attempt"`
	Execution   string            `dynamodbav:"execution,omitempty"` // name of the execution that holds this attempt
	Clips       []Clip            `dynamodbav:"clips"`
	AthleteName string            `dynamodbav:"athlete_name"`
	Email       string            `dynamodbav:"email,omitempty"`
	TimeZone    string            `dynamodbav:"time_zone"`
	Notes       string            `dynamodbav:"notes,omitempty"`
	Consent     bool              `dynamodbav:"consent"`
	ConsentBy   *Consent          `dynamodbav:"consent_by,omitempty"` // nil in a row of an earlier release: the athlete, at CreatedAt
	Push        bool              `dynamodbav:"push,omitempty"`       // the app is told of the end, too
	RerunOf     string            `dynamodbav:"rerun_of,omitempty"`   // the analysis whose clips these are
	Flags       map[string]string `dynamodbav:"flags,omitempty"`      // as first read by Begin
	CreatedAt   time.Time         `dynamodbav:"created_at"`
	QueuedAt    time.Time         `dynamodbav:"queued_at,omitempty"`  // when the confirm pinned the clips
	StartedAt   time.Time         `dynamodbav:"started_at,omitempty"` // when Begin first marked it analysing
	ClaimedAt   time.Time         `dynamodbav:"claimed_at,omitempty"` // when a worker first claimed this attempt
	EndedAt     time.Time         `dynamodbav:"ended_at,omitempty"`
	EndedDay    string            `dynamodbav:"ended_day,omitempty"` // UTC day of EndedAt; missing in a row of an earlier release
	EndedBy     string            `dynamodbav:"ended_by,omitempty"`  // what wrote the end: an execution, a request, the reconciler
	Open        string            `dynamodbav:"open,omitempty"`      // OpenMark while open: the sparse index
	Deadline    time.Time         `dynamodbav:"deadline,omitempty"`  // by when this state must have ended
	Reason      string            `dynamodbav:"reason,omitempty"`    // reason.Code of an end without a report
	ReportPDF   string            `dynamodbav:"report_pdf,omitempty"`
	ReportJSON  string            `dynamodbav:"report_json,omitempty"`
	ResultKey   string            `dynamodbav:"result_key,omitempty"`
	Revisions   []Revision        `dynamodbav:"revisions,omitempty"` // of the report, in the order of their numbers
	SweptAt     time.Time         `dynamodbav:"swept_at,omitempty"`  // when Scrub first took out whose it is: nothing new is made of it
}

// Consent says who agreed to the analysis, and when.
type Consent struct {
	Role     string    `dynamodbav:"role" json:"role"`                     // ConsentSelf or ConsentParent
	Name     string    `dynamodbav:"name,omitempty" json:"name,omitempty"` // of the parent
	UnderAge bool      `dynamodbav:"under_age,omitempty" json:"under_age,omitempty"`
	At       time.Time `dynamodbav:"at" json:"at"`
}

// OpenMark is the value of the open attribute of every analysis without an end.
const OpenMark = "1"

// ID derives the analysis id from athlete and client key, so that a lost answer
// is repaired by asking again.
func ID(athleteID, clientKey string) string {
	sum := sha256.Sum256([]byte(athleteID + "\x00" + clientKey))
	enc := base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(sum[:])
	return "an-" + strings.ToLower(enc[:26])
}

// WellFormed reports whether a text can be the id of an analysis: what comes from
// outside becomes a key, and the table refuses long keys with an error.
func WellFormed(id string) bool {
	rest, ok := strings.CutPrefix(id, "an-")
	return ok && len(rest) == 26 && strings.Trim(rest, "abcdefghijklmnopqrstuvwxyz234567") == ""
}

// ExecutionName is the name of the execution of one attempt.
func ExecutionName(analysisID string, attempt int) string {
	return fmt.Sprintf("%s-%d", analysisID, attempt)
}

// Holder is the name of the execution that holds, or should hold, the attempt.
func (r Row) Holder() string {
	if r.Execution != "" {
		return r.Execution
	}
	return ExecutionName(r.AnalysisID, r.Attempt)
}

// ParseExecutionName is the inverse of ExecutionName; ok is false for the name
// of an execution that is not one of ours.
func ParseExecutionName(name string) (id string, attempt int, ok bool) {
	i := strings.LastIndexByte(name, '-')
	if i <= 0 {
		return "", 0, false
	}
	n, err := strconv.Atoi(name[i+1:])
	if err != nil || n < 1 || ExecutionName(name[:i], n) != name {
		return "", 0, false
	}
	return name[:i], n, true
}

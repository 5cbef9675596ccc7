// Package metric counts what alarms and dashboards are made of. A count is a log
// line in CloudWatch's embedded metric format: no request, no agent.
package metric

import (
	"context"
	"log/slog"
	"time"
)

// Namespace holds every metric of the system.
const Namespace = "FastBowlingLab"

// Names of the metrics. Alarms refer to them.
const (
	DuplicateRun     = "DuplicateRun"     // an execution found its attempt held by another
	ConcededEnd      = "ConcededEnd"      // an end came second and changed nothing
	Ended            = "Ended"            // an analysis got its end; field status says which
	NoticeUnknown    = "NoticeUnknown"    // a mail may or may not have left: a person must look
	NoticeRefused    = "NoticeRefused"    // a mail was refused for good
	EffectUnknown    = "EffectUnknown"    // a paid call was sent and its outcome is not known
	ModelUnavailable = "ModelUnavailable" // a setting names a model that is retired, missing or not allowed; dimension: setting
	DeadlineReached  = "DeadlineReached"  // the reconciler ended an analysis
	AuditViolations  = "AuditViolations"  // promises that the audit found broken, 0 where there are none: its heartbeat too
	PriceMissing     = "PriceMissing"     // model calls of this day and the one before that no price is known for; 0 where there are none
	PaymentRefused   = "PaymentRefused"   // a payment event that bears a signature was not taken; field code says why
	Reconciled       = "Reconciled"       // the reconciler finished a pass: its heartbeat
	ReconcileFailed  = "ReconcileFailed"  // rows that a pass could not repair
)

type spec struct {
	Timestamp         int64       `json:"Timestamp"`
	CloudWatchMetrics []directive `json:"CloudWatchMetrics"`
}

type directive struct {
	Namespace  string     `json:"Namespace"`
	Dimensions [][]string `json:"Dimensions"`
	Metrics    []unit     `json:"Metrics"`
}

type unit struct {
	Name string `json:"Name"`
	Unit string `json:"Unit"`
}

// Count adds n to a metric. attrs are fields of the log line, for whoever looks
// into an alarm; ids and codes only.
func Count(ctx context.Context, name string, n int, attrs ...any) {
	args := []any{
		slog.Any("_aws", spec{time.Now().UnixMilli(), []directive{{Namespace, [][]string{{}}, []unit{{name, "Count"}}}}}),
		slog.Int(name, n),
	}
	slog.InfoContext(ctx, "metric", append(args, attrs...)...)
}

package metric

import (
	"context"
	"log/slog"
	"time"
)

// OldestOpenSeconds is the age, since its confirm, of the oldest analysis without
// an end; 0 when there is none.
const OldestOpenSeconds = "OldestOpenSeconds"

// Gauge writes one value of a metric without dimensions. unit is spelt as
// CloudWatch does; attrs are as in Count.
func Gauge(ctx context.Context, name, unitName string, value float64, attrs ...any) {
	args := []any{
		slog.Any("_aws", spec{time.Now().UnixMilli(), []directive{{Namespace, [][]string{{}}, []unit{{name, unitName}}}}}),
		slog.Float64(name, value),
	}
	slog.InfoContext(ctx, "metric", append(args, attrs...)...)
}

package metric

import (
	"context"
	"log/slog"
	"time"
)

// Names of the pose pass's metrics.
const (
	PosePasses       = "PosePasses"       // passes that came to an end of any kind
	PoseSeconds      = "PoseSeconds"      // from the claim to that end
	PoseFrames       = "PoseFrames"       // frames tracked in them
	PoseChunksRedone = "PoseChunksRedone" // chunks of finished jobs that were begun more than once
)

// Sample is one value of a metric.
type Sample struct {
	Name  string
	Unit  string // as CloudWatch spells it: Count, Seconds
	Value float64
}

// Set writes several metrics as one line, each without a dimension and by that
// of the key and value given. attrs are as in Count.
func Set(ctx context.Context, dimension, value string, samples []Sample, attrs ...any) {
	units := make([]unit, len(samples))
	args := []any{slog.String(dimension, value)}
	for i, s := range samples {
		units[i] = unit{s.Name, s.Unit}
		args = append(args, slog.Float64(s.Name, s.Value))
	}
	args = append(args, slog.Any("_aws", spec{time.Now().UnixMilli(),
		[]directive{{Namespace, [][]string{{}, {dimension}}, units}}}))
	slog.InfoContext(ctx, "metric", append(args, attrs...)...)
}

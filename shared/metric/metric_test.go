package metric

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"testing"
)

// The format: https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html
func TestCountIsEmbeddedMetricFormat(t *testing.T) {
	var buf bytes.Buffer
	old := slog.Default()
	slog.SetDefault(slog.New(slog.NewJSONHandler(&buf, nil)))
	defer slog.SetDefault(old)

	Count(t.Context(), DuplicateRun, 2, "analysis_id", "an-1")

	var line struct {
		AWS struct {
			Timestamp         int64
			CloudWatchMetrics []struct {
				Namespace  string
				Dimensions [][]string
				Metrics    []struct{ Name, Unit string }
			}
		} `json:"_aws"`
		DuplicateRun int
		AnalysisID   string `json:"analysis_id"`
	}
	if err := json.Unmarshal(buf.Bytes(), &line); err != nil {
		t.Fatalf("%s: %v", buf.String(), err)
	}
	m := line.AWS.CloudWatchMetrics
	if line.DuplicateRun != 2 || line.AnalysisID != "an-1" || line.AWS.Timestamp == 0 ||
		len(m) != 1 || m[0].Namespace != Namespace || len(m[0].Dimensions) != 1 || len(m[0].Metrics) != 1 || m[0].Metrics[0].Name != DuplicateRun {
		t.Errorf("line = %s", buf.String())
	}
}

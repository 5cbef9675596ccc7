package names

import (
	"testing"
	"time"
)

func TestTimerRelations(t *testing.T) {
	for _, r := range []struct {
		name string
		ok   bool
	}{
		{"keeper <= lease/3", KeeperPeriod <= LeaseDuration/3},
		{"lease + skew <= visibility", LeaseDuration+ClockSkew <= QueueVisibility},
		{"visibility + wake < heartbeat", QueueVisibility+WakeTime < PoseHeartbeat},
		{"a stuck pass is given up before its heartbeat is missed", PoseNoProgress+KeeperPeriod < PoseHeartbeat},
		{"job < SQS's 12 h", PoseTimeout < MaxJobVisibility},
		{"token-1 timeout < retention", ClaimTimeout < QueueRetention},
		{"retention < clip lifecycle", QueueRetention < ClipLifecycle},
		{"work outlives the longest open analysis", ReservedDeadline+QueuedDeadline+AnalysingDeadline < WorkLifecycle},
		{"queued deadline <= token-1 timeout", QueuedDeadline <= ClaimTimeout},
		{"grace < Fargate's 120 s", StopGrace < 120*time.Second},
		{"worker URL outlives the pass", WorkerURLLifetime > PoseTimeout},
		{"pass ends by the analysing deadline", PoseTimeout <= AnalysingDeadline},
		{"an erasure outlasts every function at work", ErasureSettle > longest()},
		{"ALB idle timeout is 900 s", ALBIdleTimeout == 900*time.Second},
	} {
		if !r.ok {
			t.Errorf("timers: %s does not hold", r.name)
		}
	}
}

// longest is the longest timeout of a function.
func longest() (d time.Duration) {
	for _, f := range Functions() {
		d = max(d, f.Timeout)
	}
	return d
}

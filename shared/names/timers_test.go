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
		{"the longest wait for a service, and the try behind it, are no stall", longestAgain()+PoseStoreTime < PoseNoProgress},
		{"half an hour without storage is outlasted, by the work behind it too", PoseAway > 30*time.Minute && 2*PoseAway < AnalysingDeadline},
		{"job < SQS's 12 h", PoseTimeout < MaxJobVisibility},
		{"token-1 timeout < retention", ClaimTimeout < QueueRetention},
		{"retention < clip lifecycle", QueueRetention < ClipLifecycle},
		{"a confirmed clip that another was uploaded over outlives its analysis, and a rerun that found it", QueuedDeadline+AnalysingDeadline < ClipVersions && ClipLifecycle <= ClipVersions},
		{"work outlives the longest open analysis", ReservedDeadline+QueuedDeadline+AnalysingDeadline < WorkLifecycle},
		{"queued deadline <= token-1 timeout", QueuedDeadline <= ClaimTimeout},
		{"grace < Fargate's 120 s", StopGrace < 120*time.Second},
		{"worker URL outlives the pass", WorkerURLLifetime > PoseTimeout},
		{"pass ends by the analysing deadline", PoseTimeout <= AnalysingDeadline},
		{"an erasure outlasts every function at work", ErasureSettle > longest()},
		{"an erasure outlasts an upload by the last form", ErasureSettle > longest()+UploadLifetime+MaxClipBytes/SlowUpload*time.Second},
		{"ALB idle timeout is 900 s", ALBIdleTimeout == 900*time.Second},
		// Nothing is held open through the balancer: each call ends long before it
		// would cut it, inside its function; the state that waits for the work
		// started through it outlasts the idle timeout.
		{"a call through the ALB < its function's timeout", PoseCallTimeout < timeoutOf(FnProbe) && PoseCallTimeout < timeoutOf(FnPostJob)},
		{"functions that call through the ALB < its idle timeout", timeoutOf(FnProbe) < ALBIdleTimeout && timeoutOf(FnPostJob) < ALBIdleTimeout},
		{"ALB idle timeout < the state that waits for what was posted through it", ALBIdleTimeout < PoseTimeout},
		{"the worker's idle timeout > the ALB's", WorkerIdleTimeout > ALBIdleTimeout},
		{"deregistration < grace", DeregistrationDelay < StopGrace},
		{"health check timeout < interval", HealthTimeout < HealthInterval},
		{"progress is shown between renewals", ProgressPeriod < KeeperPeriod},
	} {
		if !r.ok {
			t.Errorf("timers: %s does not hold", r.name)
		}
	}
}

// longestAgain is the wait before the last try of what a service does not do.
func longestAgain() time.Duration {
	d := PoseAgain
	for range PoseTries - 2 {
		d *= PoseAgainGrowth
	}
	return d
}

// longest is the longest timeout of a function.
func longest() (d time.Duration) {
	for _, f := range Functions() {
		d = max(d, f.Timeout)
	}
	return d
}

func timeoutOf(fn string) time.Duration {
	for _, f := range Functions() {
		if f.Name == fn {
			return f.Timeout
		}
	}
	return 0
}

package names

import "testing"

func TestBatchTimerRelations(t *testing.T) {
	for _, r := range []struct {
		name string
		ok   bool
	}{
		{"a run's lease outlasts a call with the waits of its retries", BatchTimeout+BatchRetries < RunLease},
		{"an item ends long before its call does", 2*ItemTime < BatchTimeout},
		{"an item and its claim's skew are over before the alarm", ItemTime+ClockSkew < NoProgressAlarm},
		{"the watcher sees it in time", WatchPeriod < NoProgressAlarm},
		{"an erasure outlasts a call", BatchTimeout < ErasureSettle},
	} {
		if !r.ok {
			t.Errorf("timers: %s does not hold", r.name)
		}
	}
}

package names

import "testing"

func TestBatchTimerRelations(t *testing.T) {
	for _, r := range []struct {
		name string
		ok   bool
	}{
		{"a run's lease outlasts a call with the waits of its retries", max(BatchTimeout, RedoTimeout)+BatchRetries < RunLease},
		{"a run's lease outlasts a pause with the waits of the next state's retries", MaxPause+BatchRetries+ClockSkew < RunLease},
		{"a pause is over before the alarm", MaxPause+WatchPeriod <= NoProgressAlarm},
		{"an item ends long before its call does", 2*ItemTime < BatchTimeout && 2*ReportTime < RedoTimeout},
		{"an item and its claim's skew are over before the alarm", max(ItemTime, ReportTime)+ClockSkew < NoProgressAlarm},
		{"an item has time for a model call", TextTime+ClockSkew < ReportTime},
		{"the watcher sees it in time", WatchPeriod < NoProgressAlarm},
		{"an erasure outlasts a call", max(BatchTimeout, RedoTimeout) < ErasureSettle},
	} {
		if !r.ok {
			t.Errorf("timers: %s does not hold", r.name)
		}
	}
}

package local

import (
	"testing"
	"time"

	"fastbowlinglab/shared/names"
)

func TestTimetable(t *testing.T) {
	hour, minute, err := daily(names.NightlySchedule)
	if err != nil || hour != 1 || minute != 0 {
		t.Fatalf("%d:%d, %v", hour, minute, err)
	}
	for now, want := range map[string]string{
		"2026-03-01T00:59:59Z": "2026-03-01T01:00:00Z",
		"2026-03-01T01:00:00Z": "2026-03-02T01:00:00Z",
		"2026-12-31T23:00:00Z": "2027-01-01T01:00:00Z",
	} {
		at, err := time.Parse(time.RFC3339, now)
		if err != nil {
			t.Fatal(err)
		}
		if got := nextDaily(at, hour, minute).Format(time.RFC3339); got != want {
			t.Errorf("after %s: %s, want %s", now, got, want)
		}
	}
	for _, bad := range []string{"rate(1 day)", "cron(0 1 ? * MON *)", "cron(0 25 * * ? *)", "cron(61 1 * * ? *)"} {
		if _, _, err := daily(bad); err == nil {
			t.Errorf("%s is taken", bad)
		}
	}
}

package report

import (
	"fmt"
	"time"
	_ "time/tzdata" // a function's image holds no zone data

	"fastbowlinglab/shared/report/typeset"
)

// zone finds a time zone by its IANA name. The machine's own zone ("Local", and
// names that are paths) is never used; what is not known is UTC.
func zone(name string) (loc *time.Location, known bool) {
	if name == "" || name == "Local" {
		return time.UTC, false
	}
	loc, err := time.LoadLocation(name)
	if err != nil {
		return time.UTC, false
	}
	return loc, true
}

// when writes an instant in the athlete's zone, with the zone's name and its
// offset, so that an hour that occurs twice is told apart.
func when(t time.Time, zoneName string) string {
	if !plausible(t) {
		return "date not known"
	}
	loc, known := zone(zoneName)
	l := t.In(loc)
	s := l.Format("2 January 2006, 15:04")
	if known && loc != time.UTC {
		return fmt.Sprintf("%s (%s, UTC%s)", s, zoneName, l.Format("-07:00"))
	}
	if z := typeset.Clean(zoneName); !known && z != "" {
		return fmt.Sprintf("%s (UTC; the time zone “%s” is not known)", s, clip(z, 40))
	}
	return s + " (UTC)"
}

// plausible reports whether an instant may be printed: phones and clocks that
// were never set give 1904 or 1970.
func plausible(t time.Time) bool { return t.Year() >= 2020 && t.Year() < 2200 }

// clip shortens s to n characters.
func clip(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return s
}

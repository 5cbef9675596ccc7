package stepfn

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Time is a timestamp as the API sends it: seconds since 1970 with three
// decimals.
type Time struct{ time.Time }

// now is the present time to the millisecond, as everything recorded has it.
func now() time.Time { return time.Now().UTC().Truncate(time.Millisecond) }

// MarshalJSON implements json.Marshaler.
func (t Time) MarshalJSON() ([]byte, error) {
	ms := t.UnixMilli()
	sign := ""
	if ms < 0 {
		sign, ms = "-", -ms
	}
	return fmt.Appendf(nil, "%s%d.%03d", sign, ms/1000, ms%1000), nil
}

// UnmarshalJSON implements json.Unmarshaler.
func (t *Time) UnmarshalJSON(b []byte) error {
	whole, frac, _ := strings.Cut(string(b), ".")
	frac = (frac + "000")[:3]
	ms, err := strconv.ParseInt(whole+frac, 10, 64)
	if err != nil {
		return fmt.Errorf("timestamp %s: want seconds since 1970", b)
	}
	t.Time = time.UnixMilli(ms).UTC()
	return nil
}

// iso is how the context object and events write a time.
func iso(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

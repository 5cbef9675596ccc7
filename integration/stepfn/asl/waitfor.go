package asl

import (
	"encoding/json"
	"fmt"
	"time"
)

// Until gives the time at which the wait ends, counted from entered. It may lie
// in the past. A value of the wrong kind is a States.Runtime error.
func (w *Wait) Until(entered time.Time, input, context any) (time.Time, error) {
	switch {
	case w.Seconds != nil:
		return entered.Add(time.Duration(*w.Seconds) * time.Second), nil
	case w.Timestamp != nil:
		return *w.Timestamp, nil
	case w.SecondsPath != nil:
		v, err := evalPath(w.SecondsPath, "SecondsPath", input, context)
		if err != nil {
			return time.Time{}, err
		}
		n, _ := v.(json.Number)
		s, err := n.Int64()
		if err != nil || s < 0 || s > maxSeconds {
			return time.Time{}, &Error{ErrRuntime, fmt.Sprintf("The SecondsPath parameter does not reference a whole number from 0 to %d: %s == %s", maxSeconds, w.SecondsPath, Encode(v))}
		}
		return entered.Add(time.Duration(s) * time.Second), nil
	}
	v, err := evalPath(w.TimestampPath, "TimestampPath", input, context)
	if err != nil {
		return time.Time{}, err
	}
	text, _ := v.(string)
	t, err := parseTimestamp(text)
	if err != nil {
		return time.Time{}, &Error{ErrRuntime, fmt.Sprintf("The TimestampPath parameter does not reference a valid RFC 3339 timestamp: %s == %s", w.TimestampPath, Encode(v))}
	}
	return t, nil
}

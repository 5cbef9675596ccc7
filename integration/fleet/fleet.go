// Package fleet holds what its test and the test's worker share: the fleet of
// workers as real processes, a real database, queue and storage, and kill -9.
package fleet

import (
	"strings"
	"time"
)

// EnvDiary names the file in which all workers note what they do.
const EnvDiary = "FLEET_DIARY"

// EnvOff switches one guard of the workers off, for the test to be seen to fail.
const EnvOff = "FLEET_OFF"

// Guards that EnvOff knows.
const (
	OffSlots = "slots" // each road has slots of its own
	OffFence = "fence" // an owner's writes do not ask whether the job is still its own
)

// A job of the test, and timers related as those of shared/names are: keeper <=
// lease/3, lease + skew <= visibility, visibility + a new worker < heartbeat. A job comes
// back to dispatch when its heartbeat has run out; where the functions, whose skew is the
// deployed one, then still took its lease for a living one, it would wait for another.
const (
	Chunks     = 6
	Each       = 300 * time.Millisecond
	Keeper     = 3 * time.Second
	Lease      = 10 * time.Second
	Skew       = time.Second
	Visibility = 12 * time.Second
	Heartbeat  = 30 * time.Second
)

// What a note in the diary says.
const (
	Begins = "begins"
	Did    = "did"
	Ends   = "ends"
)

// Note is a line of the diary.
type Note struct {
	Pid     int    `json:"pid"`
	What    string `json:"what"`
	Clip    string `json:"clip"`
	Chunk   int    `json:"chunk"`
	Running int    `json:"running"` // passes in this process, with Begins and Ends
}

// ClipOf is a clip's place in storage, from its URL.
func ClipOf(src string) string {
	path, _, _ := strings.Cut(src, "?")
	if i := strings.Index(path, "clips/"); i >= 0 {
		return path[i:]
	}
	return path
}

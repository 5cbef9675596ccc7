package report

import (
	"context"
	"errors"
	"time"

	"fastbowlinglab/shared/aitask"
	"fastbowlinglab/shared/motion"
)

// Input is everything a report is made from. Text may hold anything: Build
// makes it safe to show.
type Input struct {
	AnalysisID string
	Attempt    int
	Athlete    string // name, may be empty
	TimeZone   string // IANA name; unknown ones are shown as UTC
	Submitted  time.Time
	ClipNames  []string // the athlete's file names, by clip index
	Result     motion.Result
	Findings   Findings
	Coaching   Coaching
	// Revision is the number of a report that was made again after its delivery,
	// from 1, and Changed says what it changes; 0 and "" for the delivered one.
	Revision int
	Changed  string

	// Frame gives the JPEG of a key frame by its storage key. An error that is
	// ErrNoFrame leaves a note in the picture's place; any other ends Build.
	Frame func(ctx context.Context, key string) ([]byte, error)
}

// ErrNoFrame says that there is no such picture.
var ErrNoFrame = errors.New("no such frame")

// Findings is what was seen in the numbers, and who wrote it.
type Findings struct {
	Author aitask.Author
	aitask.FindingsText
}

// Coaching is what to do about it, and who wrote it.
type Coaching struct {
	Author aitask.Author
	aitask.CoachingText
}

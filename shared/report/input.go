package report

import (
	"context"
	"errors"
	"time"

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

	// Frame gives the JPEG of a key frame by its storage key. An error that is
	// ErrNoFrame leaves a note in the picture's place; any other ends Build.
	Frame func(ctx context.Context, key string) ([]byte, error)
}

// ErrNoFrame says that there is no such picture.
var ErrNoFrame = errors.New("no such frame")

// Author says who wrote a text.
type Author struct {
	Provider string // for example rules, bedrock
	Model    string
	Version  string // of the rules or the prompt
}

// RulesProvider is the provider whose texts no model wrote.
const RulesProvider = "rules"

// Findings is what was seen in the numbers.
type Findings struct {
	Author  Author
	Summary string
	Items   []Finding
}

// Finding is one observation. Evidence names what it rests on, in words.
type Finding struct {
	Title    string
	Detail   string
	Evidence []string
}

// Coaching is what to do about it.
type Coaching struct {
	Author  Author
	Summary string
	Drills  []Drill
}

// Drill is one exercise.
type Drill struct {
	Title   string
	Purpose string
	Steps   []string
	Dose    string // for example "3 sets of 10"
}

package motion

import (
	"fastbowlinglab/shared/pose"
	"fastbowlinglab/shared/reason"
)

// ResultVersion is the version of Result's JSON form.
const ResultVersion = 1

// Result is what a pose pass leaves behind: everything the report is made from.
type Result struct {
	Version int    `json:"version"`
	Engine  string `json:"engine"` // inference engine and its version
	Model   string `json:"model"`  // landmark model: lite, full or heavy
	Clips   []Clip `json:"clips"`
}

// Clip is one clip of the analysis. Refused is set, and nothing below it, when
// the clip could not be analysed; the report names such a clip.
type Clip struct {
	Index      int         `json:"index"` // position in the analysis, from 0
	Refused    reason.Code `json:"refused,omitempty"`
	Width      int         `json:"width,omitempty"` // displayed, pixels
	Height     int         `json:"height,omitempty"`
	Frames     int         `json:"frames,omitempty"`
	Duration   float64     `json:"duration,omitempty"`   // seconds
	FrameRate  float64     `json:"frame_rate,omitempty"` // median, frames a second
	Arm        Side        `json:"arm,omitempty"`        // bowling arm
	Travel     string      `json:"travel,omitempty"`     // direction of the run-up in the picture: left or right
	Confidence float64     `json:"confidence,omitempty"` // that this is a delivery, in [0,1]
	Phases     []Phase     `json:"phases,omitempty"`
	Measures   []Measure   `json:"measures,omitempty"`
	Series     []Series    `json:"series,omitempty"`
	Warnings   []string    `json:"warnings,omitempty"`
}

// Side is the athlete's own left or right.
type Side string

// The sides.
const (
	Left  Side = "left"
	Right Side = "right"
)

// PhaseName names an instant of the delivery.
type PhaseName string

// The instants, in order. Run-up and follow-through are given by one
// representative instant each.
const (
	RunUp            PhaseName = "run_up"
	BackFootContact  PhaseName = "back_foot_contact"
	FrontFootContact PhaseName = "front_foot_contact"
	Release          PhaseName = "release"
	FollowThrough    PhaseName = "follow_through"
)

// PhaseNames lists the instants in the order of a delivery.
func PhaseNames() []PhaseName {
	return []PhaseName{RunUp, BackFootContact, FrontFootContact, Release, FollowThrough}
}

// Phase is an instant of the delivery with its picture. Time may lie between
// frames; Frame is the nearest one, which the picture shows, and Points are that
// frame's landmarks after cleaning: one whose visibility is 0 is absent, and its
// place means nothing.
type Phase struct {
	Name      PhaseName    `json:"name"`
	Time      float64      `json:"time"` // seconds from the first frame
	Frame     int          `json:"frame"`
	FrameTime float64      `json:"frame_time"` // of Frame, seconds from the first one
	Points    []pose.Point `json:"points,omitempty"`
	FrameKey  string       `json:"frame_key,omitempty"` // storage key of the picture
}

// NoPicture is the warning of a clip whose file gave no picture of a phase.
func NoPicture(p PhaseName) string { return "no picture could be read at " + string(p) }

// Measure is one value with its band. When NotMeasured is set it says why there
// is no value, and Value, Band and Confidence are 0.
type Measure struct {
	Name        string    `json:"name"` // for example elbow_angle
	Phase       PhaseName `json:"phase,omitempty"`
	Value       float64   `json:"value"`
	Unit        string    `json:"unit"` // degrees, seconds, ...
	Band        float64   `json:"band"` // half-width of the 95 % band, same unit
	Confidence  float64   `json:"confidence"`
	NotMeasured string    `json:"not_measured,omitempty"`
	Source      string    `json:"source,omitempty"` // definition's source in the literature
}

// Series is a value over time; Values has a nil where nothing was measured.
type Series struct {
	Name   string     `json:"name"`
	Unit   string     `json:"unit"`
	Times  []float64  `json:"times"` // seconds
	Values []*float64 `json:"values"`
	Band   float64    `json:"band"` // half-width of the 95 % band
}

// Usable reports whether at least one clip was measured.
func (r Result) Usable() bool {
	for _, c := range r.Clips {
		if c.Refused == "" {
			return true
		}
	}
	return false
}

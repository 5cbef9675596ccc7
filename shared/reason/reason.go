// Package reason is the one list of reason codes under which an analysis ends
// without a report. Each has a sentence for the athlete; the API, the mail and
// the log use the code.
package reason

import (
	"maps"
	"slices"
)

// Code is a stable, machine-readable reason.
type Code string

// Reasons of a rejected analysis: the footage cannot be analysed.
const (
	NotBowling       Code = "not_bowling"
	NoPerson         Code = "no_person"
	TooLittleBowler  Code = "too_little_bowler"
	MediaEmpty       Code = "media_empty"
	MediaNotVideo    Code = "media_not_video"
	MediaUnsupported Code = "media_unsupported"
	MediaCut         Code = "media_cut"
	MediaNoVideo     Code = "media_no_video_track"
	MediaStill       Code = "media_still_image"
	MediaTooLarge    Code = "media_too_large"
	MediaTooLong     Code = "media_too_long"
	MediaTooShort    Code = "media_too_short"
	MediaTooSmall    Code = "media_too_small"
	MediaUnreadable  Code = "media_unreadable"
	MediaReshaped    Code = "media_reshaped"
)

// Reasons of a failed or expired analysis: our fault, or nobody came.
const (
	Cancelled        Code = "cancelled"
	NotUploaded      Code = "not_uploaded"
	DeadlinePassed   Code = "deadline_passed"
	Stopped          Code = "stopped"
	StageFailed      Code = "stage_failed"
	PoseFailed       Code = "pose_failed"
	ModelUnavailable Code = "model_unavailable"
	ModelNoAnswer    Code = "model_no_answer"
	OutcomeUnknown   Code = "outcome_unknown"
)

// Whose fault an end is. Ours is also that of somebody whom we depend on.
const (
	athletes = false
	ours     = true
)

// codes holds whose fault each end is, and what is said of it. A row has no
// default: a new code counts against the athlete, or does not, because its row
// says so.
var codes = map[Code]struct {
	ours     bool
	sentence string
}{
	NotBowling:       {athletes, "We could not find a bowling action in this footage."},
	NoPerson:         {athletes, "We could not see a person clearly in this footage."},
	TooLittleBowler:  {athletes, "The bowler is in view for too little of the delivery to be measured."},
	MediaEmpty:       {athletes, "The uploaded file is empty."},
	MediaNotVideo:    {athletes, "The uploaded file is not a video."},
	MediaUnsupported: {athletes, "This video format is not supported. Export it as MP4 or MOV and try again."},
	MediaCut:         {athletes, "The uploaded video is incomplete: part of it is missing or damaged."},
	MediaNoVideo:     {athletes, "The uploaded file has no video track."},
	MediaStill:       {athletes, "The uploaded file is a single picture, not a video."},
	MediaTooLarge:    {athletes, "The picture of this video is larger than we can process (the limit is 4K)."},
	MediaTooLong:     {athletes, "This video is too long. Send a clip of the delivery alone."},
	MediaTooShort:    {athletes, "This video is too short to hold a delivery."},
	MediaTooSmall:    {athletes, "The picture of this video is too small to measure a bowler."},
	MediaUnreadable:  {athletes, "The uploaded video could not be read."},
	MediaReshaped:    {athletes, "The picture of this video changes its shape part way. Send the clip as the camera filmed it."},
	Cancelled:        {athletes, "The analysis was cancelled."},
	NotUploaded:      {athletes, "The clips were not uploaded in time."},
	DeadlinePassed:   {ours, "The analysis took too long and was stopped."},
	Stopped:          {ours, "The analysis was stopped before it finished."},
	StageFailed:      {ours, "Something went wrong on our side."},
	PoseFailed:       {ours, "We could not measure this footage because of a fault on our side."},
	ModelUnavailable: {ours, "A service that we depend on is not available."},
	ModelNoAnswer:    {ours, "A service that we depend on gave no usable answer."},
	OutcomeUnknown:   {ours, "A service that we depend on did not answer in time."},
}

// Codes lists every code.
func Codes() []Code { return slices.Sorted(maps.Keys(codes)) }

// Sentence is what the athlete is told. An unknown code gets a general one.
func (c Code) Sentence() string {
	if row, ok := codes[c]; ok {
		return row.sentence
	}
	return "The analysis could not be finished."
}

// Media reports whether the code blames the file and not the action in it.
func (c Code) Media() bool { return len(c) > 6 && c[:6] == "media_" }

// Ours reports whether an analysis that ended so did for a fault of ours, or of
// somebody whom we depend on. A code that is not known does not count against the
// athlete.
func (c Code) Ours() bool {
	row, known := codes[c]
	return row.ours || !known
}

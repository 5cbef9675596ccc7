// Package reason is the one list of reason codes under which an analysis ends
// without a report. Each has a sentence for the athlete; the API, the mail and
// the log use the code.
package reason

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

var sentences = map[Code]string{
	NotBowling:       "We could not find a bowling action in this footage.",
	NoPerson:         "We could not see a person clearly in this footage.",
	TooLittleBowler:  "The bowler is in view for too little of the delivery to be measured.",
	MediaEmpty:       "The uploaded file is empty.",
	MediaNotVideo:    "The uploaded file is not a video.",
	MediaUnsupported: "This video format is not supported. Export it as MP4 or MOV and try again.",
	MediaCut:         "The uploaded video is incomplete: part of it is missing or damaged.",
	MediaNoVideo:     "The uploaded file has no video track.",
	MediaStill:       "The uploaded file is a single picture, not a video.",
	MediaTooLarge:    "The picture of this video is larger than we can process (the limit is 4K).",
	MediaTooLong:     "This video is too long. Send a clip of the delivery alone.",
	MediaTooShort:    "This video is too short to hold a delivery.",
	MediaTooSmall:    "The picture of this video is too small to measure a bowler.",
	MediaUnreadable:  "The uploaded video could not be read.",
	MediaReshaped:    "The picture of this video changes its shape part way. Send the clip as the camera filmed it.",
	Cancelled:        "The analysis was cancelled.",
	NotUploaded:      "The clips were not uploaded in time.",
	DeadlinePassed:   "The analysis took too long and was stopped.",
	Stopped:          "The analysis was stopped before it finished.",
	StageFailed:      "Something went wrong on our side.",
	PoseFailed:       "We could not measure this footage because of a fault on our side.",
	ModelUnavailable: "A service that we depend on is not available.",
	ModelNoAnswer:    "A service that we depend on gave no usable answer.",
	OutcomeUnknown:   "A service that we depend on did not answer in time.",
}

// Codes lists every code.
func Codes() []Code {
	out := make([]Code, 0, len(sentences))
	for c := range sentences {
		out = append(out, c)
	}
	return out
}

// Sentence is what the athlete is told. An unknown code gets a general one.
func (c Code) Sentence() string {
	if s, ok := sentences[c]; ok {
		return s
	}
	return "The analysis could not be finished."
}

// Media reports whether the code blames the file and not the action in it.
func (c Code) Media() bool { return len(c) > 6 && c[:6] == "media_" }

// Ours reports whether an analysis that ended so did for a fault of ours, or of
// somebody whom we depend on. Of a code that is not known nobody is blamed.
func (c Code) Ours() bool {
	switch c {
	case DeadlinePassed, Stopped, StageFailed, PoseFailed, ModelUnavailable, ModelNoAnswer, OutcomeUnknown:
		return true
	}
	_, known := sentences[c]
	return !known
}

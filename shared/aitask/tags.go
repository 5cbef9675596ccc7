package aitask

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"fastbowlinglab/shared/fault"
	"fastbowlinglab/shared/names"
)

// Tags is the task of the nightly job: it sorts a delivered analysis by its
// action. It is no stage of an analysis, and an analysis can have it done in
// several versions.
const Tags Task = "tags"

// The types of action that tags tell apart, by what the front leg does from
// front-foot contact to release. They follow Portus et al. (2004), Sports
// Biomechanics 3: 263-284, as far as the two instants show it.
const (
	FrontLegExtends = "front_leg_extends"
	FrontLegFlexes  = "front_leg_flexes"
	FrontLegBraced  = "front_leg_braced"
	FrontLegBent    = "front_leg_bent" // stays as it is, and is not straight
	ActionUnclear   = "unclear"
)

// The flags of quality.
const (
	FlagClipRefused   = "clip_refused"
	FlagLowFrameRate  = "low_frame_rate"
	FlagLowConfidence = "low_confidence"
	FlagFewMeasures   = "few_measures"
	FlagWideBand      = "wide_band"
	FlagArmsDiffer    = "arms_differ"
)

var (
	actionTypes = []string{FrontLegExtends, FrontLegFlexes, FrontLegBraced, FrontLegBent, ActionUnclear}
	arms        = []string{"left", "right", "unclear"}
	allFlags    = []string{FlagArmsDiffer, FlagClipRefused, FlagFewMeasures, FlagLowConfidence, FlagLowFrameRate, FlagWideBand}
)

// TagsText is the output of tags. Flags are sorted, each once.
type TagsText struct {
	ActionType string   `json:"action_type"`
	Arm        string   `json:"arm"`
	Flags      []string `json:"flags"`
}

func (t *TagsText) check() error {
	if !slices.Contains(actionTypes, t.ActionType) {
		return fmt.Errorf("action_type %q is none of %v", clip(t.ActionType, 40), actionTypes)
	}
	if !slices.Contains(arms, t.Arm) {
		return fmt.Errorf("arm %q is none of %v", clip(t.Arm, 40), arms)
	}
	slices.Sort(t.Flags)
	t.Flags = slices.Compact(t.Flags)
	for _, f := range t.Flags {
		if !slices.Contains(allFlags, f) {
			return fmt.Errorf("flag %q is none of %v", clip(f, 40), allFlags)
		}
	}
	if t.Flags == nil {
		t.Flags = []string{}
	}
	return nil
}

// label is the task's name in keys, with its revision where it is one.
func (t Task) label(revision string) string {
	if revision == "" {
		return string(t)
	}
	return string(t) + "@" + revision
}

// Tagged is the answer of tags and who gave it.
type Tagged struct {
	TagsText
	Author Author
}

// Bytes are the tags in the form whose hash tells whether two are the same.
func (t Tagged) Bytes() ([]byte, error) {
	return json.Marshal(struct {
		TagsText
		Author Author `json:"author"`
	}{t.TagsText, t.Author})
}

// Tag makes the call of tags in a version, or reuses its recorded answer: the
// same for whoever asks. Errors: *effect.InProgress; others carry a name of
// package fault.
func (r *Runner) Tag(ctx context.Context, run names.Run, version string, in Input) (Tagged, error) {
	o, err := r.once(ctx, run, Tags, version, in)
	if err != nil {
		return Tagged{}, err
	}
	if o.Tags == nil || o.Author == nil {
		return Tagged{}, fault.New(fault.Permanent, "%s of %s: the recorded outcome holds no tags", Tags, run.AnalysisID)
	}
	return Tagged{*o.Tags, *o.Author}, nil
}

// Revise makes the call of a text task once more, as a revision of its own: a key,
// a stored answer and a usage row beside those of the delivered report.
func (r *Runner) Revise(ctx context.Context, run names.Run, t Task, revision string, in Input) (names.TextOut, error) {
	if revision == "" {
		return names.TextOut{}, fault.New(fault.Permanent, "revise %s of %s: a revision needs a name", t, run.AnalysisID)
	}
	return r.text(ctx, run, t, revision, in)
}

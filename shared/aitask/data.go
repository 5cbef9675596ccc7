package aitask

import (
	"encoding/json"
	"fmt"
	"unicode/utf8"

	"fastbowlinglab/shared/motion"
	"fastbowlinglab/shared/names"
)

// The marks around a task's data. encoding/json writes < and > as escapes, so
// that nothing inside the data can close them.
const (
	dataBegin = "<data>\n"
	dataEnd   = "\n</data>"
)

// maxData bounds the data of one call, in bytes.
const maxData = 512 << 10

// data is what a model is told of an analysis. The athlete's notes are in it
// where the task uses them, as one string among others: the findings alone. A
// verdict cannot be talked into, since the precheck never hears the notes.
type data struct {
	Clips    []clipTold    `json:"clips,omitempty"`
	Findings *FindingsText `json:"findings,omitempty"`
	Frames   []frameData   `json:"frames,omitempty"` // in the order of the pictures
	Notes    string        `json:"notes,omitempty"`
}

type clipData struct {
	Index     int              `json:"index"`
	Refused   string           `json:"refused,omitempty"`
	Arm       motion.Side      `json:"arm,omitempty"`
	FrameRate float64          `json:"frame_rate,omitempty"`
	Measures  []motion.Measure `json:"measures,omitempty"`
	Warnings  []string         `json:"warnings,omitempty"`
}

// clipTold is a clip with each measure as the report writes it, so that words and
// tables round alike.
type clipTold struct {
	clipData
	Measures []measureTold `json:"measures,omitempty"` // in place of clipData's
}

type measureTold struct {
	motion.Measure
	Written   string `json:"written,omitempty"`
	Certainty string `json:"confidence_word,omitempty"`
}

func told(r motion.Result) []clipTold {
	var out []clipTold
	for _, c := range clipsOf(r) {
		ct := clipTold{clipData: c}
		for _, m := range c.Measures {
			mt := measureTold{Measure: m, Written: m.Written()}
			if m.NotMeasured == "" {
				mt.Certainty = motion.ConfidenceWord(m.Confidence)
			}
			ct.Measures = append(ct.Measures, mt)
		}
		out = append(out, ct)
	}
	return out
}

type frameData struct {
	Clip int     `json:"clip"`
	Time float64 `json:"time"`
}

// dataOf is the text of a task's data, between its marks.
func dataOf(t Task, in Input) (string, error) {
	var d data
	switch t {
	case Precheck:
		for _, p := range in.Pictures {
			d.Frames = append(d.Frames, frameData{p.Clip, p.Time})
		}
	case Coaching:
		if in.Findings == nil {
			return "", fmt.Errorf("coaching needs findings")
		}
		d.Findings, d.Clips = in.Findings, told(in.Result)
	default:
		d.Clips, d.Notes = told(in.Result), notes(in.Notes)
	}
	b, err := json.Marshal(d)
	if err != nil {
		return "", fmt.Errorf("encode the data of %s: %w", t, err)
	}
	if len(b) > maxData {
		return "", fmt.Errorf("the data of %s has %d bytes, limit %d", t, len(b), maxData)
	}
	return dataBegin + string(b) + dataEnd, nil
}

func clipsOf(r motion.Result) []clipData {
	out := make([]clipData, len(r.Clips))
	for i, c := range r.Clips {
		out[i] = clipData{c.Index, string(c.Refused), c.Arm, c.FrameRate, c.Measures, c.Warnings}
	}
	return out
}

// notes are an athlete's notes on one line, no longer than they may be.
func notes(s string) string {
	s = plain(s)
	if utf8.RuneCountInString(s) > names.MaxNotesRunes {
		s = string([]rune(s)[:names.MaxNotesRunes])
	}
	return s
}

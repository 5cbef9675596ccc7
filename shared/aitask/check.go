package aitask

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"unicode"

	"fastbowlinglab/shared/motion"
)

// read makes a typed, checked answer of a provider's text. Errors: a Why.
func read(text string, spec Spec, in Input) (output, error) {
	o, err := parse(text, newOutput(spec.Task))
	if err != nil {
		return nil, err
	}
	if f, ok := o.(*FindingsText); ok {
		if err := founded(*f, in); err != nil {
			return nil, err
		}
	}
	said, err := wordsOf(o)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", Shape, err)
	}
	if repeats(said, words(spec.Prompt)) {
		return nil, Leaked
	}
	if offLimits.MatchString(strings.Join(said, " ")) {
		return nil, OffLimits
	}
	return o, nil
}

// founded checks that every measure which a finding names was made. A finding
// that rests on one of low confidence becomes a note: no page calls a value low
// and builds on it.
func founded(f FindingsText, in Input) error {
	made, low := map[Ref]bool{}, map[Ref]bool{}
	for _, c := range in.Result.Clips {
		for _, m := range c.Measures {
			made[Ref{c.Index, m.Name, string(m.Phase)}] = true
			made[Ref{c.Index, m.Name, ""}] = true
			low[Ref{c.Index, m.Name, string(m.Phase)}] = m.NotMeasured == "" && m.Confidence < motion.FairConfidence
		}
	}
	for i := range f.Items {
		it := &f.Items[i]
		for _, r := range it.Measures {
			if low[r] && (it.Kind == Strength || it.Kind == WorkOn) {
				it.Kind = Observation
			}
			if !made[r] {
				return fmt.Errorf("%w: item %d names %s of clip %d", Unfounded, i, clip(r.Name, 80), r.Clip)
			}
		}
	}
	return nil
}

// offLimits are words of a judgement on the action's legality, which no report
// of ours makes.
var offLimits = regexp.MustCompile(`\b(illegal|illegally|chuck|chucks|chucked|chucker|chucking|suspect action)\b`)

// leakRun is how many words in a row an answer may share with the instructions.
// Shorter runs are how coaches speak; a leak is whole sentences. A leak in other
// words, or in another language, is not found by this.
const leakRun = 12

// repeats reports whether said holds a run of leakRun words of prompt.
func repeats(said, prompt []string) bool {
	runs := map[string]bool{}
	for i := 0; i+leakRun <= len(prompt); i++ {
		runs[strings.Join(prompt[i:i+leakRun], " ")] = true
	}
	for i := 0; i+leakRun <= len(said); i++ {
		if runs[strings.Join(said[i:i+leakRun], " ")] {
			return true
		}
	}
	return false
}

// wordsOf are the words of all texts of an answer.
func wordsOf(o output) ([]string, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(o); err != nil {
		return nil, err
	}
	return words(b.String()), nil
}

// words splits a text into lower-case words; all else only separates.
func words(s string) []string {
	return strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// Check reports why an answer cannot be used, nil if it can: what a Runner
// requires of a provider's text, for those who look at providers.
func Check(text string, spec Spec, in Input) error {
	_, err := read(text, spec, in)
	return err
}

package aitask

import (
	"encoding/json"
	"fmt"
	"io"
)

// DocumentVersion is the version of a stored answer's form.
const DocumentVersion = 1

// MaxDocument bounds a stored answer, in bytes.
const MaxDocument = 512 << 10

// Author says who wrote a text.
type Author struct {
	Provider string `json:"provider"`
	Model    string `json:"model"`
	Version  string `json:"version"` // of the prompt, or of the rules
}

// Credit is the line under a text that says who wrote it.
func (a Author) Credit() string {
	if a.Provider == RulesProvider {
		return fmt.Sprintf("Written by rules, not by a model (%s, version %s).", a.Model, a.Version)
	}
	return fmt.Sprintf("Written by the model %s (%s, prompt %s).", a.Model, a.Provider, a.Version)
}

// Document is a stored answer. It holds no time, so that the same input through
// the same rules gives the same bytes. Exactly one text is set.
type Document struct {
	Version  int           `json:"version"`
	Task     Task          `json:"task"`
	Author   Author        `json:"author"`
	About    string        `json:"about,omitempty"` // what the text is about, by About; "" of a release before
	Precheck *PrecheckText `json:"precheck,omitempty"`
	Findings *FindingsText `json:"findings,omitempty"`
	Coaching *CoachingText `json:"coaching,omitempty"`
}

// newOutput makes an empty answer of a task.
func newOutput(t Task) func() output {
	return func() output {
		switch t {
		case Precheck:
			return &PrecheckText{}
		case Findings:
			return &FindingsText{}
		case Tags:
			return &TagsText{}
		}
		return &CoachingText{}
	}
}

func newDocument(t Task, a Author, o output) Document {
	d := Document{Version: DocumentVersion, Task: t, Author: a}
	switch o := o.(type) {
	case *PrecheckText:
		d.Precheck = o
	case *FindingsText:
		d.Findings = o
	case *CoachingText:
		d.Coaching = o
	}
	return d
}

func (d Document) output() output {
	switch {
	case d.Task == Precheck && d.Precheck != nil:
		return d.Precheck
	case d.Task == Findings && d.Findings != nil:
		return d.Findings
	case d.Task == Coaching && d.Coaching != nil:
		return d.Coaching
	}
	return nil
}

// ReadDocument reads a stored answer of a task and checks it like a fresh one.
func ReadDocument(r io.Reader, t Task) (Document, error) {
	b, err := io.ReadAll(io.LimitReader(r, MaxDocument+1))
	if err != nil {
		return Document{}, fmt.Errorf("read the answer of %s: %w", t, err)
	}
	if len(b) > MaxDocument {
		return Document{}, fmt.Errorf("read the answer of %s: more than %d bytes", t, MaxDocument)
	}
	var d Document
	if err := json.Unmarshal(b, &d); err != nil {
		return Document{}, fmt.Errorf("read the answer of %s: %w", t, err)
	}
	if d.Version != DocumentVersion || d.Task != t {
		return Document{}, fmt.Errorf("read the answer of %s: it is of task %q, version %d", t, d.Task, d.Version)
	}
	o := d.output()
	if o == nil {
		return Document{}, fmt.Errorf("read the answer of %s: it holds no text", t)
	}
	if err := o.check(); err != nil {
		return Document{}, fmt.Errorf("read the answer of %s: %w", t, err)
	}
	return d, nil
}

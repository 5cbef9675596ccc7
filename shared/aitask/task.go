package aitask

import (
	"embed"
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// Task is one kind of model call.
type Task string

// The tasks.
const (
	Precheck Task = "precheck"
	Findings Task = "findings"
	Coaching Task = "coaching"
)

// Tasks lists them in the order of a run.
func Tasks() []Task { return []Task{Precheck, Findings, Coaching} }

// Setting is the name of the SSM parameter that chooses the task's model.
func (t Task) Setting(prefix string) string { return prefix + "/model/" + string(t) }

// EffectKey is the key under which the task's call is guarded.
func (t Task) EffectKey(analysisID string) string {
	return "model#" + analysisID + "#" + string(t)
}

// Spec is what a provider needs to know of a task.
type Spec struct {
	Task          Task
	Prompt        string          // instructions; inputs follow as data
	PromptVersion string          // first line of the prompt's file
	Schema        json.RawMessage // JSON schema of the output
	MaxOutput     int             // tokens
	Timeout       time.Duration   // of one call; less when the function has less time left
}

//go:embed prompts/*.txt schemas/*.json
var files embed.FS

// SpecOf reads the task's prompt and schema, which are part of the binary.
func SpecOf(t Task) (Spec, error) {
	prompt, err := files.ReadFile("prompts/" + string(t) + ".txt")
	if err != nil {
		return Spec{}, fmt.Errorf("no such AI task: %q", t)
	}
	schema, err := files.ReadFile("schemas/" + string(t) + ".json")
	if err != nil {
		return Spec{}, fmt.Errorf("AI task %q has no output schema", t)
	}
	head, body, ok := strings.Cut(string(prompt), "\n")
	version, named := strings.CutPrefix(head, "version: ")
	if !ok || !named || version == "" {
		return Spec{}, fmt.Errorf("AI task %q: its prompt does not begin with its version", t)
	}
	s := Spec{Task: t, Prompt: strings.TrimSpace(body), PromptVersion: version, Schema: schema}
	switch t {
	case Tags:
		s.MaxOutput, s.Timeout = 300, 30*time.Second
	case Precheck:
		s.MaxOutput, s.Timeout = 400, 60*time.Second
	case Findings:
		s.MaxOutput, s.Timeout = 3000, 300*time.Second
	default:
		s.MaxOutput, s.Timeout = 3000, 300*time.Second
	}
	return s, nil
}

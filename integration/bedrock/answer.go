package bedrock

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"fastbowlinglab/shared/aitask"
	"fastbowlinglab/shared/bedrock"
	"fastbowlinglab/shared/motion"
	"fastbowlinglab/shared/names"
)

// Signed begins every text of the stand-in.
const Signed = "Stand-in answer, no model was asked."

// answer writes what a well-behaved model would: one use of the chosen tool, by
// its schema, about the data of the request.
func answer(c Call) (bedrock.Answer, error) {
	text, images := content(c.Request)
	input, err := document(c.Tool, text, images)
	if err != nil {
		return bedrock.Answer{}, err
	}
	var a bedrock.Answer
	a.StopReason = bedrock.StopToolUse
	a.Output.Message = bedrock.Message{Role: "assistant", Content: []bedrock.Block{
		{ToolUse: &bedrock.ToolUse{ID: "tooluse_standin", Name: c.Tool, Input: input}}}}
	in := int64(len(text)/4 + images*1300)
	for _, b := range c.Request.System {
		in += int64(len(*b.Text) / 4)
	}
	out := int64(len(input)/4 + 1)
	total := in + out
	a.Usage = &bedrock.Usage{Input: &in, Output: &out, Total: &total}
	if i := c.Request.Inference; i != nil && out > int64(i.MaxTokens) {
		a.StopReason = bedrock.MaxTokens
	}
	return a, nil
}

// content is the text of the user's words, and how many pictures there are.
func content(r bedrock.Request) (text string, images int) {
	for _, m := range r.Messages {
		for _, b := range m.Content {
			switch {
			case b.Text != nil:
				text += *b.Text
			case b.Image != nil:
				images++
			}
		}
	}
	return text, images
}

// document is the tool's input. The sentences are those of the rules, so that
// they speak of the athlete's own values.
func document(tool, text string, images int) (json.RawMessage, error) {
	_, after, _ := strings.Cut(text, "<data>")
	inner, _, ok := strings.Cut(after, "</data>")
	if !ok {
		return nil, messagef("The stand-in found no data in the request.")
	}
	var data struct {
		Clips    []motion.Clip        `json:"clips"`
		Findings *aitask.FindingsText `json:"findings"`
	}
	if err := json.Unmarshal([]byte(inner), &data); err != nil {
		return nil, messagef("The stand-in cannot read the data: %v", err)
	}
	task := aitask.Task(tool)
	if task == aitask.Precheck {
		return json.Marshal(aitask.PrecheckText{Verdict: names.VerdictPass, Confidence: 0.5,
			Reason: fmt.Sprintf("%s It was sent %d frames.", Signed, images)})
	}
	r, err := aitask.Rules{}.Call(context.Background(), aitask.Request{Spec: aitask.Spec{Task: task},
		Input: aitask.Input{Result: motion.Result{Clips: data.Clips}, Findings: data.Findings}})
	if err != nil {
		return nil, messagef("The stand-in does not know the tool %q: %v", tool, err)
	}
	var doc map[string]any
	if err := json.Unmarshal([]byte(r.Text), &doc); err != nil {
		return nil, err
	}
	if said, ok := doc["summary"].(string); ok {
		doc["summary"] = Signed + " " + said
	}
	return json.Marshal(doc)
}

package bedrock

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	_ "image/jpeg" // pictures are decoded as far as their header
	_ "image/png"

	"fastbowlinglab/shared/bedrock"
)

// Limits of a request, as AWS documents them.
const (
	maxImages    = 20
	maxImageSide = 8000
)

// decode reads a request as strictly as AWS does, and more: an unknown member is
// an error, so that a misspelt one cannot pass.
func decode(body []byte) (bedrock.Request, error) {
	var r bedrock.Request
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(&r); err != nil {
		return r, messagef("Malformed input request: %v", err)
	}
	if len(r.Messages) == 0 || r.Messages[0].Role != "user" {
		return r, message("A conversation must start with a user message. Try again with a conversation that starts with a user message.")
	}
	images := 0
	for _, m := range r.Messages {
		if len(m.Content) == 0 {
			return r, message("The content field in the Message object is empty.")
		}
		for _, b := range m.Content {
			if err := block(b); err != nil {
				return r, err
			}
			if b.Image != nil {
				images++
			}
		}
	}
	if images > maxImages {
		return r, messagef("The request holds %d images, the limit is %d.", images, maxImages)
	}
	for _, b := range r.System {
		if b.Text == nil || *b.Text == "" || b.Image != nil || b.ToolUse != nil {
			return r, message("The system prompt is text.")
		}
	}
	if i := r.Inference; i != nil && (i.MaxTokens < 1 || i.Temperature != nil && (*i.Temperature < 0 || *i.Temperature > 1)) {
		return r, message("Value at 'inferenceConfig' failed to satisfy constraint.")
	}
	return r, tools(r.ToolConfig)
}

func block(b bedrock.Block) error {
	kinds := 0
	for _, set := range []bool{b.Text != nil, b.Image != nil, b.ToolUse != nil} {
		if set {
			kinds++
		}
	}
	if kinds != 1 {
		return message("Exactly one member of ContentBlock must be set.")
	}
	if b.Text != nil && *b.Text == "" {
		return message("The text field in the ContentBlock object is blank.")
	}
	if b.Image == nil {
		return nil
	}
	cfg, format, err := image.DecodeConfig(bytes.NewReader(b.Image.Source.Bytes))
	if err != nil || format != b.Image.Format {
		return message("Could not process image")
	}
	if cfg.Width > maxImageSide || cfg.Height > maxImageSide {
		return messagef("The image is %d x %d, the limit is %d.", cfg.Width, cfg.Height, maxImageSide)
	}
	return nil
}

// tools checks the tools. The keys at the top of a schema are those that Nova
// allows.
func tools(c *bedrock.ToolConfig) error {
	if c == nil {
		return nil
	}
	names := map[string]bool{}
	for _, t := range c.Tools {
		var top map[string]json.RawMessage
		if err := json.Unmarshal(t.Spec.InputSchema.JSON, &top); err != nil || string(top["type"]) != `"object"` {
			return message("The value at toolConfig.tools.0.toolSpec.inputSchema.json.type must be one of the following: object.")
		}
		for k := range top {
			if k != "type" && k != "properties" && k != "required" {
				return messagef("Malformed input request: extraneous key [%s] is not permitted", k)
			}
		}
		names[t.Spec.Name] = true
	}
	if c.Choice != nil && (c.Choice.Tool == nil || !names[c.Choice.Tool.Name]) {
		return message("The toolChoice names no tool of the request.")
	}
	return nil
}

// message is an error in the service's own words.
type message string

func (m message) Error() string { return string(m) }

func messagef(format string, a ...any) error { return message(fmt.Sprintf(format, a...)) }

package bedrock

import "encoding/json"

// Request asks a model. Model is its id, an inference profile's or an ARN.
type Request struct {
	Model      string      `json:"-"`
	System     []Block     `json:"system,omitempty"`
	Messages   []Message   `json:"messages"`
	Inference  *Inference  `json:"inferenceConfig,omitempty"`
	ToolConfig *ToolConfig `json:"toolConfig,omitempty"`
}

// Message is one turn; Role is user or assistant.
type Message struct {
	Role    string  `json:"role"`
	Content []Block `json:"content"`
}

// Block is a piece of content. One field is set; a block of a kind that this
// package does not know, such as a model's reasoning, has none.
type Block struct {
	Text    *string  `json:"text,omitempty"`
	Image   *Image   `json:"image,omitempty"`
	ToolUse *ToolUse `json:"toolUse,omitempty"`
}

// Text makes a block of text.
func Text(s string) Block { return Block{Text: &s} }

// Image is a picture; Format is jpeg, png, gif or webp.
type Image struct {
	Format string `json:"format"`
	Source struct {
		Bytes []byte `json:"bytes"`
	} `json:"source"`
}

// JPEG makes a block of a picture.
func JPEG(b []byte) Block {
	i := &Image{Format: "jpeg"}
	i.Source.Bytes = b
	return Block{Image: i}
}

// ToolUse is a model's structured answer.
type ToolUse struct {
	ID    string          `json:"toolUseId"`
	Name  string          `json:"name"`
	Input json.RawMessage `json:"input"`
}

// Inference bounds and tunes the answer.
type Inference struct {
	MaxTokens   int      `json:"maxTokens,omitempty"`
	Temperature *float64 `json:"temperature,omitempty"`
}

// ToolConfig offers tools, and may choose the one that must be used.
type ToolConfig struct {
	Tools  []Tool      `json:"tools"`
	Choice *ToolChoice `json:"toolChoice,omitempty"`
}

// Tool is a tool's declaration.
type Tool struct {
	Spec ToolSpec `json:"toolSpec"`
}

// ToolSpec names a tool and gives the JSON schema of its input.
type ToolSpec struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	InputSchema struct {
		JSON json.RawMessage `json:"json"`
	} `json:"inputSchema"`
}

// ToolChoice makes a model use the named tool.
type ToolChoice struct {
	Tool *struct {
		Name string `json:"name"`
	} `json:"tool,omitempty"`
}

// OneTool offers one tool, which must be used.
func OneTool(name, description string, schema json.RawMessage) *ToolConfig {
	t := Tool{Spec: ToolSpec{Name: name, Description: description}}
	t.Spec.InputSchema.JSON = schema
	c := &ToolChoice{}
	c.Tool = &struct {
		Name string `json:"name"`
	}{name}
	return &ToolConfig{Tools: []Tool{t}, Choice: c}
}

// Answer is what a model said.
type Answer struct {
	Output struct {
		Message Message `json:"message"`
	} `json:"output"`
	StopReason string `json:"stopReason"`
	Usage      *Usage `json:"usage,omitempty"`
}

// Reasons why a model stopped.
const (
	EndTurn        = "end_turn"
	StopSequence   = "stop_sequence"
	StopToolUse    = "tool_use"
	MaxTokens      = "max_tokens"
	ContextIsFull  = "model_context_window_exceeded"
	Guardrail      = "guardrail_intervened"
	Filtered       = "content_filtered"
	MalformedTool  = "malformed_tool_use"
	MalformedModel = "malformed_model_output"
)

// Usage is what the call consumed, as the service says; nil is what it does not
// say. Input is without what was read from or written to the cache.
type Usage struct {
	Input      *int64 `json:"inputTokens,omitempty"`
	Output     *int64 `json:"outputTokens,omitempty"`
	Total      *int64 `json:"totalTokens,omitempty"`
	CacheRead  *int64 `json:"cacheReadInputTokens,omitempty"`
	CacheWrite *int64 `json:"cacheWriteInputTokens,omitempty"`
}

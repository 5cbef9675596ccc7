package aitask

import (
	"fmt"
	"strings"

	"fastbowlinglab/shared/bedrock"
	"fastbowlinglab/shared/usage"
)

// replyOf reads a model's answer: from the tool's block alone where there is one;
// else from the text, for models that answer in words in spite of the tool.
func replyOf(a bedrock.Answer, tool string, throttled int) (Reply, error) {
	r := Reply{Tokens: tokensOf(a.Usage), Throttled: throttled}
	text, err := answerOf(a, tool)
	if err != nil {
		return Reply{}, &CallError{Failure: NoAnswer, Detail: "stopped by " + clip(a.StopReason, 60), Err: err, Tokens: r.Tokens, Throttled: throttled}
	}
	r.Text = text
	return r, nil
}

func answerOf(a bedrock.Answer, tool string) (string, error) {
	switch a.StopReason {
	case bedrock.MaxTokens, bedrock.ContextIsFull:
		return "", Cut
	case bedrock.Guardrail, bedrock.Filtered:
		return "", Guarded
	case bedrock.MalformedTool, bedrock.MalformedModel:
		return "", Shape
	case "", bedrock.EndTurn, bedrock.StopSequence, bedrock.StopToolUse:
	default:
		return "", fmt.Errorf("%w: it stopped for a reason that is not known", Shape)
	}
	var uses []bedrock.ToolUse
	var texts []string
	for _, b := range a.Output.Message.Content {
		switch {
		case b.ToolUse != nil:
			uses = append(uses, *b.ToolUse)
		case b.Text != nil:
			texts = append(texts, *b.Text)
		}
	}
	switch {
	case len(uses) > 1:
		return "", fmt.Errorf("%w: the tool was used %d times", Shape, len(uses))
	case len(uses) == 1 && uses[0].Name != tool:
		return "", fmt.Errorf("%w: the tool %q was used", Shape, clip(uses[0].Name, 60))
	case len(uses) == 1 && len(uses[0].Input) == 0:
		return "", Empty
	case len(uses) == 1:
		return string(uses[0].Input), nil
	}
	if text := strings.Join(texts, "\n"); strings.TrimSpace(text) != "" {
		return text, nil
	}
	return "", Empty
}

// tokensOf reads what the call consumed. What the service does not say is not
// known, with one exception: it leaves the cache out where none was used, and
// then the other parts add up to the total.
func tokensOf(u *bedrock.Usage) usage.Tokens {
	if u == nil {
		return usage.Tokens{}
	}
	t := usage.Tokens{Input: known(u.Input), Output: known(u.Output), CacheRead: known(u.CacheRead), CacheWrite: known(u.CacheWrite)}
	if t.Input == nil || t.Output == nil || u.Total == nil {
		return t
	}
	sum := *t.Input + *t.Output
	for _, c := range []*int64{t.CacheRead, t.CacheWrite} {
		if c != nil {
			sum += *c
		}
	}
	if sum == *u.Total {
		for _, c := range []**int64{&t.CacheRead, &t.CacheWrite} {
			if *c == nil {
				*c = usage.Count(0)
			}
		}
	}
	return t
}

// known is a count that can be one.
func known(n *int64) *int64 {
	if n == nil || *n < 0 {
		return nil
	}
	return n
}

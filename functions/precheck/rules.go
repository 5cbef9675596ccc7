package precheck

import (
	"context"
	"encoding/json"
	"fmt"

	"fastbowlinglab/shared/aitask"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/usage"
)

// Rules is the embedded provider with a verdict of its own, by person detection
// in the frames. Stills cannot tell bowling from anything else, so that it never
// says it is no bowling; that is for the pose pass. It says only that nobody is
// there, and only when that is clear: not even a doubtful person of a plausible
// size in any frame of any clip, and the frames so close together that nobody
// ran through between them.
type Rules struct{ aitask.Rules }

// Call judges by Input.Seen, which holds the clips as looked at.
func (r Rules) Call(ctx context.Context, req aitask.Request) (aitask.Reply, error) {
	if req.Spec.Task != aitask.Precheck {
		return r.Rules.Call(ctx, req)
	}
	clips, ok := req.Input.Seen.([]Clip)
	if !ok {
		return aitask.Reply{}, &aitask.CallError{Failure: aitask.NotSent, Detail: "the rules need the clips as looked at"}
	}
	b, err := json.Marshal(judged(clips))
	if err != nil {
		return aitask.Reply{}, &aitask.CallError{Failure: aitask.NotSent, Detail: "encode the verdict", Err: err}
	}
	return aitask.Reply{Text: string(b), Model: aitask.RulesModel, Tokens: usage.None()}, nil
}

// judged is the rules' verdict. Its confidence is the detector's score of the
// likeliest person, or what is left of 1 beside it.
func judged(clips []Clip) aitask.PrecheckText {
	var frames, people int
	var best float64
	empty := true
	for _, c := range clips {
		if c.Refused != "" {
			continue
		}
		frames, people = frames+len(c.Looks), people+c.people()
		for _, l := range c.Looks {
			best = max(best, l.Score)
		}
		empty = empty && c.deserted()
	}
	saw := fmt.Sprintf("By rules, from person detection: somebody was found in %d of %d frames", people, frames)
	switch {
	case empty:
		return aitask.PrecheckText{Verdict: names.VerdictReject, Confidence: round(1 - best), Reason: saw + "."}
	case people == 0:
		return aitask.PrecheckText{Verdict: names.VerdictPass, Confidence: 0, Reason: saw + "; they are too few for the length of the clip to judge by."}
	}
	return aitask.PrecheckText{Verdict: names.VerdictPass, Confidence: min(round(best), 1), Reason: saw + ". Stills do not show whether they bowl."}
}

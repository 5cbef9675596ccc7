package poseworker

import (
	"context"
	"errors"
	"fmt"

	"fastbowlinglab/shared/media"
	"fastbowlinglab/shared/motion"
	"fastbowlinglab/shared/names"
)

// stillWidth is the width of key frames: more than a report prints of them.
const stillWidth = 1280

// stills stores a picture of every phase. A picture that the file cannot give is
// left out and said so; anything else that goes wrong may be tried again.
func (p *pass) stills(ctx context.Context, clip motion.Clip, src string, info media.Info) (motion.Clip, error) {
	for n := range clip.Phases {
		ph := &clip.Phases[n]
		p.move(clip.Index, 1, "", "key frames")
		jpeg, err := p.d.Vision.Still(ctx, src, info, ph.Time, stillWidth)
		var refused *media.Refusal
		if errors.As(err, &refused) {
			p.log.Warn("no picture of a phase", "clip", clip.Index, "phase", string(ph.Name), "reason", string(refused.Code))
			clip.Warnings = append(clip.Warnings, fmt.Sprintf("no picture could be read at %s", ph.Name))
			continue
		}
		if err != nil {
			return clip, fmt.Errorf("picture at %s: %w", ph.Name, err)
		}
		key := names.FrameKey(p.job.AnalysisID, p.job.Attempt, p.job.Fence, clip.Index, string(ph.Name))
		if err := p.store.put(ctx, key, "image/jpeg", "", jpeg); err != nil {
			return clip, err
		}
		ph.FrameKey = key
	}
	return clip, nil
}

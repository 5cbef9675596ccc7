package poseworker

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"fastbowlinglab/shared/media"
	"fastbowlinglab/shared/motion"
	"fastbowlinglab/shared/names"
)

// stillWidth is the width of key frames: more than a report prints of them.
const stillWidth = 1280

// stillsAtOnce is how many pictures are read and stored side by side: a picture that
// the pass did not keep is a short run of a decoder that mostly waits for its start.
const stillsAtOnce = 3

// stills stores a picture of every phase. A picture that the file cannot give is
// left out and said so; anything else that goes wrong may be tried again.
func (p *pass) stills(ctx context.Context, clip motion.Clip, src string, info media.Info) (motion.Clip, error) {
	p.move(clip.Index, 1, "", "key frames")
	keys, errs := make([]string, len(clip.Phases)), make([]error, len(clip.Phases))
	turn := make(chan struct{}, stillsAtOnce)
	var stored atomic.Int32
	var wg sync.WaitGroup
	for n, ph := range clip.Phases {
		turn <- struct{}{}
		wg.Go(func() {
			defer func() { <-turn }()
			defer func() { // a panic here would end the process, and every other pass with it
				if r := recover(); r != nil {
					errs[n] = fmt.Errorf("panic: %v", r)
				}
			}()
			keys[n], errs[n] = p.still(ctx, clip.Index, ph, src, info)
			p.pictured(clip.Index, int(stored.Add(1)), len(clip.Phases))
		})
	}
	wg.Wait()
	for n := range clip.Phases {
		ph := &clip.Phases[n]
		var refused *media.Refusal
		switch {
		case errors.As(errs[n], &refused):
			p.log.Warn("no picture of a phase", "clip", clip.Index, "phase", string(ph.Name), "reason", string(refused.Code))
			clip.Warnings = append(clip.Warnings, motion.NoPicture(ph.Name))
		case errs[n] != nil:
			return clip, fmt.Errorf("picture at %s: %w", ph.Name, errs[n])
		}
		ph.FrameKey = keys[n]
	}
	return clip, nil
}

// still stores the picture of one phase and gives its key.
func (p *pass) still(ctx context.Context, clip int, ph motion.Phase, src string, info media.Info) (string, error) {
	jpeg, err := p.d.Vision.Still(ctx, src, info, ph.Time, stillWidth)
	if err != nil {
		return "", err
	}
	p.keeper.progress.pulse()
	key := names.FrameKey(p.job.AnalysisID, p.job.Attempt, p.job.Fence, clip, string(ph.Name))
	return key, p.store.put(ctx, key, "image/jpeg", "", jpeg)
}

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

// storesAtOnce is how many pictures are stored side by side, which is mostly waiting.
const storesAtOnce = 3

// stills stores a picture of every phase. A picture that the file cannot give is
// left out and said so; anything else that goes wrong may be tried again.
func (p *pass) stills(ctx context.Context, clip motion.Clip, src string, info media.Info) (motion.Clip, error) {
	p.move(clip.Index, 1, "", "key frames")
	times := make([]float64, len(clip.Phases))
	for n, ph := range clip.Phases {
		times[n] = ph.FrameTime // not ph.Time: the frame after it need not be the nearest
	}
	keys, errs := make([]string, len(clip.Phases)), make([]error, len(clip.Phases))
	turn := make(chan struct{}, storesAtOnce)
	var stored atomic.Int32
	var wg sync.WaitGroup
	p.d.Vision.Stills(ctx, src, info, times, stillWidth, func(n int, jpeg []byte, err error) {
		p.keeper.progress.pulse()
		if err != nil {
			errs[n] = err
			return
		}
		turn <- struct{}{}
		wg.Go(func() {
			defer func() { <-turn }()
			defer func() { // a panic here would end the process, and every other pass with it
				if r := recover(); r != nil {
					errs[n] = fmt.Errorf("panic: %v", r)
				}
			}()
			keys[n], errs[n] = p.still(ctx, clip.Index, clip.Phases[n].Name, jpeg)
			p.pictured(clip.Index, int(stored.Add(1)), len(clip.Phases))
		})
	})
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
func (p *pass) still(ctx context.Context, clip int, phase motion.PhaseName, jpeg []byte) (string, error) {
	key := names.FrameKey(p.job.AnalysisID, p.job.Attempt, p.job.Fence, clip, string(phase))
	return key, p.put(ctx, key, "image/jpeg", jpeg)
}

package poseworker

import (
	"fmt"
	"sync"
	"time"

	"fastbowlinglab/shared/posejob"
)

// progress is how far a pass is, written by the pass and read by its keeper.
// Work that is done moves it; a pass that merely runs does not.
type progress struct {
	now func() time.Time

	mu    sync.Mutex
	mark  posejob.Mark
	moved time.Time // by the monotonic clock
}

func newProgress(now func() time.Time, from posejob.Progress) *progress {
	return &progress{now: now, moved: time.Now(),
		mark: posejob.Mark{Progress: posejob.Progress{Fraction: from.Fraction, Stage: "claimed", MovedAt: now()}}}
}

// move says that something was finished and names what is done next: the stage
// for people, the chunk (or "") for the count of chunks begun twice.
func (p *progress) move(fraction float64, begun, stage string, a ...any) posejob.Mark {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.moved = time.Now()
	p.mark = posejob.Mark{Begun: begun, Progress: posejob.Progress{
		Fraction: max(p.mark.Fraction, min(fraction, 1)), Stage: fmt.Sprintf(stage, a...), MovedAt: p.now()}}
	return p.mark
}

// pulse says that the pass moves although nothing is finished yet: a picture was
// decoded and taken.
func (p *progress) pulse() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.moved, p.mark.MovedAt = time.Now(), p.now()
}

// current is what the row is told, and how long nothing has moved.
func (p *progress) current() (posejob.Mark, time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.mark, time.Since(p.moved)
}

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
	step  float64   // what a picture is worth, until the next move
	next  float64   // fraction that the pictures may lead to
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
	p.moved, p.step = time.Now(), 0
	p.mark = posejob.Mark{Begun: begun, Progress: posejob.Progress{
		Fraction: max(p.mark.Fraction, min(fraction, 1)), Stage: fmt.Sprintf(stage, a...), MovedAt: p.now()}}
	return p.mark
}

// expect says that each picture from here on is worth step of the whole, up to
// the fraction that is due when they are done. It lasts until the next move.
func (p *progress) expect(step, due float64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.step, p.next = step, due
}

// pulse says that the pass moves although nothing is finished yet: a picture was
// decoded and taken.
func (p *progress) pulse() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.moved, p.mark.MovedAt = time.Now(), p.now()
	if p.step > 0 {
		p.mark.Fraction = max(p.mark.Fraction, min(p.mark.Fraction+p.step, p.next))
	}
}

// waits says that the pass waits for a service: it does not move, and is not stuck.
func (p *progress) waits(storage bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.moved = time.Now()
	if storage {
		p.mark.Stage = "waiting for storage"
	}
}

// current is what the row is told, and how long nothing has moved.
func (p *progress) current() (posejob.Mark, time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.mark, time.Since(p.moved)
}

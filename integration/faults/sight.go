package faults

import (
	"context"
	"strings"
	"sync"
	"time"

	"fastbowlinglab/integration/virtual"
	"fastbowlinglab/shared/media"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/pose"
)

// passes watches who computes: I6 says that a loser stops within one keeper
// period of running again.
type passes struct {
	mu      sync.Mutex
	running map[string]map[*virtual.Proc]time.Time // since when, by analysis
	overlap map[string]time.Duration               // longest, by analysis
}

func newPasses() *passes {
	return &passes{running: map[string]map[*virtual.Proc]time.Time{}, overlap: map[string]time.Duration{}}
}

func (p *passes) begin(id string, w *virtual.Proc) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.running[id] == nil {
		p.running[id] = map[*virtual.Proc]time.Time{}
	}
	p.running[id][w] = time.Now()
}

// goOn reports whether w is in its pass of an analysis.
func (p *passes) goOn(id string, w *virtual.Proc) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, ok := p.running[id][w]
	return ok
}

// end ends a pass of w. Until now it overlapped with every other living one that
// still runs.
func (p *passes) end(id string, w *virtual.Proc) {
	p.mu.Lock()
	defer p.mu.Unlock()
	since := p.running[id][w]
	delete(p.running[id], w)
	if w.Dead() {
		return // what a killed process seems to do costs nothing
	}
	for other, began := range p.running[id] {
		if other.Dead() {
			continue
		}
		if began.Before(since) {
			began = since
		}
		now := time.Now() // who is stopped does not go on
		p.overlap[id] = max(p.overlap[id], min(w.Ran(began, now), other.Ran(began, now)))
	}
}

// sight is a worker's Vision that computes nothing and is watched.
type sight struct {
	virtual.Sight
	worker *virtual.Proc
	passes *passes
	source func(id, src string) // told of every clip that is read
}

// Track implements poseworker.Vision.
func (s sight) Track(ctx context.Context, src string, info media.Info, after *pose.Chunk, emit func(pose.Chunk) error) error {
	id := analysisIn(src)
	s.source(id, src)
	s.passes.begin(id, s.worker)
	defer s.passes.end(id, s.worker)
	return s.Sight.Track(ctx, src, info, after, emit)
}

// analysisIn finds the analysis in a clip's URL.
func analysisIn(src string) string {
	i := strings.Index(src, "an-")
	if i < 0 {
		return ""
	}
	return src[i:min(len(src), i+len("an-")+26)]
}

// maxOverlap is how long two living passes of one job may go on together: the
// loser learns of it at its next renewal, and once more where that was cut.
const maxOverlap = 2*names.KeeperPeriod + names.KeeperPeriod/4

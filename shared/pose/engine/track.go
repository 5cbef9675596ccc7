package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"fastbowlinglab/shared/media"
	"fastbowlinglab/shared/pose"
)

// jump is how far the hips may move from one frame to the next, in torso
// lengths (about a body's width) for each thirtieth of a second.
const jump = 1.0

// Track follows the bowler through the clip at src and calls emit with every
// chunk in order. after is the last chunk already done, nil for none: going on
// from it gives the chunks that an uninterrupted run gives. A *media.Refusal
// comes back when the clip turns out to be cut or unreadable.
//
// The bowler is chosen once, by a look through the whole clip: the person who
// runs farthest for their size. A frame in which that person is not found has
// no points.
func (e *Engine) Track(ctx context.Context, src string, info media.Info, after *pose.Chunk, emit func(pose.Chunk) error) error {
	if e.landmarks == nil {
		return errors.New("track: the engine was opened for detection only")
	}
	s := state{Version: stateVersion, Model: e.model, Time: -1}
	index := 0
	if after != nil {
		if after.Last {
			return nil
		}
		var err error
		if s, err = e.decodeState(after); err != nil {
			return err
		}
		index = after.Index + 1
	} else {
		looks, err := e.scout(ctx, src, info)
		if err != nil {
			return err
		}
		ways := link(looks)
		s.Target = aim(bowler(ways).retraced(looks), info.Width, info.Height)
		s.Target.OtherRuns = otherRuns(s.Target.Seen, ways)
		if s.Chunk = shortChunk; info.Frames > longClip {
			s.Chunk = longChunk
		}
	}
	e.side.Store(int64(s.Target.Side))
	readers, err := e.landmarks.team(e.threads)
	if err != nil {
		return fmt.Errorf("track: %w", err)
	}
	defer readers.close()
	t := &tracker{info: info, state: s, index: index, emit: emit,
		observer: observer{team: readers, target: s.Target, width: float64(info.Width), last: s.Region}}
	return t.run(ctx, src)
}

// tracker cuts the stream of observations into chunks.
type tracker struct {
	info     media.Info
	state    state
	index    int // of the next chunk
	emit     func(pose.Chunk) error
	observer observer
	canvas   canvas

	pending []observation // seen, not yet settled
	regions []*region     // the observer's, after each of them
}

// run decodes ahead of the observer.
func (t *tracker) run(ctx context.Context, src string) error {
	err := ahead(ctx, t.take, func(ctx context.Context, alloc func(int) []byte, give func(media.Frame) error) error {
		opt := media.Options{MaxSide: t.state.Target.Side, Seen: t.state.Next, LastSeen: t.state.Time, Alloc: alloc, Window: t.state.Target.window(), Planes: true}
		return media.Frames(ctx, src, t.info, opt, give)
	})
	if err != nil {
		return err
	}
	return t.settle(len(t.pending), true)
}

// take observes a frame, and settles a chunk once enough lies beyond it.
func (t *tracker) take(f media.Frame) error {
	obs, err := t.observer.observe(t.canvas.show(f), f.Index, f.Time)
	if err != nil {
		return fmt.Errorf("track: frame %d: %w", f.Index, err)
	}
	t.pending = append(t.pending, obs)
	t.regions = append(t.regions, t.observer.last)
	if len(t.pending) == t.state.Chunk+lookAhead {
		return t.settle(t.state.Chunk, false)
	}
	return nil
}

// settle repairs what is pending and emits its first n frames as a chunk.
func (t *tracker) settle(n int, last bool) error {
	fixed := t.state.fixed()
	bodies := repair(fixed, t.pending)
	c := pose.Chunk{Index: t.index, Width: t.info.Width, Height: t.info.Height, Mirrored: t.info.Mirrored, OtherRuns: t.state.Target.OtherRuns, Last: last, Frames: make([]pose.Frame, 0, n)}
	before := append([]pose.Frame{}, t.state.Before...)
	for i := range n {
		f := t.frame(t.pending[i], bodies[i])
		if jumped(before, f) {
			f.Points, f.Score = nil, 0
		}
		c.Frames = append(c.Frames, f)
		before = append(before, f)
	}
	t.state.Before = before[max(0, len(before)-lookBack):]
	if n > 0 {
		t.state.Next, t.state.Time, t.state.Region = c.Frames[n-1].Index+1, c.Frames[n-1].Time, t.regions[n-1]
	}
	if !last {
		var err error
		if c.State, err = json.Marshal(t.state); err != nil {
			return fmt.Errorf("track: encode the state: %w", err)
		}
	}
	t.pending = append(t.pending[:0], t.pending[n:]...)
	t.regions = append(t.regions[:0], t.regions[n:]...)
	t.index++
	return t.emit(c)
}

// frame gives an observation's settled body; points outside the picture are not
// visible.
func (t *tracker) frame(o observation, r reading) pose.Frame {
	f := pose.Frame{Index: o.index, Time: o.time}
	if len(o.readings) == 0 {
		return f
	}
	f.Score = math.Round(o.score*1000) / 1000
	f.Points = make([]pose.Point, pose.Landmarks)
	for k, p := range r {
		if p.X < 0 || p.Y < 0 || p.X > float64(t.info.Width) || p.Y > float64(t.info.Height) {
			p.Visibility = 0
		}
		f.Points[k] = rounded(p)
	}
	return f
}

// jumped reports whether the body is further from where it was in the last
// tracked frame than a body moves: another person, or a wrong reading.
func jumped(before []pose.Frame, f pose.Frame) bool {
	if len(f.Points) == 0 {
		return false
	}
	for i := len(before) - 1; i >= 0; i-- {
		if len(before[i].Points) == 0 {
			continue
		}
		a, b := reading(before[i].Points), reading(f.Points)
		ax, ay := a.hips()
		bx, by := b.hips()
		return math.Hypot(ax-bx, ay-by) > jump*a.torso()*max(1, 30*(f.Time-before[i].Time))
	}
	return false
}

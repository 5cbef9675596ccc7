package posejob

import (
	"context"
	"fmt"
	"maps"
	"time"

	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/fault"
	"fastbowlinglab/shared/names"
)

// ours is the condition of every write by an owner.
const ours = "#attempt = :attempt AND #fence = :fence AND #state = :claimed"

// forward is the further condition of a write that extends the lease: a renewal that
// arrives minutes late must not put the end back, or a living owner is taken over.
const forward = " AND #until <= :until"

// own carries out a write that only the owner under l may make. settled says of
// a row that refused it whether it is our own earlier write, its answer lost.
func (s *Store) own(ctx context.Context, l Lease, doing, expr string, values map[string]any,
	ns map[string]string, settled func(Job) bool) (Job, error) {
	return s.owned(ctx, l, doing, change{expr: expr, cond: ours, values: values, names: ns}, settled)
}

func (s *Store) owned(ctx context.Context, l Lease, doing string, c change, settled func(Job) bool) (Job, error) {
	v := map[string]any{":attempt": l.Attempt, ":fence": l.Fence, ":claimed": Claimed}
	maps.Copy(v, c.values)
	c.values = v
	job, err := s.update(ctx, l.AnalysisID, doing, c)
	if r := asRefused(err); r != nil {
		if w := r.winner; w != nil && w.Attempt == l.Attempt && w.Fence == l.Fence && settled != nil && settled(*w) {
			return *w, nil
		}
		return Job{}, fmt.Errorf("%s %s under fence %d: %w", doing, l.AnalysisID, l.Fence, ErrLost)
	}
	return job, err
}

// Mark is what an owner reports of its pass.
type Mark struct {
	Progress
	Begun string // CheckpointID of the chunk being worked on, "" for none
}

// expr adds a mark to a SET expression.
func (m Mark) expr(values map[string]any) string {
	values[":progress"] = m.Progress
	if m.Begun == "" {
		return ", #progress = :progress"
	}
	values[":begun"] = m.Begun
	return ", #progress = :progress, #begun = :begun"
}

// Renew extends the lease and reports progress. The Job that it gives holds the
// tokens as they are now. It returns ErrLost, or ErrEnded (with the Job) when
// the analysis has ended or was restarted: the pass is for nobody. Where a later
// write of the owner's came first, nothing is left to renew.
func (s *Store) Renew(ctx context.Context, l Lease, m Mark) (Job, error) {
	until := s.now().Add(s.LeaseDuration())
	v := map[string]any{":until": until}
	job, err := s.owned(ctx, l, "renew", change{expr: "SET #until = :until" + m.expr(v), cond: ours + forward, values: v}, overtaken(until))
	if err != nil {
		return Job{}, err
	}
	row, err := analysis.Get(ctx, s.DB, s.Analyses, l.AnalysisID)
	if err != nil {
		return job, nil // the lease holds; whether anyone waits is asked again next time
	}
	if row.Status != analysis.Analysing || row.Attempt != l.Attempt {
		return job, fmt.Errorf("renew %s at attempt %d: %w (%s, attempt %d)", l.AnalysisID, l.Attempt, ErrEnded, row.Status, row.Attempt)
	}
	return job, nil
}

// overtaken tells a row that refused a write for its lease's end alone: a later
// write of the same owner has set a later one.
func overtaken(until time.Time) func(Job) bool {
	return func(w Job) bool { return w.State == Claimed && w.Until.After(until) }
}

// Saved is a chunk that its owner has stored.
type Saved struct {
	Clip, Chunk int
	Checkpoint
	// Redone is the row's count of chunks done again, this one among them, where the
	// row had this checkpoint before and its object was no use; 0 for a new one. Its
	// owner alone writes that count, so that it is written as it is to be and not
	// raised: a write whose answer was lost is repeated.
	Redone int
}

// Checkpoint makes a stored chunk count, extends the lease and clears the counts
// of deaths and returns. It returns ErrLost.
func (s *Store) Checkpoint(ctx context.Context, l Lease, c Saved, m Mark) (Job, error) {
	until := s.now().Add(s.LeaseDuration())
	later := false
	job, err := s.checkpoint(ctx, l, c, m, map[string]any{":until": until}, func(w Job) bool {
		later = overtaken(until)(w)
		return later
	})
	if err == nil && later { // the chunk counts all the same
		return s.checkpoint(ctx, l, c, m, map[string]any{}, nil)
	}
	return job, err
}

// checkpoint makes the write, which extends the lease if v has its new end.
func (s *Store) checkpoint(ctx context.Context, l Lease, c Saved, m Mark, v map[string]any, settled func(Job) bool) (Job, error) {
	expr, cond := "SET #checkpoints.#c = :c", ours
	if v[":until"] != nil {
		expr, cond = expr+", #until = :until", ours+forward
	}
	v[":c"] = c.Checkpoint
	expr += m.expr(v)
	if c.Redone > 0 {
		v[":redone"] = c.Redone
		expr += ", #redone = :redone"
	} else {
		v[":zero"] = 0
		expr += ", #deaths = :zero, #returns = :zero"
	}
	if m.Begun == "" {
		expr += " REMOVE #begun"
	}
	return s.owned(ctx, l, "checkpoint", change{expr: expr, cond: cond, values: v,
		names: map[string]string{"#c": CheckpointID(c.Clip, c.Chunk)}}, settled)
}

// Complete stores the result. The Job that it gives holds token 2 if it is
// registered; if not, Await will find the result. It returns ErrLost.
func (s *Store) Complete(ctx context.Context, l Lease, result names.VerdictOut) (Job, error) {
	now := s.now()
	return s.own(ctx, l, "complete",
		"SET #state = :done, #result = :result, #ended_at = :now, #progress = :progress "+
			"REMOVE #owner, #until, #message, #begun",
		map[string]any{":done": Done, ":result": result, ":now": now,
			":progress": Progress{Fraction: 1, Stage: "done", MovedAt: now}}, nil,
		func(w Job) bool { return w.State == Done && w.Result != nil && *w.Result == result })
}

// Fail ends the job for good. It returns ErrLost.
func (s *Store) Fail(ctx context.Context, l Lease, f Failure) (Job, error) {
	return s.own(ctx, l, "fail",
		"SET #state = :failed, #failure = :failure, #ended_at = :now REMOVE #owner, #until, #message, #begun",
		map[string]any{":failed": Failed, ":failure": f, ":now": s.now()}, nil,
		func(w Job) bool { return w.State == Failed })
}

// Release gives the job back on purpose: the next claim need not wait for the
// lease to run out, and no death is counted. It returns ErrLost.
func (s *Store) Release(ctx context.Context, l Lease) (Job, error) {
	return s.own(ctx, l, "release", "SET #state = :waiting REMOVE #owner, #until, #message",
		map[string]any{":waiting": Waiting}, nil,
		func(w Job) bool { return w.State == Waiting })
}

// GiveUp gives the job back after a try that failed, which counts as a death;
// the third without a new checkpoint fails the job. It returns ErrLost.
func (s *Store) GiveUp(ctx context.Context, l Lease, detail string) (Job, error) {
	job, err := s.Get(ctx, l.AnalysisID)
	if err != nil {
		return Job{}, err
	}
	expr := "SET #state = :next, #deaths = :deaths REMOVE #owner, #until, #message"
	v := map[string]any{":next": Waiting, ":deaths": job.Deaths + 1}
	if job.Deaths+1 >= names.MaxDeaths {
		expr = "SET #state = :next, #deaths = :deaths, #failure = :failure, #ended_at = :now REMOVE #owner, #until, #message"
		v[":next"], v[":now"] = Failed, s.now()
		v[":failure"] = Failure{Error: fault.PoseFailed, Detail: detail}
	}
	return s.own(ctx, l, "give up", expr, v, nil, func(w Job) bool { return w.State == Waiting || w.State == Failed })
}

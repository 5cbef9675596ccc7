package posejob

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"time"

	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/fault"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/stamp"
)

// rounds bounds how often an operation looks again after it lost a race.
const rounds = 8

// Enqueue registers a token 1 with the job of this attempt, creating the job when
// it is new, and gives the row as it then stands: a job that is claimed by a
// live owner, done or failed is the caller's to answer. A repeated call only
// replaces the token. A row of an earlier attempt starts afresh and keeps its
// fence, so that an owner of that attempt is refused.
//
// A token 2 found on the row is dead: its state has been left without a result.
// That counts as a return to dispatch; the third without a new checkpoint fails
// the job. ErrEnded says that the analysis has ended or is at a later attempt,
// ErrStale (with the Job) that this call is a slow duplicate of an earlier visit.
// On the HTTP road nobody waits for the claim, and the token is "".
func (s *Store) Enqueue(ctx context.Context, in names.TokenIn) (Job, error) {
	run, token1, visit := in.Run, in.TaskToken, visitOf(in)
	row, err := analysis.Get(ctx, s.DB, s.Analyses, run.AnalysisID)
	if err != nil {
		return Job{}, fmt.Errorf("enqueue: %w", err)
	}
	if row.Status != analysis.Analysing || row.Attempt != run.Attempt {
		return Job{}, fmt.Errorf("enqueue %s at attempt %d: %w (%s, attempt %d)",
			run.AnalysisID, run.Attempt, ErrEnded, row.Status, row.Attempt)
	}
	c := s.replaceToken(run, token1)
	for range rounds {
		job, err := s.update(ctx, run.AnalysisID, "enqueue", c.visitedBy(visit))
		r := asRefused(err)
		if r == nil {
			return job, err
		}
		switch w := r.winner; {
		case w == nil:
			c = s.create(run, token1)
		case w.Attempt > run.Attempt:
			return *w, fmt.Errorf("enqueue %s at attempt %d: %w (attempt %d)", run.AnalysisID, run.Attempt, ErrEnded, w.Attempt)
		case w.Attempt < run.Attempt:
			c = s.startAfresh(run, token1, *w)
		case visit != "" && w.Visit > visit:
			return *w, fmt.Errorf("enqueue %s of %s: %w (%s)", run.AnalysisID, visit, ErrStale, w.Visit)
		case w.Token2 == "":
			c = s.replaceToken(run, token1)
		default:
			c = s.countReturn(run, token1, *w)
		}
	}
	return Job{}, fault.New(fault.Transient, "enqueue %s: lost %d races in a row", run.AnalysisID, rounds)
}

func (s *Store) replaceToken(run names.Run, token1 string) change {
	return change{
		expr:   "SET #token1 = :token1",
		cond:   "#attempt = :attempt AND attribute_not_exists(#token2)",
		values: map[string]any{":token1": token1, ":attempt": run.Attempt},
	}
}

// fresh are the attributes of a job at the start of an attempt, but its fence.
const fresh = "SET #attempt = :attempt, #state = :waiting, #token1 = :token1, #checkpoints = :none, " +
	"#progress = :progress, #deaths = :zero, #returns = :zero, #redone = :zero, #created_at = :now"

func (s *Store) freshValues(run names.Run, token1 string) map[string]any {
	now := s.now()
	return map[string]any{
		":attempt": run.Attempt, ":waiting": Waiting, ":token1": token1,
		":none": map[string]Checkpoint{}, ":progress": Progress{Stage: "waiting for a worker", MovedAt: now},
		":zero": 0, ":now": now,
	}
}

func (s *Store) create(run names.Run, token1 string) change {
	return change{
		expr:   fresh + ", #fence = :zero",
		cond:   "attribute_not_exists(#analysis_id)",
		fresh:  true,
		values: s.freshValues(run, token1),
	}
}

func (s *Store) startAfresh(run names.Run, token1 string, old Job) change {
	v := s.freshValues(run, token1)
	v[":old"] = old.Attempt
	return change{
		expr: fresh + " REMOVE #token2, #owner, #until, #message, #begun, #engine, #model, " +
			"#result, #failure, #claimed_at, #ended_at",
		cond:   "#attempt = :old",
		fresh:  true,
		values: v,
	}
}

// countReturn takes the dead token 2 away, which makes the count idempotent.
func (s *Store) countReturn(run names.Run, token1 string, old Job) change {
	c := change{
		expr: "SET #token1 = :token1 REMOVE #token2",
		cond: "#attempt = :attempt AND #token2 = :token2 AND #state = :state AND #returns = :returns",
		values: map[string]any{":token1": token1, ":token2": old.Token2,
			":attempt": run.Attempt, ":state": old.State, ":returns": old.Returns},
	}
	switch {
	case old.State.Ended():
		return c // only its answer was lost: nothing to count
	case old.Returns+1 < names.MaxReturns:
		c.expr = "SET #token1 = :token1, #returns = #returns + :one REMOVE #token2"
		c.values[":one"] = 1
		return c
	}
	c.expr = "SET #token1 = :token1, #returns = #returns + :one, #state = :failed, #failure = :failure, " +
		"#ended_at = :now REMOVE #token2, #owner, #until, #message"
	c.values[":one"] = 1
	c.values[":failed"] = Failed
	c.values[":failure"] = Failure{Error: fault.PoseFailed,
		Detail: fmt.Sprintf("returned to dispatch %d times without a new checkpoint", names.MaxReturns)}
	c.values[":now"] = s.now()
	return c
}

// Await registers a token 2 with the job of this attempt and gives the row as it
// then stands: a job that is done or failed, or that nobody owns any more, is
// the caller's to answer. ErrEnded says that the row is at a later attempt,
// ErrStale (with the Job) that this call is a slow duplicate of an earlier visit.
func (s *Store) Await(ctx context.Context, in names.TokenIn) (Job, error) {
	run, visit := in.Run, visitOf(in)
	job, err := s.update(ctx, run.AnalysisID, "await", change{
		expr:   "SET #token2 = :token2",
		cond:   "#attempt = :attempt",
		values: map[string]any{":token2": in.TaskToken, ":attempt": run.Attempt},
	}.visitedBy(visit))
	if r := asRefused(err); r != nil {
		if r.winner == nil || r.winner.Attempt < run.Attempt {
			return Job{}, fmt.Errorf("await %s at attempt %d: %w", run.AnalysisID, run.Attempt, ErrNoJob)
		}
		if r.winner.Attempt == run.Attempt {
			return *r.winner, fmt.Errorf("await %s of %s: %w (%s)", run.AnalysisID, visit, ErrStale, r.winner.Visit)
		}
		return *r.winner, fmt.Errorf("await %s at attempt %d: %w (attempt %d)", run.AnalysisID, run.Attempt, ErrEnded, r.winner.Attempt)
	}
	return job, err
}

// visitOf names a try of a state's visit so that later ones sort behind earlier
// ones; "" when the payload does not say, which leaves the order unguarded.
func visitOf(in names.TokenIn) string {
	at, err := time.Parse(time.RFC3339Nano, in.Entered)
	if err != nil {
		return ""
	}
	return fmt.Sprintf("%s/%03d", stamp.Format(at), in.Retry)
}

// visitedBy makes a change one of a visit: it is refused once a later visit has
// been here.
func (c change) visitedBy(visit string) change {
	if visit == "" {
		return c
	}
	c.expr = strings.Replace(c.expr, "SET ", "SET #visit = :visit, ", 1)
	c.values = maps.Clone(c.values)
	c.values[":visit"] = visit
	if !c.fresh {
		c.cond += " AND (attribute_not_exists(#visit) OR #visit <= :visit)"
	}
	return c
}

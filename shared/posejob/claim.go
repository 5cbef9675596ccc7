package posejob

import (
	"context"
	"errors"
	"fmt"

	ddb "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/fault"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/txn"
)

// Claimant is who claims. Name must be new for every claim that a process
// makes: a claim whose answer was lost is recognised by it.
type Claimant struct {
	Name    string
	Engine  string // checkpoints of another engine or model start over
	Model   string
	Message string // id of the queue message that brought the job, "" on another road
}

// Claim makes by the owner, in one transaction with the condition that the
// analysis is open at the job's attempt; the first claim of an attempt starts
// the analysis' deadline. A lease that ran out on its owner is
// taken over once it is ClockSkew past its end, which counts as a death; the
// third without a new checkpoint fails the job instead.
//
// Errors: *HeldError, ErrFinished (with the Job: its tokens may be unanswered),
// ErrEnded (with the Job), ErrNoJob.
func (s *Store) Claim(ctx context.Context, id string, by Claimant) (Job, error) {
	job, err := s.Get(ctx, id)
	for range rounds {
		if err != nil {
			return Job{}, err
		}
		switch {
		case job.State.Ended():
			return job, fmt.Errorf("claim %s: %w", id, ErrFinished)
		case job.State == Claimed && job.Owner == by.Name:
			return job, nil
		case job.Live(s.now(), s.ClockSkew()):
			return job, &HeldError{Owner: job.Owner, Until: job.Until.Add(s.ClockSkew()), Message: job.Message}
		case job.State == Claimed && job.Deaths+1 >= names.MaxDeaths:
			job, err = s.bury(ctx, job)
			continue
		}
		claimed, terr := s.take(ctx, job, by)
		if terr == nil || errors.Is(terr, ErrEnded) {
			return claimed, terr
		}
		// Another was first, or nobody knows: the row does.
		if job, err = s.Get(ctx, id); err == nil && !errors.Is(terr, errRace) && job.Owner != by.Name {
			return Job{}, terr
		}
	}
	return Job{}, fault.New(fault.Transient, "claim %s: lost %d races in a row", id, rounds)
}

// errRace says that the job was not as read.
var errRace = errors.New("pose job changed under the claim")

// take is the claim's transaction. With ErrEnded it gives the job as read.
func (s *Store) take(ctx context.Context, job Job, by Claimant) (Job, error) {
	next := s.claimed(job, by)
	c := claimChange(job, next)
	ns, vs, err := c.attributes()
	if err != nil {
		return Job{}, fmt.Errorf("claim %s: %w", job.AnalysisID, err)
	}
	err = txn.Write(ctx, s.DB, s.Retry, []ddb.TransactWriteItem{
		{Update: &ddb.Update{
			TableName: &s.Table, Key: key(job.AnalysisID),
			UpdateExpression: &c.expr, ConditionExpression: &c.cond,
			ExpressionAttributeNames: ns, ExpressionAttributeValues: vs,
		}},
		analysis.MarkClaimed(s.Analyses, job.AnalysisID, job.Attempt, next.ClaimedAt),
	})
	if err == nil {
		return next, nil
	}
	if _, moved := txn.Guard(err); moved {
		return Job{}, errRace
	}
	if txn.Failed(err, 1) {
		return job, fmt.Errorf("claim %s at attempt %d: %w", job.AnalysisID, job.Attempt, ErrEnded)
	}
	return Job{}, fmt.Errorf("claim %s: %w", job.AnalysisID, err)
}

// claimed is the job as it will be once by owns it.
func (s *Store) claimed(job Job, by Claimant) Job {
	next, now := job, s.now()
	next.State, next.Owner, next.Message = Claimed, by.Name, by.Message
	next.Fence, next.Until = job.Fence+1, now.Add(s.LeaseDuration())
	next.Engine, next.Model, next.Begun = by.Engine, by.Model, ""
	if job.ClaimedAt.IsZero() {
		next.ClaimedAt = now
	}
	if job.State == Claimed {
		next.Deaths++ // its owner never said why it fell silent
	}
	if job.underWork() {
		next.Redone++
	}
	if len(job.Checkpoints) > 0 && (job.Engine != by.Engine || job.Model != by.Model) {
		next.Redone += len(job.Checkpoints)
		next.Checkpoints = map[string]Checkpoint{}
	}
	return next
}

// claimChange turns job into next if it still is as it was read. The lease's end
// is part of the condition: an owner that renews or saves in between wins.
func claimChange(job, next Job) change {
	c := change{
		expr: "SET #state = :claimed, #owner = :owner, #message = :message, #fence = :next, #until = :until, " +
			"#engine = :engine, #model = :model, #claimed_at = :claimed_at, #deaths = :deaths, #redone = :redone",
		cond: "#attempt = :attempt AND #fence = :fence AND #state = :state",
		values: map[string]any{
			":claimed": Claimed, ":owner": next.Owner, ":message": next.Message, ":next": next.Fence,
			":until": next.Until, ":engine": next.Engine, ":model": next.Model, ":claimed_at": next.ClaimedAt,
			":deaths": next.Deaths, ":redone": next.Redone,
			":attempt": job.Attempt, ":fence": job.Fence, ":state": job.State,
		},
	}
	if len(next.Checkpoints) != len(job.Checkpoints) {
		c.expr += ", #checkpoints = :none"
		c.values[":none"] = next.Checkpoints
	}
	c.expr += " REMOVE #begun"
	if job.State == Claimed {
		c.cond += " AND #until = :read"
		c.values[":read"] = job.Until
	}
	return c
}

// bury fails a job whose owner died once too often; a job that changed meanwhile
// is given back as it stands.
func (s *Store) bury(ctx context.Context, job Job) (Job, error) {
	out, err := s.update(ctx, job.AnalysisID, "fail", change{
		expr: "SET #state = :failed, #deaths = #deaths + :one, #failure = :failure, #ended_at = :now " +
			"REMOVE #owner, #until, #message",
		cond: "#attempt = :attempt AND #fence = :fence AND #state = :claimed AND #until = :read",
		values: map[string]any{
			":failed": Failed, ":one": 1, ":failure": poison(), ":now": s.now(),
			":attempt": job.Attempt, ":fence": job.Fence, ":claimed": Claimed, ":read": job.Until,
		},
	})
	if r := asRefused(err); r != nil && r.winner != nil {
		return *r.winner, nil
	}
	return out, err
}

func poison() Failure {
	return Failure{Error: fault.PoseFailed,
		Detail: fmt.Sprintf("its owner died %d times without a new checkpoint", names.MaxDeaths)}
}

package histories

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"fastbowlinglab/integration/faults"
	"fastbowlinglab/integration/virtual"
	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/budget"
	"fastbowlinglab/shared/credit"
	"fastbowlinglab/shared/effect"
	"fastbowlinglab/shared/lease"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/outcome"
	"fastbowlinglab/shared/reason"
	"fastbowlinglab/shared/retry"
)

func TestMain(m *testing.M) {
	slog.SetDefault(slog.New(slog.NewTextHandler(io.Discard, nil)))
	retry.DefaultRand = func() float64 { return 1 }
	os.Exit(m.Run())
}

const seeds = 12

// few tries, so that many outcomes stay unknown
func few(c *virtual.Cloud) { c.Retry.Tries = 1 }

func as(name string, client int) context.Context {
	return virtual.As(context.Background(), fmt.Sprintf("%s-%d", name, client))
}

func each(t *testing.T, m func(*recorder) porcupine.NondeterministicModel, body func(c *virtual.Cloud, d faults.Dice, r *recorder)) {
	t.Helper()
	open := 0
	for seed := range uint64(seeds) {
		var rec *recorder
		ops := world(t, seed, nil, func(c *virtual.Cloud, d faults.Dice, r *recorder) { rec = r; body(c, d, r) })
		if len(ops) == 0 {
			t.Fatalf("seed %d: nothing happened", seed)
		}
		for _, o := range ops {
			if _, ok := o.Output.(unknown); ok {
				open++
			}
		}
		if err := explained(m(rec), ops); err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
	}
	if open == 0 {
		t.Error("no outcome was unknown: the histories are too tame")
	}
	t.Logf("%d histories, %d outcomes left open", seeds, open)
}

func ends(c *virtual.Cloud, d faults.Dice, r *recorder) {
	setup := virtual.As(context.Background(), "setup")
	id := begun(setup, c)
	few(c)
	clients(5, func(n int) {
		time.Sleep(d.Between(0, 3*time.Millisecond, fmt.Sprint("start ", n)))
		by, st := fmt.Sprintf("client-%d", n), []string{"ready", "failed", "rejected"}[n%3]
		for range 2 {
			_, _ = r.call(n, endIn{by, st}, func() (any, error) {
				res, err := end(as("end", n), c.Ends(), id, by, st)
				return endOut{res.Won, string(res.Status)}, err
			})
		}
	})
}

func begun(ctx context.Context, c *virtual.Cloud) string {
	if err := c.Grant(ctx, 1); err != nil {
		panic(err)
	}
	id, err := c.Submit(ctx, "key")
	if err != nil {
		panic(err)
	}
	if _, err := c.Life().Begin(ctx, id, 1, analysis.ExecutionName(id, 1), nil); err != nil {
		panic(err)
	}
	return id
}

func end(ctx context.Context, s outcome.Store, id, by, status string) (outcome.Result, error) {
	switch status {
	case "ready":
		return s.Deliver(ctx, id, 1, by, outcome.Report{PDFKey: "p", JSONKey: "j", ResultKey: "r"})
	case "rejected":
		return s.Reject(ctx, id, 1, by, reason.NotBowling)
	}
	return s.Fail(ctx, id, 1, "", by, reason.StageFailed)
}

func TestOutcome(t *testing.T) {
	each(t, func(*recorder) porcupine.NondeterministicModel { return endModel() }, ends)
}

func TestCredit(t *testing.T) {
	each(t, func(*recorder) porcupine.NondeterministicModel { return ledgerModel() }, credits)
}

func credits(c *virtual.Cloud, d faults.Dice, r *recorder) {
	few(c)
	sub := analysis.Submission{AthleteName: "A", TimeZone: "UTC", Consent: true, Clips: []analysis.Clip{{Name: "c", Type: "video/mp4", SizeBytes: 1}}}
	clients(4, func(n int) {
		ctx := as("credit", n)
		for k := range 4 {
			key := fmt.Sprint(d.IntN(3, fmt.Sprint("key ", n, k)))
			switch d.IntN(3, fmt.Sprint("op ", n, k)) {
			case 0:
				_, _ = r.call(n, ledgerIn{"grant", key, 1}, func() (any, error) {
					_, err := c.Ledger().Enter(ctx, credit.Grant{AthleteID: virtual.Athlete, Credits: 1, Operator: "op", Key: key, Reason: "r"})
					return ledgerOut{ok: true}, err
				})
			case 1:
				_, _ = r.call(n, ledgerIn{"reserve", key, -1}, func() (any, error) {
					_, _, err := c.Life().Create(ctx, virtual.Athlete, key, sub)
					if errors.Is(err, analysis.ErrNoCredit) {
						return ledgerOut{}, nil
					}
					return ledgerOut{ok: true}, err
				})
			default:
				_, _ = r.call(n, ledgerIn{kind: "read"}, func() (any, error) {
					l, err := c.Ledger().Read(ctx, virtual.Athlete)
					return ledgerOut{balance: l.Balance}, err
				})
			}
		}
	})
}

func TestLease(t *testing.T) {
	each(t, func(*recorder) porcupine.NondeterministicModel { return leaseModel() }, leased)
}

func leased(c *virtual.Cloud, _ faults.Dice, r *recorder) {
	few(c)
	s := lease.Store{DB: c.DB, Table: names.Effects.Name, Retry: c.Retry}
	clients(4, func(n int) {
		for k := range 3 {
			ctx, owner := as("lease", n), fmt.Sprintf("client-%d-%d", n, k)
			out, err := r.call(n, leaseIn{kind: "acquire", owner: owner}, func() (any, error) {
				l, err := s.Acquire(ctx, "one", owner, 100*time.Hour)
				var held *lease.Held
				if errors.As(err, &held) {
					return leaseOut{owner: held.Owner}, nil
				}
				leases.store(owner, l)
				return leaseOut{ok: true, fence: l.Fence}, err
			})
			if got, ok := out.(leaseOut); err != nil || !ok || !got.ok {
				continue
			}
			l := leases.load(owner)
			_, _ = r.call(n, leaseIn{"renew", owner, l.Fence}, func() (any, error) {
				_, err := s.Renew(ctx, l, 100*time.Hour)
				if errors.Is(err, lease.ErrLost) {
					return leaseOut{}, nil
				}
				return leaseOut{ok: true}, err
			})
			_, _ = r.call(n, leaseIn{"release", owner, l.Fence}, func() (any, error) { return leaseOut{ok: true}, s.Release(ctx, l) })
		}
	})
}

// places is how the budget's history is made, and the limit that it must keep.
var places = budget.Limit{Rate: 10, Burst: 3}

func TestBudget(t *testing.T) {
	var start time.Time
	each(t, func(*recorder) porcupine.NondeterministicModel { return placesModel(start) }, reserving(&start))
}

func placesModel(start time.Time) porcupine.NondeterministicModel {
	return budgetModel(start, 100*time.Millisecond, places.Burst)
}

func reserving(start *time.Time) func(c *virtual.Cloud, d faults.Dice, r *recorder) {
	return func(c *virtual.Cloud, d faults.Dice, r *recorder) {
		few(c)
		*start = time.Now().Truncate(time.Microsecond)
		at := *start
		s := budget.Store{DB: c.DB, Table: names.Effects.Name, Retry: c.Retry, Now: func() time.Time { return at }}
		clients(4, func(n int) {
			for range 4 {
				_, _ = r.call(n, nil, func() (any, error) {
					due, err := s.Reserve(as("budget", n), "one", places, 1, time.Hour)
					return budgetOut{due}, err
				})
			}
		})
	}
}

func TestEffect(t *testing.T) {
	each(t, func(*recorder) porcupine.NondeterministicModel { return effectModel() }, once)
}

func once(c *virtual.Cloud, d faults.Dice, r *recorder) {
	few(c)
	s := effect.New(c.DB, names.Effects.Name, effect.Takeovers(1), effect.Retry(c.Retry))
	clients(4, func(n int) {
		for k := range 4 {
			mine := fmt.Sprintf("result of %d/%d", n, k)
			time.Sleep(d.Between(0, 90*time.Second, mine))
			_, _ = r.call(n, mine, func() (any, error) {
				out, err := s.Once(as("effect", n), "one", 30*time.Second, func(ctx context.Context) ([]byte, error) {
					time.Sleep(d.Between(time.Second, 5*time.Second, "takes "+mine))
					return []byte(mine), nil
				})
				return effectOut{string(out)}, err
			})
		}
	})
}

// Callers that die, and callers that come back after their claim was taken over:
// fn outlives its context here.
func TestEffectTakenOver(t *testing.T) {
	each(t, func(*recorder) porcupine.NondeterministicModel { return effectModel() }, takenOver)
}

func takenOver(c *virtual.Cloud, d faults.Dice, r *recorder) {
	few(c)
	s := effect.New(c.DB, names.Effects.Name, effect.Takeovers(1), effect.Retry(c.Retry))
	const lease = 30 * time.Second
	ask := func(n int, takes time.Duration) {
		mine := fmt.Sprint("result of ", n)
		_, _ = r.call(n, mine, func() (any, error) {
			out, err := s.Once(as("effect", n), "one", lease, func(context.Context) ([]byte, error) {
				time.Sleep(takes)
				return []byte(mine), nil
			})
			return effectOut{string(out)}, err
		})
	}
	clients(4, func(n int) {
		if n == 0 {
			ask(n, lease+effect.DefaultSkew+d.Between(10*time.Second, 20*time.Second, "outlives"))
			return
		}
		time.Sleep(lease + effect.DefaultSkew + time.Second) // all three at once
		ask(n, d.Between(time.Second, 5*time.Second, fmt.Sprint("takes ", n)))
		time.Sleep(30 * time.Second)
		ask(n, time.Second)
	})
}

package poseworker

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/s3"

	"fastbowlinglab/functions/internal/posetest"
	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/fault"
	"fastbowlinglab/shared/media"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/posejob"
	"fastbowlinglab/shared/retry"
)

// waiting is a pass that has its real timers and nothing to do.
func waiting() *pass {
	return &pass{d: Deps{Timers: Timers{}.withDefaults()}, log: slog.Default(),
		keeper: &keeper{progress: newProgress(time.Now, posejob.Progress{})}}
}

func noStorage() error { return fault.Wrap(fault.Transient, media.ErrAway, "storage answered 503") }

// Storage that is away for half an hour is waited out, and is no stall of the pass; one
// that stays away fails the try.
func TestStorageMayBeAwayForHalfAnHour(t *testing.T) {
	for _, c := range []struct {
		name      string
		away, try time.Duration
		ok        bool
	}{
		{"HalfAnHour", 31 * time.Minute, time.Second, true},
		{"AnswersLate", 31 * time.Minute, names.PoseStoreTime, true},
		{"ForGood", 24 * time.Hour, time.Second, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p, start, tries := waiting(), time.Now(), 0
				err := p.patient(t.Context(), "store", func() (time.Time, error) {
					tries++
					time.Sleep(c.try)
					if _, still := p.keeper.progress.current(); still > names.PoseNoProgress-names.KeeperPeriod {
						t.Errorf("try %d: nothing has moved for %s", tries, still)
					}
					if time.Since(start) < c.away {
						return time.Time{}, noStorage()
					}
					return time.Time{}, nil
				})
				took := time.Since(start)
				if (err == nil) != c.ok || took > names.PoseAway+2*time.Minute || !c.ok && took < names.PoseAway {
					t.Errorf("%v after %s", err, took)
				}
				if tries > 60 {
					t.Errorf("%d tries", tries)
				}
				if mark, _ := p.keeper.progress.current(); mark.Stage != "waiting for storage" || mark.MovedAt.After(start) {
					t.Errorf("the row would say %+v", mark)
				}
			})
		})
	}
}

// An absence is over when storage answers, and each part of a pass knows of that of the
// others: what waits inside another wait does not make it twice as long.
func TestAbsencesAreOfThePass(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, start := waiting(), time.Now()
		never := func() (time.Time, error) { return time.Time{}, noStorage() }
		err := p.patient(t.Context(), "read", func() (time.Time, error) { return time.Time{}, p.patient(t.Context(), "store", never) })
		if took := time.Since(start); err == nil || took > names.PoseAway+2*time.Minute {
			t.Errorf("%v after %s", err, took)
		}
	})
	synctest.Test(t, func(t *testing.T) { // what can be stored says nothing of what cannot be read
		p, start := waiting(), time.Now()
		err := p.patient(t.Context(), "read", func() (time.Time, error) {
			stored := p.patient(t.Context(), "store", func() (time.Time, error) { return time.Time{}, nil })
			return time.Time{}, errors.Join(stored, noStorage())
		})
		if took := time.Since(start); err == nil || took > names.PoseAway+2*time.Minute {
			t.Errorf("%v after %s", err, took)
		}
	})
	synctest.Test(t, func(t *testing.T) { // a chunk between two absences makes them two
		p, start := waiting(), time.Now()
		err := p.patient(t.Context(), "read", func() (time.Time, error) {
			if now := time.Since(start); now > 30*time.Minute && now < 32*time.Minute {
				p.stats.chunks.Add(1)
			}
			if time.Since(start) > time.Hour {
				return time.Time{}, nil
			}
			return time.Time{}, noStorage()
		})
		if err != nil {
			t.Errorf("%v after %s", err, time.Since(start))
		}
	})
}

// hanging is storage that takes a request and says nothing.
type hanging struct{ Objects }

func (hanging) PutObject(ctx context.Context, _ *s3.PutObjectInput, _ ...func(*s3.Options)) (*s3.PutObjectOutput, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func (hanging) GetObject(ctx context.Context, _ *s3.GetObjectInput, _ ...func(*s3.Options)) (*s3.GetObjectOutput, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func TestSilentStorageIsAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := chunkStore{objects: hanging{}, retry: retry.Policy{}, log: slog.Default()}
		start := time.Now()
		put := s.put(t.Context(), "k", "x", nil)
		_, load := s.load(t.Context(), []posejob.Checkpoint{{Key: "k"}})
		if !errors.Is(put, media.ErrAway) || !errors.Is(load, media.ErrAway) || time.Since(start) != 2*names.PoseStoreTime {
			t.Errorf("%v; %v after %s", put, load, time.Since(start))
		}
	})
}

// On both roads: storage is away for longer than a pass is patient with anything else, and
// the job has not died of it, nor gone back to dispatch. Storage that stays away, for this
// clip alone or for all, ends the job all the same.
func TestStorageAwayOnBothRoads(t *testing.T) {
	const tries = 3 * names.PoseTries
	for _, road := range []string{"Queue", "HTTP"} {
		for _, what := range []string{"Clip", "Chunk", "Picture", "Result"} {
			t.Run(road+what, func(t *testing.T) {
				w, n, s := posetest.New(t, 1), new(atomic.Int32), &sight{chunks: 3}
				if key := map[string]string{"Chunk": "chunk-0-00001", "Picture": "frame-0", "Result": "result.json"}[what]; key == "" {
					s.before = at(1, func(context.Context) error { return less(n, tries) })
				} else {
					w.Objects.Fail(func(op, k string) error {
						if op == "PutObject" && strings.Contains(k, key) {
							return less(n, tries)
						}
						return nil
					})
				}
				d := depsFor(w, w.DB, s)
				d.Timers.Again, d.Retry.Tries = time.Millisecond, 1
				token2 := takeUp(t, w, d, road)
				job := waitState(t, w, posejob.Done)
				if _, total := s.most(); job.Fence != 1 || job.Deaths != 0 || job.Returns != 0 || total != 3 || n.Load() <= tries {
					t.Errorf("computed %v in %d tries; job %+v", s.computed, n.Load(), job)
				}
				waitFor(t, "token 2", func() bool { return w.Tokens.Get(token2).Output != "" })
			})
		}
		t.Run(road+"ForGood", func(t *testing.T) {
			w, s := posetest.New(t, 1), &sight{chunks: 3}
			s.before = at(1, func(context.Context) error { return noStorage() })
			d := depsFor(w, w.DB, s)
			d.Timers.Again, d.Timers.Away = time.Millisecond, 20*time.Millisecond
			r := start(t, d)
			for died := 1; died <= names.MaxDeaths; died++ {
				if road == "Queue" {
					if died == 1 {
						w.Dispatch(w.Run)
					}
				} else {
					enqueue(t, w)
					if code, _, _ := post(t, r, idBody(w.Run.AnalysisID)); code != 202 {
						t.Fatalf("posted: %d", code)
					}
				}
				waitFor(t, "a death", func() bool { w.Queue.Show(); return w.Job().Deaths >= died && w.Job().State != posejob.Claimed })
			}
			if j := waitState(t, w, posejob.Failed); j.Failure.Error != fault.PoseFailed {
				t.Errorf("job: %+v", j)
			}
		})
	}
}

// less fails as storage that is away for so many calls.
func less(n *atomic.Int32, tries int32) error {
	if n.Add(1) <= tries {
		return noStorage()
	}
	return nil
}

// takeUp has a worker take the job up by a road, and gives the token of its end.
func takeUp(t *testing.T, w *posetest.World, d Deps, road string) (token2 string) {
	t.Helper()
	if road == "HTTP" {
		enqueue(t, w)
		token2 = w.Await(w.Run)
		if code, _, _ := post(t, start(t, d), idBody(w.Run.AnalysisID)); code != 202 {
			t.Fatalf("posted: %d", code)
		}
		return token2
	}
	w.Dispatch(w.Run)
	token2 = w.Await(w.Run)
	start(t, d)
	return token2
}

// A pass that waits for storage hears SIGTERM, and that its analysis has ended, at once.
func TestAWaitForStorageEnds(t *testing.T) {
	begin := func(t *testing.T) (w *posetest.World, s *sight, r *running, token2 string) {
		w, s = posetest.New(t, 1), &sight{chunks: 3}
		g := newGate()
		close(g.open)
		s.before = at(1, func(ctx context.Context) error { _ = g.wait(ctx); return noStorage() })
		d := depsFor(w, w.DB, s)
		d.Timers.Again = 10 * time.Minute
		w.Dispatch(w.Run)
		token2 = w.Await(w.Run)
		r = start(t, d)
		<-g.at
		waitFor(t, "the row to say so", func() bool { return w.Job().Progress.Stage == "waiting for storage" })
		return w, s, r, token2
	}
	t.Run("Term", func(t *testing.T) {
		w, _, r, token2 := begin(t)
		r.term()
		if err := <-r.done; err != nil {
			t.Errorf("run: %v", err)
		}
		if j := w.Job(); j.State != posejob.Waiting || j.Deaths != 0 || len(j.Checkpoints) != 1 || w.Queue.Visible() != 1 {
			t.Errorf("job: %+v", j)
		}
		if got := w.Tokens.Get(token2); got.Error != string(fault.Released) {
			t.Errorf("token 2: %+v", got)
		}
	})
	t.Run("Ended", func(t *testing.T) {
		w, _, r, token2 := begin(t)
		w.Analysis(w.Run, analysis.Failed, 1)
		waitFor(t, "the run told", func() bool { return w.Tokens.Get(token2).Error == string(fault.Conceded) })
		waitFor(t, "the slot free", func() bool { return r.slots.Busy() == 0 && w.Queue.Len() == 0 })
	})
}

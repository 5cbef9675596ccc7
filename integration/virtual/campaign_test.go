package virtual_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"fastbowlinglab/functions/poseworker"
	"fastbowlinglab/integration/virtual"
	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/flags"
	"fastbowlinglab/shared/media"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/pose"
	"fastbowlinglab/shared/posejob"
)

// census counts the passes that run in each worker.
type census struct {
	mu      sync.Mutex
	running map[*virtual.Proc]int
	fresh   map[*virtual.Proc]string // clip of a pass that has saved nothing yet
	unlucky map[string]bool          // clips whose pass was killed like that
	peak    int
	passes  int
}

type counted struct {
	virtual.Sight
	census *census
	proc   *virtual.Proc
}

func (v counted) Track(ctx context.Context, src string, info media.Info, after *pose.Chunk, emit func(pose.Chunk) error) error {
	v.census.mu.Lock()
	clip, _, _ := strings.Cut(src, "?")
	v.census.running[v.proc]++
	v.census.fresh[v.proc] = clip
	v.census.passes++
	v.census.peak = max(v.census.peak, v.census.running[v.proc])
	v.census.mu.Unlock()
	defer func() {
		v.census.mu.Lock()
		defer v.census.mu.Unlock()
		v.census.running[v.proc]--
	}()
	return v.Sight.Track(ctx, src, info, after, func(c pose.Chunk) error {
		err := emit(c)
		v.census.mu.Lock()
		defer v.census.mu.Unlock()
		delete(v.census.fresh, v.proc)
		return err
	})
}

// kill kills a worker that is busy; false when it is spared. A job that is killed
// three times without having saved anything counts as poison, and rightly: one is
// killed like that once at most.
func (c *census) kill(p *virtual.Proc) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	clip, fresh := c.fresh[p]
	if c.running[p] == 0 || fresh && c.unlucky[clip] {
		return false
	}
	if fresh {
		c.unlucky[clip] = true
	}
	p.Kill()
	return true
}

// TestHundredJobs is the fleet's campaign, in virtual time: real functions, real
// definition, real workers' code (goroutines that a kill cuts off from the
// world), a real database; both roads live; a worker killed every few seconds.
func TestHundredJobs(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes half a minute")
	}
	const jobs, every = 100, 7 * time.Second
	seen := &census{running: map[*virtual.Proc]int{}, fresh: map[*virtual.Proc]string{}, unlucky: map[string]bool{}}
	opt := virtual.Options{Seed: 5, ColdStart: 5 * time.Second, Vision: func(p *virtual.Proc) poseworker.Vision {
		return counted{virtual.Sight{Chunks: 10, Each: 2 * time.Second}, seen, p}
	}}
	virtual.Run(t, opt, func(c *virtual.Cloud) {
		ctx, cancel := context.WithCancel(virtual.As(context.Background(), "test"))
		defer cancel()
		if err := c.Grant(ctx, jobs); err != nil {
			t.Error(err)
			return
		}
		c.Schedule(names.FnReconcile, names.ReconcilePeriod)
		ids := submitBoth(ctx, t, c, jobs)
		rnd := rand.New(rand.NewPCG(5, 5))
		kills, begun := 0, time.Now()
		left := ids
		for time.Since(begun) < 4*names.AnalysingDeadline && len(left) > 0 {
			wait(ctx, every)
			if alive := c.Living(); len(alive) > 0 {
				if seen.kill(alive[rnd.IntN(len(alive))]) {
					kills++
				}
			}
			for len(left) > 0 && endedNow(ctx, t, c, left[0]) {
				left = left[1:]
			}
		}
		took := time.Since(begun)
		redone, http := 0, 0
		for _, id := range ids {
			row, err := c.Life().Get(ctx, id)
			if err != nil {
				t.Error(err)
				continue
			}
			job, err := c.Jobs().Get(ctx, id)
			if err != nil {
				t.Error(err)
				continue
			}
			if row.Status != analysis.Ready || job.State != posejob.Done || job.Result == nil ||
				job.Result.ResultKey != names.PoseResultKey(id, 1, job.Fence) {
				t.Errorf("%s: %s %s, job %v, failure %+v, road %s", id, row.Status, row.Reason, job.LogValue(), job.Failure, row.Flags[flags.PoseRoad])
			}
			redone += job.Redone
			if row.Flags[flags.PoseRoad] == flags.RoadHTTP {
				http++
			}
		}
		t.Logf("%d jobs, %d of them over HTTP, in %s: %d kills, %d passes, %d chunks redone, at most %d at once in a worker, %d dead letters",
			jobs, http, took.Truncate(time.Second), kills, seen.passes, redone, seen.peak, c.DeadLetters())
		if http != jobs/2 || kills < 20 {
			t.Errorf("%d jobs over HTTP, %d kills: no test of anything", http, kills)
		}
		if redone > kills {
			t.Errorf("%d chunks redone after %d kills", redone, kills)
		}
		if seen.peak != 1 {
			t.Errorf("%d passes at once in a worker that runs 1", seen.peak)
		}
		if c.DeadLetters() != 0 {
			t.Errorf("%d dead letters", c.DeadLetters())
		}
	})
}

// submitBoth starts analyses, one half on each road.
func submitBoth(ctx context.Context, t *testing.T, c *virtual.Cloud, n int) []string {
	var ids []string
	for i := range n {
		road := flags.RoadQueue
		if i >= n/2 {
			road = flags.RoadHTTP
		}
		if i == n/2 {
			wait(ctx, time.Minute) // whoever began has read the flag
		}
		c.SetParameter("/flags/"+flags.PoseRoad, road)
		id, err := c.Submit(ctx, fmt.Sprint("key-", i))
		if err == nil {
			err = c.StartExecution(ctx, id, 1)
		}
		if err != nil {
			t.Error(err)
			return ids
		}
		ids = append(ids, id)
	}
	return ids
}

func endedNow(ctx context.Context, t *testing.T, c *virtual.Cloud, id string) bool {
	row, err := c.Life().Get(ctx, id)
	if err != nil {
		t.Error(err)
	}
	return err == nil && row.Status.Ended()
}

package fleet_test

import (
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	"github.com/aws/aws-sdk-go-v2/service/sfn/types"

	"fastbowlinglab/integration/fleet"
	"fastbowlinglab/integration/local"
	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/flags"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/posejob"
)

func TestMain(m *testing.M) {
	slog.SetDefault(slog.New(slog.DiscardHandler))
	os.Exit(m.Run())
}

// TestHundredJobsOfProcesses: four workers, one killed -9 every three seconds and now
// and then one stopped until another has taken its job over, a hundred jobs on both
// roads. Every job is done once in the store.
func TestHundredJobsOfProcesses(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes minutes")
	}
	const jobs, workers, every, stopEach = 100, 4, 3 * time.Second, 5
	w := start(t, "")
	if err := w.Tasks().SetDesired(workers); err != nil {
		t.Fatal(err)
	}
	ids := w.bothRoads(jobs)
	r := newReaper(w)
	begun := time.Now()
	tick := time.NewTicker(every)
	defer tick.Stop()
	for n, open := 1, ids; len(open) > 0; n, _ = n+1, <-tick.C {
		if time.Since(begun) > 12*time.Minute {
			t.Errorf("%d jobs are open after %s", len(open), time.Since(begun).Truncate(time.Second))
			break
		}
		r.wake()
		// A stop that found nobody is owed until it finds one.
		if r.stops >= n/stopEach || !r.strike(open, syscall.SIGSTOP) {
			r.strike(open, syscall.SIGKILL)
		}
		open = w.open(open)
	}
	took := time.Since(begun)
	found := w.check(ids, r.kills+r.stops)
	t.Logf("%s, in %s, %d kills -9, %d stops", found.summary, took.Truncate(time.Second), r.kills, r.stops)
	for _, p := range found.problems {
		t.Error(p)
	}
	if found.http != jobs/2 || r.kills < 10 || r.stops < 1 {
		t.Errorf("%d jobs over HTTP, %d kills, %d stops: no test of anything", found.http, r.kills, r.stops)
	}
}

// TestGuardsOff: what TestHundredJobsOfProcesses looks at fails when the semaphore is
// not one for both roads, and when an owner's writes do not ask for the fence.
func TestGuardsOff(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes a minute")
	}
	t.Run(fleet.OffSlots, func(t *testing.T) {
		mustFind(t, fleet.OffSlots, func(w *world) findings {
			ids := w.bothRoads(20)
			eventually(w.t, 5*time.Minute, "the jobs' ends", func() bool { return len(w.open(ids)) == 0 })
			return w.check(ids, 0)
		}, "at once in a worker")
	})
	t.Run(fleet.OffFence, func(t *testing.T) {
		mustFind(t, fleet.OffFence, func(w *world) findings {
			w.road(flags.RoadQueue)
			ids := w.submit(0, 12)
			r := newReaper(w)
			eventually(w.t, 6*time.Minute, "the jobs' ends", func() bool {
				r.wake()
				open := w.open(ids)
				if r.stops < 3 { // one that is stopped in the middle of a request may give up for that
					r.strike(open, syscall.SIGSTOP)
				}
				return len(open) == 0
			})
			return w.check(ids, r.stops)
		}, "finished twice", "the result is not that of its last owner")
	})
}

// mustFind plays a world of two workers with a guard off, and fails unless a problem of
// one of the kinds is found. When processes meet is the machine's affair, so a world in
// which they did not is played again, twice.
func mustFind(t *testing.T, off string, play func(*world) findings, kinds ...string) {
	t.Helper()
	for range 3 {
		played, found := false, false
		t.Run("world", func(t *testing.T) {
			w := start(t, off)
			if err := w.Tasks().SetDesired(2); err != nil {
				t.Fatal(err)
			}
			f := play(w)
			played = true
			t.Logf("%s; %q", f.summary, f.problems)
			found = slices.ContainsFunc(f.problems, func(p string) bool {
				return slices.ContainsFunc(kinds, func(kind string) bool { return strings.Contains(p, kind) })
			})
		})
		if found || !played { // it was skipped, or failed and has said so
			return
		}
	}
	t.Errorf("with a guard off nothing like %q was found", kinds)
}

// bothRoads submits n jobs, half of them on either road.
func (w *world) bothRoads(n int) []string {
	w.t.Helper()
	w.road(flags.RoadQueue)
	ids := w.submit(0, n/2)
	for _, id := range ids { // they have read the flag
		eventually(w.t, time.Minute, "the runs to begin", func() bool { return w.row(id).Flags[flags.PoseRoad] == flags.RoadQueue })
	}
	w.road(flags.RoadHTTP)
	return append(ids, w.submit(n/2, n/2)...)
}

// open gives those of the jobs that have no end, as long as their runs may bring one.
func (w *world) open(ids []string) (open []string) {
	for _, id := range ids {
		if !w.job(id).State.Ended() && w.execution(id).Status == types.ExecutionStatusRunning {
			open = append(open, id)
		}
	}
	return open
}

// findings are what the store, the diary and the queues say after all jobs.
type findings struct {
	problems []string
	http     int // jobs that came over HTTP
	summary  string
}

func (f *findings) add(format string, a ...any) {
	f.problems = append(f.problems, fmt.Sprintf(format, a...))
}

// check holds the store, the diary and the queues to what must hold after so many
// workers were killed or stopped.
func (w *world) check(ids []string, struck int) (f findings) {
	w.t.Helper()
	redone, passed := 0, 0
	for _, id := range ids {
		j, row := w.job(id), w.row(id)
		if row.Flags[flags.PoseRoad] == flags.RoadHTTP {
			f.http++
		}
		redone += j.Redone
		if w.runOf(id) {
			passed++
		}
		if j.State != posejob.Done || j.Result == nil {
			f.add("%s: %v, failure %+v, road %s", id, j.LogValue(), j.Failure, row.Flags[flags.PoseRoad])
			continue
		}
		if j.Result.ResultKey != names.PoseResultKey(id, 1, j.Fence) {
			f.add("%s: the result is not that of its last owner, under fence %d: %s", id, j.Fence, j.Result.ResultKey)
		}
		if _, err := s3.NewFromConfig(w.AWS(), func(o *s3.Options) { o.UsePathStyle = true }).HeadObject(w.t.Context(),
			&s3.HeadObjectInput{Bucket: ptr(names.Bucket), Key: &j.Result.ResultKey}); err != nil {
			f.add("%s: the result is not stored: %v", id, err)
		}
	}
	done, most := map[string]int{}, 0
	for _, n := range w.notes() {
		most = max(most, n.Running)
		if n.What == fleet.Did {
			done[n.Clip+"/"+strconv.Itoa(n.Chunk)]++
		}
	}
	again := 0
	for _, n := range done {
		again += n - 1
	}
	dead, left := w.depth(names.PoseQueue.DeadLetter), w.depth(names.PoseQueue.Name)
	f.summary = fmt.Sprintf("%d jobs, %d of them over HTTP: %d chunks redone by the rows, %d finished twice, at most %d at once in a worker, %d dead letters",
		len(ids), f.http, redone, again, most, dead)
	if len(done) != len(ids)*fleet.Chunks || passed != len(ids) {
		f.add("%d chunks and %d runs of %d jobs succeeded", len(done), passed, len(ids))
	}
	if redone > struck || again > struck {
		f.add("%d chunks redone, %d finished twice, after %d workers were struck", redone, again, struck)
	}
	if most != 1 {
		f.add("%d passes at once in a worker that runs 1", most)
	}
	if dead != 0 || left != 0 {
		f.add("%d dead letters, %d messages left", dead, left)
	}
	return f
}

// runOf waits for the end of an analysis's run: whether it succeeded.
func (w *world) runOf(id string) (succeeded bool) {
	w.t.Helper()
	eventually(w.t, 2*time.Minute, "the end of the run of "+id, func() bool {
		x := w.execution(id)
		succeeded = x.Status == types.ExecutionStatusSucceeded
		if x.Status != types.ExecutionStatusRunning && !succeeded {
			w.t.Logf("the run of %s: %s, %s: %s", id, x.Status, aws.ToString(x.Error), aws.ToString(x.Cause))
		}
		return x.Status != types.ExecutionStatusRunning
	})
	return succeeded
}

// execution is an analysis's run.
func (w *world) execution(id string) *sfn.DescribeExecutionOutput {
	w.t.Helper()
	arn, err := analysis.ExecutionARN(local.LiveARN, analysis.ExecutionName(id, 1))
	if err != nil {
		w.t.Fatal(err)
	}
	x, err := sfn.NewFromConfig(w.AWS()).DescribeExecution(w.t.Context(), &sfn.DescribeExecutionInput{ExecutionArn: &arn})
	if err != nil {
		w.t.Fatal(err)
	}
	return x
}

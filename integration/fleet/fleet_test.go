package fleet_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"fastbowlinglab/integration/fleet"
	"fastbowlinglab/integration/local"
	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/flags"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/posejob"
	"fastbowlinglab/shared/stamp"
)

func TestMain(m *testing.M) {
	slog.SetDefault(slog.New(slog.DiscardHandler))
	os.Exit(m.Run())
}

// world is an embedded cloud whose workers are this folder's.
type world struct {
	*local.Cloud
	t     *testing.T
	db    *dynamodb.Client
	jobs  *posejob.Store
	diary string
}

func start(t *testing.T) *world {
	t.Helper()
	root, err := local.FindRoot()
	if err != nil {
		t.Fatal(err)
	}
	for _, need := range []string{".local/bin/" + names.FnPostJob + "/bootstrap", "node_modules/@dynoxide/linux-x64/dynoxide"} {
		if _, err := os.Stat(filepath.Join(root, need)); err != nil {
			t.Skipf("skipped: %s is missing: run `make functions` first", need)
		}
	}
	w := &world{t: t, diary: filepath.Join(t.TempDir(), "diary")}
	program := filepath.Join(t.TempDir(), "worker")
	if out, err := exec.Command("go", "build", "-buildvcs=false", "-o", program, "./worker").CombinedOutput(); err != nil {
		t.Fatalf("build the worker: %v: %s", err, out)
	}
	w.Cloud, err = local.Start(t.Context(), local.Config{
		Programs: map[string]string{names.PoseWorker: program}, Env: map[string]string{fleet.EnvDiary: w.diary}, Definition: definition,
		Schedules: map[string]time.Duration{names.FnReconcile: -1}, TaskBackoff: 200 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Errorf("close the cloud: %v", err)
		}
	})
	w.db = dynamodb.NewFromConfig(w.AWS())
	w.jobs = &posejob.Store{DB: w.db, Table: names.PoseJobs.Name, Analyses: names.Analyses.Name, Lease: fleet.Lease, Skew: fleet.Skew}
	return w
}

// road flips the flag, as an operator does.
func (w *world) road(value string) {
	w.t.Helper()
	if err := w.SetParameter(w.t.Context(), names.Parameters+"/flags/"+flags.PoseRoad, value); err != nil {
		w.t.Fatal(err)
	}
}

// submit makes n analyses as the API leaves them, and starts their runs.
func (w *world) submit(from, n int) (ids []string) {
	w.t.Helper()
	for i := range n {
		id := analysis.ID("athlete", fmt.Sprint("fleet-", from+i))
		row := analysis.Row{AnalysisID: id, AthleteID: "athlete", Status: analysis.Queued, Attempt: 1, CreatedAt: time.Now(), QueuedAt: time.Now(),
			Clips: []analysis.Clip{{Key: names.ClipKey(id, 0), VersionID: "v1"}}}
		item, err := stamp.MarshalMap(row)
		if err != nil {
			w.t.Fatal(err)
		}
		if _, err := w.db.PutItem(w.t.Context(), &dynamodb.PutItemInput{TableName: &names.Analyses.Name, Item: item}); err != nil {
			w.t.Fatal(err)
		}
		if _, err := analysis.Start(w.t.Context(), sfn.NewFromConfig(w.AWS()), local.LiveARN, id, 1); err != nil {
			w.t.Fatal(err)
		}
		ids = append(ids, id)
	}
	return ids
}

func (w *world) row(id string) analysis.Row {
	w.t.Helper()
	r, err := analysis.Get(w.t.Context(), w.db, names.Analyses.Name, id)
	if err != nil {
		w.t.Fatal(err)
	}
	return r
}

// job is the zero Job as long as there is none.
func (w *world) job(id string) posejob.Job {
	j, err := w.jobs.Get(w.t.Context(), id)
	if err != nil {
		return posejob.Job{}
	}
	return j
}

// notes reads the diary.
func (w *world) notes() (all []fleet.Note) {
	w.t.Helper()
	text, err := os.ReadFile(w.diary)
	if err != nil && !os.IsNotExist(err) {
		w.t.Fatal(err)
	}
	for line := range bytes.Lines(text) {
		var n fleet.Note
		if err := json.Unmarshal(line, &n); err != nil {
			w.t.Fatalf("diary: %q: %v", line, err)
		}
		all = append(all, n)
	}
	return all
}

// reaper kills workers that are at work.
type reaper struct {
	w       *world
	rnd     *rand.Rand
	kills   int
	unlucky map[string]bool // jobs whose pass was killed before its first checkpoint
}

// kill kills a busy worker with signal 9, if there is one. A job that is killed three
// times without having saved anything is poison, and rightly given up: each is killed
// like that once at most.
func (r *reaper) kill(open []string) {
	pids := r.w.Tasks().Pids()
	r.rnd.Shuffle(len(pids), func(i, j int) { pids[i], pids[j] = pids[j], pids[i] })
	for _, pid := range pids {
		for _, id := range open {
			j := r.w.job(id)
			if j.State != posejob.Claimed || !strings.Contains(j.Owner, "/"+strconv.Itoa(pid)+"/") {
				continue
			}
			fresh := len(j.Checkpoints) == 0
			if fresh && r.unlucky[id] {
				continue
			}
			if fresh {
				r.unlucky[id] = true
			}
			if err := syscall.Kill(pid, syscall.SIGKILL); err == nil {
				r.kills++
			}
			return
		}
	}
}

// TestHundredJobsOfProcesses: four workers, one killed -9 every two seconds, a
// hundred jobs on both roads. Every job is done once in the store.
func TestHundredJobsOfProcesses(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes minutes")
	}
	const jobs, every = 100, 2 * time.Second
	w := start(t)
	if err := w.Tasks().SetDesired(names.MaxWorkers); err != nil {
		t.Fatal(err)
	}
	w.road(flags.RoadQueue)
	ids := w.submit(0, jobs/2)
	for _, id := range ids { // they have read the flag
		eventually(t, time.Minute, "the runs to begin", func() bool { return w.row(id).Flags[flags.PoseRoad] == flags.RoadQueue })
	}
	w.road(flags.RoadHTTP)
	ids = append(ids, w.submit(jobs/2, jobs/2)...)
	r := &reaper{w: w, rnd: rand.New(rand.NewPCG(5, 8)), unlucky: map[string]bool{}}
	begun := time.Now()
	tick := time.NewTicker(every)
	defer tick.Stop()
	for open := ids; len(open) > 0; <-tick.C {
		if time.Since(begun) > 12*time.Minute {
			t.Errorf("%d jobs are open after %s", len(open), time.Since(begun).Truncate(time.Second))
			break
		}
		r.kill(open)
		var left []string
		for _, id := range open {
			if !w.job(id).State.Ended() {
				left = append(left, id)
			}
		}
		open = left
	}
	took := time.Since(begun)
	w.check(ids, r.kills, took)
}

// check holds the store, the diary and the queues to what must hold.
func (w *world) check(ids []string, kills int, took time.Duration) {
	t := w.t
	t.Helper()
	redone, http, passed := 0, 0, 0
	for _, id := range ids {
		j, row := w.job(id), w.row(id)
		if j.State != posejob.Done || j.Result == nil || j.Result.ResultKey != names.PoseResultKey(id, 1, j.Fence) {
			t.Errorf("%s: %v, failure %+v, road %s", id, j.LogValue(), j.Failure, row.Flags[flags.PoseRoad])
			continue
		}
		key := j.Result.ResultKey
		if _, err := s3.NewFromConfig(w.AWS(), func(o *s3.Options) { o.UsePathStyle = true }).HeadObject(t.Context(),
			&s3.HeadObjectInput{Bucket: ptr(names.Bucket), Key: &key}); err != nil {
			t.Errorf("%s: the result is not stored: %v", id, err)
		}
		redone += j.Redone
		if row.Flags[flags.PoseRoad] == flags.RoadHTTP {
			http++
		}
		arn, err := analysis.ExecutionARN(local.LiveARN, analysis.ExecutionName(id, 1))
		if err != nil {
			t.Fatal(err)
		}
		eventually(t, 2*time.Minute, "the end of the run of "+id, func() bool {
			x, err := sfn.NewFromConfig(w.AWS()).DescribeExecution(t.Context(), &sfn.DescribeExecutionInput{ExecutionArn: &arn})
			if err != nil {
				t.Fatal(err)
			}
			if x.Status == "SUCCEEDED" {
				passed++
			}
			return x.Status != "RUNNING"
		})
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
	t.Logf("%d jobs, %d of them over HTTP, in %s: %d kills -9, %d chunks redone by the rows, %d finished twice, at most %d at once in a worker, %d dead letters",
		len(ids), http, took.Truncate(time.Second), kills, redone, again, most, dead)
	if http != len(ids)/2 || kills < 20 || len(done) != len(ids)*fleet.Chunks {
		t.Errorf("%d jobs over HTTP, %d kills, %d chunks: no test of anything", http, kills, len(done))
	}
	if passed != len(ids) {
		t.Errorf("%d of %d runs succeeded", passed, len(ids))
	}
	if redone > kills || again > kills {
		t.Errorf("%d chunks redone, %d finished twice, after %d kills", redone, again, kills)
	}
	if most != 1 {
		t.Errorf("%d passes at once in a worker that runs 1", most)
	}
	if dead != 0 || left != 0 {
		t.Errorf("%d dead letters, %d messages left", dead, left)
	}
}

// depth is how many messages a queue holds, visible or not.
func (w *world) depth(queue string) (n int) {
	w.t.Helper()
	q := sqs.NewFromConfig(w.AWS())
	url, err := q.GetQueueUrl(w.t.Context(), &sqs.GetQueueUrlInput{QueueName: &queue})
	if err != nil {
		w.t.Fatal(err)
	}
	out, err := q.GetQueueAttributes(w.t.Context(), &sqs.GetQueueAttributesInput{QueueUrl: url.QueueUrl,
		AttributeNames: []types.QueueAttributeName{types.QueueAttributeNameAll}})
	if err != nil {
		w.t.Fatal(err)
	}
	for _, a := range []string{"ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible", "ApproximateNumberOfMessagesDelayed"} {
		v, err := strconv.Atoi(out.Attributes[a])
		if err != nil && out.Attributes[a] != "" {
			w.t.Fatal(err)
		}
		n += v
	}
	return n
}

func ptr[T any](v T) *T { return &v }

func eventually(t *testing.T, limit time.Duration, what string, ok func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("not within %s: %s", limit, what)
		}
	}
}

package fleet_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
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

// world is an embedded cloud whose workers are this folder's.
type world struct {
	*local.Cloud
	t     *testing.T
	db    *dynamodb.Client
	jobs  *posejob.Store
	diary string
}

func start(t *testing.T, off string) *world {
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
		Programs: map[string]string{names.PoseWorker: program}, Env: map[string]string{fleet.EnvDiary: w.diary, fleet.EnvOff: off}, Definition: definition,
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

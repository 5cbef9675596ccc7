package release

import (
	"bytes"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"

	"fastbowlinglab/integration/local"
	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/callback"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/posejob"
)

// TestOldRowsOverHTTP: the same on the HTTP road, and a worker of the release before
// tells its result to the callback of today, while its pass goes on and afterwards.
func TestOldRowsOverHTTP(t *testing.T) {
	w := today(t)
	road := w.old.HTTP
	of := strings.TrimSuffix(road.Execution, "-1")
	w.plant(road.Running, of, "an-running")
	for range 2 { // the worker asks again when the answer is lost
		if status := w.tells(of, "an-running"); status != http.StatusOK {
			t.Errorf("the callback of today answered %d to a result of the release before", status)
		}
	}
	jobs := posejob.Store{DB: w.db, Table: names.PoseJobs.Name, Analyses: names.Analyses.Name}
	if j, err := jobs.Get(t.Context(), "an-running"); err != nil || j.State != posejob.Done || j.Result == nil || j.Result.Verdict != names.VerdictPass ||
		j.Result.ResultKey != names.PoseResultKey("an-running", 1, 1) {
		t.Errorf("the job: %+v, %v", j, err)
	}
	w.delivers("an-running")

	w.plant(road.Running, of, "an-failed")
	w.fails("an-failed")
	if status := w.tells(of, "an-failed"); status >= http.StatusInternalServerError {
		t.Errorf("a result for an analysis that has its end was answered with %d", status)
	}
	if r, err := analysis.Get(t.Context(), w.db, names.Analyses.Name, "an-failed"); err != nil || r.Status != analysis.Failed {
		t.Errorf("an analysis that had failed when its pass ended: %s, %v", r.Status, err)
	}

	w.plant(road.Ending, of, "an-delivered")
	w.delivers("an-delivered")
	if status := w.tells(of, "an-delivered"); status >= http.StatusInternalServerError {
		t.Errorf("a result that comes again after the end was answered with %d", status)
	}
}

// tells sends the recorded result of a worker to the public API, for an analysis.
func (w meeting) tells(of, id string) int {
	w.t.Helper()
	body := bytes.ReplaceAll(w.old.HTTP.Callback, []byte(of), []byte(id))
	keys, err := (&callback.Secret{Client: secretsmanager.NewFromConfig(w.cloud.AWS()), ID: local.CallbackSecret}).Keys(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(w.t.Context(), http.MethodPost, w.cloud.API+names.PoseCallbackPath, bytes.NewReader(body))
	if err != nil {
		w.t.Fatal(err)
	}
	now := time.Now()
	r.Header.Set(callback.HeaderID, id+"-1-1")
	r.Header.Set(callback.HeaderTimestamp, strconv.FormatInt(now.Unix(), 10))
	r.Header.Set(callback.HeaderSignature, callback.Sign(keys[0], id+"-1-1", now, body))
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		w.t.Fatal(err)
	}
	defer resp.Body.Close()
	return resp.StatusCode
}

package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"syscall"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sfn"

	"fastbowlinglab/integration/apiclient"
	"fastbowlinglab/shared/batchrun"
	"fastbowlinglab/shared/lease"
	"fastbowlinglab/shared/motion"
	"fastbowlinglab/shared/names"
)

// report: the run is stopped and its worker killed in the middle of an item; a
// second one is refused until nobody can be at work, and then finishes: one
// revision, one notice, each text paid for once.
func (w *redoWorld) report() {
	t := w.t
	t.Helper()
	input := map[string]any{"effect": "report", "version": "v2", "ids": []string{w.id}, "notice": true, "changed": "The drills are explained <better>."}
	seen := w.gate.hold(rendering)
	held := w.begin("report-a", input)
	<-seen
	if _, err := w.sfn.StopExecution(t.Context(), &sfn.StopExecutionInput{ExecutionArn: &held, Cause: aws.String("stopped by a test")}); err != nil {
		t.Fatal(err)
	}
	w.refused(w.begin("report-b", input), "Held", "report-a has the effect since 20", "until 20")
	release := `{"action":"release","operator":"ada","effect":"report","run":"report-a"}`
	if got := w.ask(release); !strings.Contains(got, "a worker of report-a has batch") {
		t.Errorf("release of a lease whose worker lives: %s", got)
	}
	if n := w.Lambda().Signal(syscall.SIGKILL, names.FnBackfill, func([]byte) bool { return true }); n != 1 {
		t.Errorf("%d workers were killed, want 1", n)
	}
	w.gate.release()
	if got := w.ask(release); !strings.Contains(got, "a worker of report-a has batch") {
		t.Errorf("release right after the kill: %s", got)
	}
	w.pass(names.Runs.Name, batchrun.Key("report-a", "batch#"+names.BatchKey("report-a", 0)))
	w.pass(names.Runs.Name, batchrun.Key(batchrun.SetOf("report", "v2"), w.id))
	if got := w.ask(release); !strings.Contains(got, `"outcome":"released by ada","held_by":""`) {
		t.Errorf("release of a dead lease: %s", got)
	}
	w.succeeds(w.begin("report-c", input), 1, 0)
	w.succeeds(w.begin("report-d", input), 0, 1)

	row := w.row(w.id)
	if len(row.Revisions) != 1 || row.Revisions[0].Number != 1 || row.Revisions[0].Changed != input["changed"] || row.Revisions[0].By != "report-c" {
		t.Fatalf("revisions %+v", row.Revisions)
	}
	if !bytes.HasPrefix(w.object(row.Revisions[0].ReportPDF), []byte("%PDF-")) {
		t.Error("the revision is no PDF")
	}
	if c := w.calls(); c["findings@report-v2"] != 1 || c["coaching@report-v2"] != 1 || c["findings"] != 1 || c["coaching"] != 1 {
		t.Errorf("model calls %v, want one of each text and one more of its revision", c)
	}
	eventually(t, 30*time.Second, "the notice of the revision", func() bool { return fmt.Sprint(w.notices()) == "[ready sent revised-1 sent]" })
	rep := w.served()
	if rep.Revision != 1 || rep.Changed != input["changed"] || len(rep.Revisions) != 2 || !strings.Contains(rep.ReportPDF.URL, "rev-1-report-v2") {
		t.Errorf("the API serves %+v", rep)
	}
	var file struct {
		Revision int    `json:"revision"`
		Changed  string `json:"changed"`
	}
	if err := json.Unmarshal(fetch(w, rep.ReportJSON.URL), &file); err != nil || file.Revision != 1 || file.Changed != input["changed"] {
		t.Errorf("report.json says %+v, %v", file, err)
	}
}

// measure: a result that an older release measured otherwise is measured again
// from the keypoints, and reported; one that is as it would be now is left alone.
func (w *redoWorld) measure() {
	t := w.t
	t.Helper()
	row := w.row(w.id)
	w.succeeds(w.begin("measure-a", map[string]any{"effect": "measure", "version": "m1", "ids": []string{w.id}}), 1, 0)
	if n := len(w.row(w.id).Revisions); n != 1 {
		t.Errorf("%d revisions after a measuring that changed nothing, want 1", n)
	}
	now := w.object(row.ResultKey)
	var was motion.Result
	if err := json.Unmarshal(now, &was); err != nil {
		t.Fatal(err)
	}
	for i := range was.Clips[0].Measures {
		if m := &was.Clips[0].Measures[i]; m.NotMeasured == "" {
			m.Value += 11
		}
	}
	older, err := json.Marshal(was)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.s3.PutObject(t.Context(), &s3.PutObjectInput{Bucket: aws.String(names.Bucket), Key: &row.ResultKey, Body: bytes.NewReader(older)}); err != nil {
		t.Fatal(err)
	}
	w.succeeds(w.begin("measure-b", map[string]any{"effect": "measure", "version": "m2", "ids": []string{w.id}}), 1, 0)
	after := w.row(w.id)
	if len(after.Revisions) != 2 {
		t.Fatalf("revisions %+v", after.Revisions)
	}
	v := after.Revisions[1]
	if v.Number != 2 || v.ResultKey != names.RevisedResultKey(w.id, after.Attempt, "measure-m2") || after.ResultKey != row.ResultKey {
		t.Errorf("revision %+v of a result at %s", v, after.ResultKey)
	}
	if again := w.object(v.ResultKey); !bytes.Equal(again, now) {
		t.Errorf("measured again: %.200s\nwant what the pipeline measured: %.200s", again, now)
	}
	if got := fmt.Sprint(w.notices()); got != "[ready sent revised-1 sent]" {
		t.Errorf("notices %s: nobody asked for another", got)
	}
	if c := w.calls(); c["findings@measure-m1"] != 0 || c["findings@measure-m2"] != 1 || c["coaching@measure-m2"] != 1 {
		t.Errorf("model calls %v", c)
	}
	if rep := w.served(); rep.Revision != 2 || len(rep.Revisions) != 3 {
		t.Errorf("the API serves %+v", rep)
	}
	if who, err := (lease.Store{DB: w.db, Table: names.Effects.Name}).Who(t.Context(), names.LeaseOf(names.EffectMeasure)); err != nil || who != nil {
		t.Errorf("the lease is held by %+v, %v, after its run has ended", who, err)
	}
}

// served asks the API for the report, as the athlete.
func (w *redoWorld) served() (rep apiclient.Report) {
	w.t.Helper()
	token, err := w.AthleteToken(w.row(w.id).AthleteID, time.Hour)
	if err != nil {
		w.t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(context.Background(), http.MethodGet, w.API+"/v1/analyses/"+w.id+"/report", nil)
	if err != nil {
		w.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		w.t.Fatal(err)
	}
	defer resp.Body.Close()
	if err := json.NewDecoder(resp.Body).Decode(&rep); err != nil || resp.StatusCode != http.StatusOK {
		w.t.Fatalf("GET report: %s, %v", resp.Status, err)
	}
	return rep
}

// fetch follows a signed link.
func fetch(w *redoWorld, url string) []byte {
	w.t.Helper()
	resp, err := http.Get(url)
	if err != nil {
		w.t.Fatal(err)
	}
	defer resp.Body.Close()
	var b bytes.Buffer
	if _, err := b.ReadFrom(resp.Body); err != nil || resp.StatusCode != http.StatusOK {
		w.t.Fatalf("GET a link: %s, %v", resp.Status, err)
	}
	return b.Bytes()
}

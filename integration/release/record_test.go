package release

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/sfn"

	"fastbowlinglab/integration/local"
	"fastbowlinglab/integration/local/endpoint"
	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/flags"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/posejob"
	"fastbowlinglab/statemachine"
)

var record = flag.Bool("record", false, "record the contract of this release")

// TestRecord records the contract of this release: on each road that an analysis
// can go, what each state sends.
func TestRecord(t *testing.T) {
	if !*record {
		t.Skip("records only with -record")
	}
	c := Contract{Inputs: map[string]json.RawMessage{}, Functions: map[string]string{}, Access: allowed(t), Flags: flags.Defaults()}
	var once sync.Once
	var db *dynamodb.Client
	cloud := start(t, func(cfg *local.Config) {
		cfg.Intercept = func(q *endpoint.Request) endpoint.Fault {
			if q.Caller == names.FnDeliver { // the run is about to end: its rows are those of one in flight
				once.Do(func() { c.Rows = rows(t, db) })
			}
			return endpoint.Fault{}
		}
	})
	db = dynamodb.NewFromConfig(cloud.AWS())
	c.take(t, cloud, "bowler.mp4")
	c.take(t, cloud, "not_bowling.mp4")
	c.take(t, cloud, nobody(t)) // the precheck refuses it
	if err := cloud.SetParameter(t.Context(), names.Parameters+"/flags/"+flags.PoseRoad, flags.RoadHTTP); err != nil {
		t.Fatal(err)
	}
	c.take(t, cloud, "bowler.mp4")
	if err := cloud.Close(); err != nil {
		t.Fatal(err)
	}
	c.HTTP = overHTTP(t)
	c.take(t, start(t, func(cfg *local.Config) { cfg.Fonts = t.TempDir() }), "bowler.mp4") // no report without fonts
	source, err := statemachine.Source(statemachine.Analysis)
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.MarshalIndent(c, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{"contract.json": append(b, '\n'), "analysis.asl.json": source} {
		if err := os.WriteFile(filepath.Join("testdata", before, name), content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// overHTTP records what an analysis on the HTTP road leaves in the middle.
func overHTTP(t *testing.T) (road HTTPRoad) {
	t.Helper()
	var running, ending sync.Once
	var db *dynamodb.Client
	cloud := start(t, func(cfg *local.Config) {
		cfg.Intercept = func(q *endpoint.Request) endpoint.Fault {
			switch q.Caller {
			case names.FnCallback:
				running.Do(func() { road.Running = rows(t, db) })
			case names.FnDeliver:
				ending.Do(func() { road.Ending = rows(t, db) })
			}
			return endpoint.Fault{}
		}
	})
	db = dynamodb.NewFromConfig(cloud.AWS())
	if err := cloud.SetParameter(t.Context(), names.Parameters+"/flags/"+flags.PoseRoad, flags.RoadHTTP); err != nil {
		t.Fatal(err)
	}
	sum := mainJob(t, cloud, "bowler.mp4", "over HTTP")
	road.Execution = analysis.ExecutionName(sum.AnalysisID, 1)
	jobs := posejob.Store{DB: db, Table: names.PoseJobs.Name, Analyses: names.Analyses.Name}
	job, err := jobs.Get(t.Context(), sum.AnalysisID)
	if err != nil || job.Result == nil {
		t.Fatalf("the job of %s: %+v, %v", sum.AnalysisID, job, err)
	}
	// The message is made of the result as a worker makes it.
	run := names.Run{AnalysisID: sum.AnalysisID, Attempt: 1}
	if road.Callback, err = json.Marshal(names.PoseCallback{Run: run, Fence: job.Fence, Result: *job.Result}); err != nil {
		t.Fatal(err)
	}
	if err := cloud.Close(); err != nil {
		t.Fatal(err)
	}
	return road
}

// take runs an analysis and records what its states sent.
func (c *Contract) take(t *testing.T, cloud *local.Cloud, clip string) {
	t.Helper()
	sum := mainJob(t, cloud, clip, fmt.Sprint("take ", len(c.Inputs)))
	name := analysis.ExecutionName(sum.AnalysisID, 1)
	if c.Execution == "" {
		c.Execution = name
	}
	for state, in := range inputs(t, sfn.NewFromConfig(cloud.AWS()), name) {
		if _, known := c.Inputs[state]; !known {
			c.Inputs[state] = bytes.ReplaceAll(in.payload, []byte(sum.AnalysisID), []byte(c.id()))
			c.Functions[state] = in.function
		}
	}
}

// nobody makes a clip in which nobody is.
func nobody(t *testing.T) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), "nobody.mp4")
	if msg, err := exec.Command("ffmpeg", "-v", "error", "-f", "lavfi", "-i", "color=gray:s=640x360:d=1.5:r=30", "-pix_fmt", "yuv420p", out).CombinedOutput(); err != nil {
		t.Fatalf("make a clip: %v: %s", err, msg)
	}
	return out
}

type input struct {
	function string
	payload  json.RawMessage
}

// inputs reads what each state sent from an execution's history.
func inputs(t *testing.T, steps *sfn.Client, name string) map[string]input {
	t.Helper()
	arn, err := analysis.ExecutionARN(local.StateMachineARN, name)
	if err != nil {
		t.Fatal(err)
	}
	out, err := steps.GetExecutionHistory(t.Context(), &sfn.GetExecutionHistoryInput{ExecutionArn: &arn, MaxResults: 1000})
	if err != nil {
		t.Fatal(err)
	}
	all, state := map[string]input{}, ""
	for _, e := range out.Events {
		if d := e.StateEnteredEventDetails; d != nil {
			state = *d.Name
		}
		if d := e.TaskScheduledEventDetails; d != nil {
			var p struct {
				FunctionName string
				Payload      json.RawMessage
			}
			if err := json.Unmarshal([]byte(*d.Parameters), &p); err != nil {
				t.Fatal(err)
			}
			fn := p.FunctionName[strings.Index(p.FunctionName, ":function:")+len(":function:"):]
			fn, _, _ = strings.Cut(fn, ":")
			all[state] = input{fn, p.Payload}
		}
	}
	return all
}

func rows(t *testing.T, db *dynamodb.Client) map[string][]map[string]any {
	out := map[string][]map[string]any{}
	for _, table := range []string{names.Analyses.Name, names.Credits.Name, names.PoseJobs.Name, names.Effects.Name, names.Usage.Name} {
		page, err := db.Scan(context.Background(), &dynamodb.ScanInput{TableName: &table})
		if err != nil {
			t.Error(err)
			return out
		}
		for _, item := range page.Items {
			out[table] = append(out[table], encode(item))
		}
	}
	return out
}

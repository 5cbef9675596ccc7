package release

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/sfn"

	"fastbowlinglab/infra/access"
	"fastbowlinglab/integration/demo"
	"fastbowlinglab/integration/local"
	"fastbowlinglab/integration/local/endpoint"
	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/flags"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/statemachine"
)

var record = flag.Bool("record", false, "record the contract of this release")

// before is the release that runs in flight may be of.
const before = "1"

func TestMain(m *testing.M) {
	slog.SetDefault(slog.New(slog.DiscardHandler))
	os.Exit(m.Run())
}

func start(t *testing.T, change func(*local.Config)) *local.Cloud {
	t.Helper()
	root, err := local.FindRoot()
	if err != nil {
		t.Fatal(err)
	}
	for _, need := range []string{".local/bin/" + names.PoseWorker, ".local/bin/" + names.FnRender + "/bootstrap", "node_modules/@dynoxide/linux-x64/dynoxide"} {
		if _, err := os.Stat(filepath.Join(root, need)); err != nil {
			t.Skipf("%s is missing: run `make functions` first", need)
		}
	}
	cfg := local.Config{EventRetries: []time.Duration{time.Second}, Schedules: map[string]time.Duration{names.FnReconcile: -1}}
	change(&cfg)
	c, err := local.Start(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

func mainJob(t *testing.T, c *local.Cloud, clip string) demo.Summary {
	t.Helper()
	root, err := local.FindRoot()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 8*time.Minute)
	defer cancel()
	sum, err := demo.Run(ctx, demo.Config{
		API: c.API,
		Athlete: func(sub string) demo.Token {
			return func(context.Context) (string, error) { return c.AthleteToken(sub, time.Hour) }
		},
		Operator: func(context.Context) (string, error) { return c.OperatorToken("operator", time.Hour) },
		Cloud:    &demo.Cloud{AWS: c.AWS(), StateMachineARN: local.StateMachineARN},
		Clip:     filepath.Join(root, "integration/samples", clip), Dir: t.TempDir(),
	})
	if err != nil {
		t.Fatal(err)
	}
	return sum
}

// TestOldDefinitionOnNewCode: a run in flight goes on with the definition of the
// release before, and reaches its end with the functions of today.
func TestOldDefinitionOnNewCode(t *testing.T) {
	old, err := Load(before)
	if err != nil {
		t.Fatal(err)
	}
	c := start(t, func(cfg *local.Config) { cfg.Definition = old.Fill })
	for clip, want := range map[string]analysis.Status{"bowler.mp4": analysis.Ready, "not_bowling.mp4": analysis.Rejected} {
		if sum := mainJob(t, c, clip); sum.Status != string(want) {
			t.Errorf("%s ended %s (%s), want %s", clip, sum.Status, sum.Reason, want)
		}
	}
}

// TestOldRowsAndInputs: rows that a run of the release before left in the middle,
// and what its states send, are taken by the functions of today.
func TestOldRowsAndInputs(t *testing.T) {
	old, err := Load(before)
	if err != nil {
		t.Fatal(err)
	}
	c := start(t, func(*local.Config) {})
	db, functions := dynamodb.NewFromConfig(c.AWS()), lambda.NewFromConfig(c.AWS())
	put := func(id string) {
		for table, rows := range old.Rows {
			for _, row := range rows {
				b, err := json.Marshal(row)
				if err != nil {
					t.Fatal(err)
				}
				var copied map[string]any
				if err := json.Unmarshal(bytes.ReplaceAll(b, []byte(old.id()), []byte(id)), &copied); err != nil {
					t.Fatal(err)
				}
				item, err := decode(copied)
				if err != nil {
					t.Fatal(err)
				}
				if _, err := db.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &table, Item: item}); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	call := func(state, id string) (out map[string]any, failed string) {
		payload := bytes.ReplaceAll(old.Inputs[state], []byte(old.id()), []byte(id))
		res, err := functions.Invoke(t.Context(), &lambda.InvokeInput{FunctionName: aws.String(old.Functions[state]), Payload: payload})
		if err != nil {
			t.Fatalf("%s: %v", state, err)
		}
		if err := json.Unmarshal(res.Payload, &out); err != nil {
			t.Fatalf("%s answered %s", state, res.Payload)
		}
		if res.FunctionError != nil {
			failed, _ = out["errorType"].(string)
		}
		return out, failed
	}

	put("an-delivered")
	if out, failed := call("Begin", "an-delivered"); failed != "" || out["proceed"] != true {
		t.Errorf("Begin of a run in flight: %v %s", out, failed)
	}
	if out, failed := call("Deliver", "an-delivered"); failed != "" || out["status"] != string(analysis.Ready) || out["won"] != true {
		t.Errorf("Deliver: %v %s", out, failed)
	}
	for state := range old.Inputs { // the analysis has its end: whoever comes now concedes, and refuses nothing
		if out, failed := call(state, "an-delivered"); failed != "" && failed != "Conceded" {
			t.Errorf("%s refused what the release before sends: %s: %v", state, failed, out)
		}
	}
	put("an-failed")
	out, failed := settle(t, functions, old, "an-failed")
	if failed != "" || out["status"] != string(analysis.Failed) || out["won"] != true {
		t.Errorf("Settle: %v %s", out, failed)
	}
}

func settle(t *testing.T, functions *lambda.Client, old Contract, id string) (out map[string]any, failed string) {
	payload, err := json.Marshal(map[string]any{"analysis_id": id, "attempt": 1, "execution": strings.Replace(old.Execution, old.id(), id, 1),
		"error": "PoseFailed", "cause": "recorded"})
	if err != nil {
		t.Fatal(err)
	}
	res, err := functions.Invoke(t.Context(), &lambda.InvokeInput{FunctionName: aws.String(names.FnSettle), Payload: payload})
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(res.Payload, &out); err != nil {
		t.Fatal(err)
	}
	if res.FunctionError != nil {
		failed, _ = out["errorType"].(string)
	}
	return out, failed
}

// id is the analysis that was recorded.
func (c Contract) id() string { return strings.TrimSuffix(c.Execution, "-1") }

// TestRoleOnlyWidens: what the state machine's role allowed stays allowed, and a
// flag ships as it did, until runs have drained.
func TestRoleOnlyWidens(t *testing.T) {
	old, err := Load(before)
	if err != nil {
		t.Fatal(err)
	}
	now := invokable()
	for _, arn := range old.Role {
		if !slices.Contains(now, arn) {
			t.Errorf("the role may no longer invoke %s: runs in flight of release %s still do", arn, before)
		}
	}
	for name, value := range old.Flags {
		if got := flags.Defaults()[name]; got != value {
			t.Errorf("flag %s ships as %q, and was %q: a deploy would flip it", name, got, value)
		}
	}
	if len(old.Role) == 0 || len(old.Inputs) < 10 || len(old.Rows) < 4 {
		t.Errorf("the contract is not whole: %d functions, %d inputs, %d tables", len(old.Role), len(old.Inputs), len(old.Rows))
	}
}

func invokable() []string {
	for _, s := range access.Machine(names.MachineAnalysis) {
		if s.Sid == "Invoke" {
			return s.Resources
		}
	}
	return nil
}

// TestRecord records the contract of this release.
func TestRecord(t *testing.T) {
	if !*record {
		t.Skip("records only with -record")
	}
	c := Contract{Inputs: map[string]json.RawMessage{}, Functions: map[string]string{}, Rows: map[string][]map[string]any{},
		Role: invokable(), Flags: flags.Defaults()}
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
	steps := sfn.NewFromConfig(cloud.AWS())
	for _, clip := range []string{"bowler.mp4", "not_bowling.mp4"} {
		sum := mainJob(t, cloud, clip)
		name := analysis.ExecutionName(sum.AnalysisID, 1)
		if clip == "bowler.mp4" {
			c.Execution = name
		}
		for state, in := range inputs(t, steps, name) {
			if _, known := c.Inputs[state]; !known {
				c.Inputs[state] = bytes.ReplaceAll(in.payload, []byte(sum.AnalysisID), []byte(c.id()))
				c.Functions[state] = in.function
			}
		}
	}
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

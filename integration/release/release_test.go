package release

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/lambda"

	"fastbowlinglab/infra/access"
	"fastbowlinglab/integration/demo"
	"fastbowlinglab/integration/demo/embedded"
	"fastbowlinglab/integration/local"
	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/flags"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/statemachine"
)

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

func mainJob(t *testing.T, c *local.Cloud, clip, key string) demo.Summary {
	t.Helper()
	if !filepath.IsAbs(clip) {
		root, err := local.FindRoot()
		if err != nil {
			t.Fatal(err)
		}
		clip = filepath.Join(root, "integration/samples", clip)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 8*time.Minute)
	defer cancel()
	sum, err := demo.Run(ctx, embedded.Config(c, clip, key, t.TempDir()))
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
		if sum := mainJob(t, c, clip, ""); sum.Status != string(want) {
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

// TestRolesOnlyWiden: what a program or a state machine was allowed stays allowed,
// and a flag ships as it did, until runs have drained: versions of functions that
// runs in flight call have the role of today.
func TestRolesOnlyWiden(t *testing.T) {
	old, err := Load(before)
	if err != nil {
		t.Fatal(err)
	}
	for _, lost := range narrowed(old.Access, allowed(t)) {
		t.Errorf("%s, and runs in flight of release %s still do", lost, before)
	}
	for name, value := range old.Flags {
		if got := flags.Defaults()[name]; got != value {
			t.Errorf("flag %s ships as %q, and was %q: a deploy would flip it", name, got, value)
		}
	}
}

// TestContractIsWhole: every state that calls a function was recorded.
func TestContractIsWhole(t *testing.T) {
	old, err := Load(before)
	if err != nil {
		t.Fatal(err)
	}
	var def struct {
		States map[string]struct{ Type string }
	}
	if err := json.Unmarshal([]byte(old.Definition), &def); err != nil {
		t.Fatal(err)
	}
	for state, s := range def.States {
		if _, ok := old.Inputs[state]; s.Type == "Task" && !ok {
			t.Errorf("what %s sends was not recorded", state)
		}
	}
	if len(old.Rows) < 5 || len(old.Access) < len(names.Functions()) {
		t.Errorf("%d tables and %d programs were recorded", len(old.Rows), len(old.Access))
	}
}

// narrowed says what may no longer be done.
func narrowed(old, now map[string][]string) []string {
	var out []string
	for _, program := range slices.Sorted(maps.Keys(old)) {
		for _, what := range old[program] {
			if !slices.Contains(now[program], what) {
				out = append(out, program+" may no longer "+what)
			}
		}
	}
	return out
}

func TestNarrowedRolesAreSeen(t *testing.T) {
	all := allowed(t)
	less := maps.Clone(all)
	less[names.FnDeliver] = slices.Delete(slices.Clone(less[names.FnDeliver]), 0, 1)
	if n := narrowed(all, less); len(n) != 1 || len(narrowed(all, all)) != 0 {
		t.Errorf("one permission less: %q", n)
	}
	delete(less, "machine "+names.MachineAnalysis)
	if n := narrowed(all, less); len(n) < 10 {
		t.Errorf("a role less: %q", n)
	}
}

// allowed lists what every program and state machine may do.
func allowed(t *testing.T) map[string][]string {
	t.Helper()
	out := map[string][]string{}
	add := func(program string, all []access.Statement) {
		for _, s := range all {
			for _, action := range s.Actions {
				for _, resource := range s.Resources {
					out[program] = append(out[program], action+" on "+resource)
				}
			}
		}
		slices.Sort(out[program])
	}
	own := func(program string) []access.Statement {
		s, err := access.Of(program)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	for _, f := range names.Functions() {
		add(f.Name, append(access.Lambda(f), own(f.Name)...))
	}
	add(names.PoseWorker, own(names.PoseWorker))
	for _, m := range statemachine.Names() {
		add("machine "+m, access.Machine(m))
	}
	return out
}

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
	w := today(t)
	w.plant(w.old.Rows, w.old.id(), "an-delivered")
	w.delivers("an-delivered")
	w.plant(w.old.Rows, w.old.id(), "an-failed")
	w.fails("an-failed")
}

// meeting is the code of today, and what the release before left.
type meeting struct {
	t         *testing.T
	old       Contract
	cloud     *local.Cloud
	db        *dynamodb.Client
	functions *lambda.Client
}

func today(t *testing.T) meeting {
	t.Helper()
	old, err := Load(before)
	if err != nil {
		t.Fatal(err)
	}
	c := start(t, func(*local.Config) {})
	return meeting{t, old, c, dynamodb.NewFromConfig(c.AWS()), lambda.NewFromConfig(c.AWS())}
}

// plant puts recorded rows of an analysis into the tables, as those of another.
func (w meeting) plant(rows map[string][]map[string]any, of, id string) {
	w.t.Helper()
	for table, all := range rows {
		for _, row := range all {
			b, err := json.Marshal(row)
			if err != nil {
				w.t.Fatal(err)
			}
			var copied map[string]any
			if err := json.Unmarshal(bytes.ReplaceAll(b, []byte(of), []byte(id)), &copied); err != nil {
				w.t.Fatal(err)
			}
			item, err := decode(copied)
			if err != nil {
				w.t.Fatal(err)
			}
			if _, err := w.db.PutItem(w.t.Context(), &dynamodb.PutItemInput{TableName: &table, Item: item}); err != nil {
				w.t.Fatal(err)
			}
		}
	}
}

// call calls a state's function with what the state sent, for an analysis.
func (w meeting) call(state, id string) (out map[string]any, failed string) {
	w.t.Helper()
	return w.invoke(w.old.Functions[state], bytes.ReplaceAll(w.old.Inputs[state], []byte(w.old.id()), []byte(id)))
}

func (w meeting) invoke(fn string, payload []byte) (out map[string]any, failed string) {
	w.t.Helper()
	res, err := w.functions.Invoke(w.t.Context(), &lambda.InvokeInput{FunctionName: &fn, Payload: payload})
	if err != nil {
		w.t.Fatalf("%s: %v", fn, err)
	}
	if err := json.Unmarshal(res.Payload, &out); err != nil {
		w.t.Fatalf("%s answered %s", fn, res.Payload)
	}
	if res.FunctionError != nil {
		failed, _ = out["errorType"].(string)
	}
	return out, failed
}

// delivers takes a run in flight to its end.
func (w meeting) delivers(id string) {
	w.t.Helper()
	if out, failed := w.call("Begin", id); failed != "" || out["proceed"] != true {
		w.t.Errorf("Begin of a run in flight: %v %s", out, failed)
	}
	if out, failed := w.call("Deliver", id); failed != "" || out["status"] != string(analysis.Ready) || out["won"] != true {
		w.t.Errorf("Deliver: %v %s", out, failed)
	}
	for state := range w.old.Inputs { // the analysis has its end: whoever comes now concedes, and refuses nothing
		if out, failed := w.call(state, id); failed != "" && failed != "Conceded" {
			w.t.Errorf("%s refused what the release before sends: %s: %v", state, failed, out)
		}
	}
}

// fails lets a run in flight end by its catch-all.
func (w meeting) fails(id string) {
	w.t.Helper()
	payload, err := json.Marshal(map[string]any{"analysis_id": id, "attempt": 1, "execution": analysis.ExecutionName(id, 1),
		"error": "PoseFailed", "cause": "recorded"})
	if err != nil {
		w.t.Fatal(err)
	}
	if out, failed := w.invoke(names.FnSettle, payload); failed != "" || out["status"] != string(analysis.Failed) || out["won"] != true {
		w.t.Errorf("Settle: %v %s", out, failed)
	}
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
	for of, rows := range map[string]map[string][]map[string]any{"the queue road": old.Rows, "a pass on the HTTP road": old.HTTP.Running, "the HTTP road": old.HTTP.Ending} {
		if len(rows) < 5 || len(rows[names.PoseJobs.Name]) == 0 {
			t.Errorf("of %s %d tables were recorded, the jobs' with %d rows", of, len(rows), len(rows[names.PoseJobs.Name]))
		}
	}
	if len(old.HTTP.Callback) == 0 || len(old.Access) < len(names.Functions()) {
		t.Errorf("%d programs were recorded, and of a worker's result %q", len(old.Access), old.HTTP.Callback)
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

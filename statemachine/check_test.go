package statemachine

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestEveryDefinitionHolds(t *testing.T) {
	for _, name := range Names() {
		if err := Check(name); err != nil {
			t.Errorf("%s:\n%v", name, err)
		}
	}
}

// TestCheckSees breaks the definition in one place at a time.
func TestCheckSees(t *testing.T) {
	for _, tc := range []struct {
		name, old, new string
		count          int // replacements; -1 for all
		want           string
	}{
		{"heartbeat", `"HeartbeatSeconds": 300`, `"HeartbeatSeconds": 30`, 1, "state AwaitPose: TimeoutSeconds and HeartbeatSeconds are 2h0m0s and 30s"},
		{"token timeout", `"TimeoutSeconds": 604800`, `"TimeoutSeconds": 3600`, 1, "state QueueJob: TimeoutSeconds and HeartbeatSeconds are 1h0m0s"},
		{"timeout below the function's", `"TimeoutSeconds": 140`, `"TimeoutSeconds": 120`, 1, "TimeoutSeconds is 2m0s; function precheck takes up to 2m0s"},
		{"whole timeout", `"TimeoutSeconds": 691200`, `"TimeoutSeconds": 86400`, 1, "does not outlast the waits of this state machine"},
		{"function unknown", `${WakeArn}`, `${WakenArn}`, 1, "is no placeholder of a function"},
		{"function unused", `${WakeArn}`, `${BeginArn}`, 1, "function wake is declared for this state machine, and no state invokes it"},
		{"error misspelt", `"Transient"`, `"Transcient"`, 1, `ErrorEquals holds "Transcient", which nothing reports`},
		{"payload field unknown", `"execution.$": "$$.Execution.Name"`, `"exec.$": "$$.Execution.Name"`, 1, "the payload has exec, which begin does not read"},
		{"payload field missing", `"task_token.$": "$$.Task.Token"`, `"attempt2.$": "$.attempt"`, 1, "the payload lacks task_token, which queuejob needs"},
		{"result field unknown", `"$.Payload.pdf_key"`, `"$.Payload.pdf"`, 1, "ResultSelector takes $.Payload.pdf, which render does not give"},
		{"result field optional", `"$.Payload.won"`, `"$.Payload.reason"`, 1, "which deliver may leave out"},
		{"result field of a token", `"$.fence"`, `"$.Payload.fence"`, 1, "ResultSelector takes $.Payload.fence, which queuejob does not give"},
		{"retries", `"MaxAttempts": 4`, `"MaxAttempts": 3`, 1, "Retry must set MaxAttempts 4"},
		{"jitter", `"MaxDelaySeconds": 60,
          "JitterStrategy": "FULL"`, `"MaxDelaySeconds": 60,
          "JitterStrategy": "NONE"`, 1, "backed off, bounded and jittered"},
		{"retry of a verdict", `"Lambda.Unknown"`, `"Permanent"`, 1, "Retry covers Permanent"},
		{"retry of a week's time-out", `"Sandbox.Timedout"
          ],`, `"States.Timeout"
          ],`, 1, "Retry covers States.Timeout: true; the state waits for a token: true"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			src, err := Source(Analysis)
			if err != nil {
				t.Fatal(err)
			}
			broken := strings.Replace(string(src), tc.old, tc.new, tc.count)
			if broken == string(src) {
				t.Fatalf("the definition has no %s", tc.old)
			}
			var d definition
			if err := json.Unmarshal([]byte(broken), &d); err != nil {
				t.Fatal(err)
			}
			if err := check(Analysis, d); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %q in it", err, tc.want)
			}
		})
	}
}

func TestWorstCaseFitsTheLimits(t *testing.T) {
	for _, name := range Names() {
		w, err := WorstCase(name)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: at most %d events of %d, %d bytes of %d", name, w.Events, MaxEvents, w.StateBytes, MaxBytes)
		if w.Events >= MaxEvents {
			t.Errorf("%s: up to %d events; Step Functions ends an execution at %d", name, w.Events, MaxEvents)
		}
		if w.StateBytes >= MaxBytes {
			t.Errorf("%s: up to %d bytes; Step Functions allows %d", name, w.StateBytes, MaxBytes)
		}
	}
}

func TestWorstCaseSees(t *testing.T) {
	for _, tc := range []struct{ name, old, new, want string }{
		{"a loop that nobody counts", `"Next": "FindingsAgain"`, `"Next": "Findings"`, "is not counted"},
		{"a counter that nobody compares", `"NumericLessThan": 100`, `"NumericLessThan": 100000`, "nothing compares $.begin."},
	} {
		t.Run(tc.name, func(t *testing.T) {
			src, err := Source(Analysis)
			if err != nil {
				t.Fatal(err)
			}
			var d definition
			if err := json.Unmarshal([]byte(strings.ReplaceAll(string(src), tc.old, tc.new)), &d); err != nil {
				t.Fatal(err)
			}
			if _, err := worstCase(d); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %q in it", err, tc.want)
			}
		})
	}
}

// TestASLValidator holds the definitions against a second reader of the language.
func TestASLValidator(t *testing.T) {
	bin := filepath.Join("..", "node_modules", ".bin", "asl-validator")
	if _, err := os.Stat(bin); errors.Is(err, os.ErrNotExist) {
		t.Skip("asl-validator is not installed; run: npm ci")
	}
	for _, name := range Names() {
		filled, err := Fill(name, arns(t, name))
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), name+".json")
		if err := os.WriteFile(path, filled, 0o600); err != nil {
			t.Fatal(err)
		}
		if out, err := exec.CommandContext(t.Context(), bin, "--json-path", path).CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
	}
}

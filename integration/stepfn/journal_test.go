package stepfn

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
)

func TestJournalTroubles(t *testing.T) {
	write := func(t *testing.T, text string) string {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, journalName), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	machine := `{"t":"machine","arn":"arn:aws:states:us-east-1:000000000000:stateMachine:m","name":"m","role":"r","definition":"{\"StartAt\":\"A\",\"States\":{\"A\":{\"Type\":\"Succeed\"}}}","created":1.000}` + "\n"
	for _, tc := range []struct{ name, text, want string }{
		{"a line that a crash cut short is dropped", machine + `{"t":"sta`, ""},
		{"a broken line in the middle is refused", "nonsense\n" + machine, "line 1: not readable"},
		{"an unknown kind is refused", machine + `{"t":"x"}` + "\n", `line 2: kind "x" is unknown`},
		{"an event of nobody is refused", machine + `{"t":"event","x":"y","e":{"type":"T","id":1,"previousEventId":0,"timestamp":1.000}}` + "\n", "line 2: event of unknown execution y"},
		{"an execution of nobody is refused", `{"t":"start","arn":"a","name":"n","machine":"m","revision":0,"input":"{}","start":1.000}` + "\n", "line 1: execution n: no revision 0 of m"},
		{"a definition that no longer loads is refused", strings.Replace(machine, "Succeed", "Nap", 1), `line 1: definition of m: $.States.A.Type: "Nap"`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir := write(t, tc.text)
			e, err := New(Options{Invoker: &scripted{}, Dir: dir})
			if tc.want != "" {
				if err == nil || !strings.Contains(err.Error(), tc.want) {
					t.Fatalf("got %v, want %q in it", err, tc.want)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			defer e.Close()
			if l, _ := e.ListStateMachines(ListStateMachinesInput{}); len(l.StateMachines) != 1 {
				t.Errorf("machines: %v", l)
			}
			if b, _ := os.ReadFile(filepath.Join(dir, journalName)); string(b) != machine {
				t.Errorf("the journal is now %s", b)
			}
			if _, err := New(Options{Invoker: &scripted{}, Dir: dir}); err == nil || !strings.Contains(err.Error(), "in use by another engine") {
				t.Errorf("a second engine on one folder: %v", err)
			}
		})
	}
}

// What cannot be recorded does not happen: an engine whose journal fails stops.
func TestJournalFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tokens := make(chan string, 9)
		s := &scripted{fns: fns{"f": handed(tokens)}}
		e := newEngine(t, Options{Invoker: s, Dir: t.TempDir()})
		m := create(t, e, waiting("X"))
		arn := start(t, e, m, "x", `{}`)
		tok := <-tokens
		synctest.Wait()
		e.mu.Lock()
		e.journal.f.Close() // as a full disk would, from here on
		e.journal.f, _ = os.Open(os.DevNull)
		e.mu.Unlock()
		if err := e.succeed(tok, `1`); code(err) != CodeUnavailable {
			t.Errorf("an answer that was not kept: %v", err)
		}
		if _, err := e.StartExecution(StartExecutionInput{m, "y", `{}`}); code(err) != CodeUnavailable {
			t.Errorf("start: %v", err)
		}
		if err := e.Wait(t.Context(), arn); err == nil {
			t.Error("the execution went on")
		}
		if got := types(history(t, e, arn)); !strings.HasSuffix(got, "TaskSubmitted") {
			t.Errorf("the history shows what was not kept: %s", got)
		}
	})
}

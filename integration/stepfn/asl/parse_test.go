package asl

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const task = `"Type":"Task","Resource":"arn:aws:states:::lambda:invoke","Parameters":{"FunctionName":"f"}`

// one wraps a state named S whose only way out is its End.
func one(state string) string { return `{"StartAt":"S","States":{"S":{` + state + `}}}` }

func TestParseReads(t *testing.T) {
	m, err := Parse([]byte(`{"Comment":"c","Version":"1.0","StartAt":"T","TimeoutSeconds":60,"States":{
		"T":{` + task + `,"TimeoutSeconds":30,"HeartbeatSeconds":10,"ResultPath":"$.r","Next":"W",
			"Retry":[{"ErrorEquals":["A"]},{"ErrorEquals":["States.ALL"],"IntervalSeconds":2,"MaxAttempts":0,"BackoffRate":1.5,"MaxDelaySeconds":9,"JitterStrategy":"FULL"}],
			"Catch":[{"ErrorEquals":["States.ALL"],"ResultPath":null,"Next":"W"}]},
		"W":{"Type":"Wait","Seconds":0,"End":true}}}`))
	if err != nil {
		t.Fatal(err)
	}
	s := m.States["T"]
	if m.Timeout != time.Minute || s.Task.Timeout != 30*time.Second || s.Task.Heartbeat != 10*time.Second || s.Task.WaitForToken {
		t.Errorf("timers: %+v %+v", m, s.Task)
	}
	want := Retrier{ErrorEquals: []string{"A"}, Interval: time.Second, MaxAttempts: 3, BackoffRate: 2}
	if r := s.Retry[0]; r.Interval != want.Interval || r.MaxAttempts != want.MaxAttempts || r.BackoffRate != want.BackoffRate || r.FullJitter {
		t.Errorf("defaults of Retry: %+v", r)
	}
	if r := s.Retry[1]; r.MaxAttempts != 0 || r.BackoffRate != 1.5 || r.MaxDelay != 9*time.Second || !r.FullJitter {
		t.Errorf("Retry: %+v", r)
	}
	if !s.Catch[0].ResultPath.Null {
		t.Error("ResultPath null is not read")
	}
}

// TestParseRefuses names what is wrong by its path in the definition.
func TestParseRefuses(t *testing.T) {
	for _, tc := range []struct{ name, def, want string }{
		{"no JSON", `{`, "$: not readable as JSON"},
		{"text behind", `{} x`, "$: not readable as JSON"},
		{"a field twice", `{"StartAt":"S","StartAt":"S"}`, `field "StartAt" stands twice`},
		{"too deep", strings.Repeat(`{"a":`, 120) + "1" + strings.Repeat("}", 120), "nested more than 100 deep"},
		{"too large", `{"Comment":"` + strings.Repeat("x", MaxDefinition) + `"}`, "the limit is 1048576"},
		{"no object", `[]`, "$: must be an object"},
		{"no states", `{"StartAt":"S","States":{}}`, "$.States: there is no state"},
		{"states missing", `{"StartAt":"S"}`, "$.States: is missing"},
		{"start unknown", `{"StartAt":"X","States":{"S":{"Type":"Succeed"}}}`, `$.StartAt: there is no state "X"`},
		{"version", `{"Version":"2.0","StartAt":"S","States":{"S":{"Type":"Succeed"}}}`, "$.Version: only version 1.0"},
		{"JSONata", `{"QueryLanguage":"JSONata","StartAt":"S","States":{"S":{"Type":"Succeed"}}}`, "$.QueryLanguage: only JSONPath"},
		{"JSONata in a state", one(`"Type":"Succeed","QueryLanguage":"JSONata"`), "$.States.S.QueryLanguage: only JSONPath"},
		{"field unknown", one(`"Type":"Pass","End":true,"Assign":{}`), "$.States.S.Assign: this field is not supported here"},
		{"field of another type", one(`"Type":"Succeed","End":true`), "$.States.S.End: this field is not supported here"},
		{"top field unknown", `{"StartAt":"S","States":{"S":{"Type":"Succeed"}},"Foo":1}`, "$.Foo: this field is not supported"},
		{"type unknown", one(`"Type":"Nap"`), `$.States.S.Type: "Nap" is no type of state`},
		{"type missing", one(`"End":true`), "$.States.S.Type: is missing"},
		{"name with a space", `{"StartAt":"a b","States":{"a b":{"Type":"Nap"}}}`, `$.States['a b'].Type`},
		{"name too long", `{"StartAt":"S","States":{"S":{"Type":"Succeed"},"` + strings.Repeat("n", 81) + `":{"Type":"Succeed"}}}`, "more than 80 characters"},
		{"next unknown", one(`"Type":"Pass","Next":"X"`), `$.States.S: leads to state "X", which does not exist`},
		{"next missing", one(`"Type":"Pass"`), "$.States.S.Next: is missing"},
		{"next and end", one(`"Type":"Pass","Next":"S","End":true`), "$.States.S.Next: a state has Next or End, not both"},
		{"unreachable", `{"StartAt":"S","States":{"S":{"Type":"Succeed"},"U":{"Type":"Succeed"}}}`, "$.States.U: no path from StartAt leads here"},
		{"catch leads nowhere", one(task + `,"End":true,"Catch":[{"ErrorEquals":["A"],"Next":"X"}]`), `leads to state "X"`},
		{"resource", one(`"Type":"Task","Resource":"arn:aws:states:::sqs:sendMessage","Parameters":{"FunctionName":"f"},"End":true`), `$.States.S.Resource: "arn:aws:states:::sqs:sendMessage" is not supported`},
		{"resource is a function", one(`"Type":"Task","Resource":"arn:aws:lambda:us-east-1:1:function:f","Parameters":{"FunctionName":"f"},"End":true`), "$.States.S.Resource"},
		{"no function", one(`"Type":"Task","Resource":"arn:aws:states:::lambda:invoke","Parameters":{"Payload":{}},"End":true`), "$.States.S.Parameters.FunctionName: is missing"},
		{"invocation type", one(`"Type":"Task","Resource":"arn:aws:states:::lambda:invoke","Parameters":{"FunctionName":"f","InvocationType":"Event"},"End":true`), "$.States.S.Parameters.InvocationType: this field is not supported"},
		{"path in parameters", one(`"Type":"Task","Resource":"arn:aws:states:::lambda:invoke","Parameters":{"FunctionName":"f","Payload":{"a":[{"b.$":"$..x"}]}},"End":true`), "$.States.S.Parameters.Payload.a[0]['b.$']"},
		{"timeout as a string", one(task + `,"TimeoutSeconds":"5","End":true`), "$.States.S.TimeoutSeconds: must be a whole number from 1 to 99999999"},
		{"timeout zero", one(task + `,"TimeoutSeconds":0,"End":true`), "$.States.S.TimeoutSeconds"},
		{"timeout path", one(task + `,"TimeoutSecondsPath":"$.t","End":true`), "$.States.S.TimeoutSecondsPath: this field is not supported"},
		{"heartbeat not below timeout", one(task + `,"TimeoutSeconds":5,"HeartbeatSeconds":5,"End":true`), "$.States.S.HeartbeatSeconds: must be smaller"},
		{"retry without errors", one(task + `,"End":true,"Retry":[{"MaxAttempts":1}]`), "$.States.S.Retry[0].ErrorEquals: must be an array"},
		{"retry with no error", one(task + `,"End":true,"Retry":[{"ErrorEquals":[]}]`), "$.States.S.Retry[0].ErrorEquals"},
		{"States.ALL not alone", one(task + `,"End":true,"Retry":[{"ErrorEquals":["A","States.ALL"]}]`), "States.ALL must stand alone"},
		{"States.ALL not last", one(task + `,"End":true,"Retry":[{"ErrorEquals":["States.ALL"]},{"ErrorEquals":["A"]}]`), "$.States.S.Retry[0].ErrorEquals: States.ALL"},
		{"reserved name misspelt", one(task + `,"End":true,"Retry":[{"ErrorEquals":["States.TimeOut"]}]`), `"States.TimeOut" is no error name`},
		{"backoff below one", one(task + `,"End":true,"Retry":[{"ErrorEquals":["A"],"BackoffRate":0.5}]`), "$.States.S.Retry[0].BackoffRate: must be a number of at least 1"},
		{"max delay", one(task + `,"End":true,"Retry":[{"ErrorEquals":["A"],"IntervalSeconds":5,"MaxDelaySeconds":5}]`), "$.States.S.Retry[0].MaxDelaySeconds: must be greater"},
		{"jitter", one(task + `,"End":true,"Retry":[{"ErrorEquals":["A"],"JitterStrategy":"HALF"}]`), `"HALF" is neither FULL nor NONE`},
		{"retry field unknown", one(task + `,"End":true,"Retry":[{"ErrorEquals":["A"],"Max":1}]`), "$.States.S.Retry[0].Max: this field"},
		{"retry is no list", one(task + `,"End":true,"Retry":{}`), "$.States.S.Retry: must be an array"},
		{"wait for nothing", one(`"Type":"Wait","End":true`), "$.States.S: a Wait has exactly one of"},
		{"wait for two things", one(`"Type":"Wait","Seconds":1,"SecondsPath":"$.s","End":true`), "$.States.S: a Wait has exactly one of"},
		{"wait timestamp", one(`"Type":"Wait","Timestamp":"tomorrow","End":true`), `"tomorrow" is not an RFC 3339 timestamp`},
		{"wait path of many", one(`"Type":"Wait","SecondsPath":"$.s[*]","End":true`), "$.States.S.SecondsPath: the path must lead to one value"},
		{"no choices", one(`"Type":"Choice","Default":"S"`), "$.States.S.Choices: is missing"},
		{"two operators", one(`"Type":"Choice","Choices":[{"Variable":"$.a","StringEquals":"x","IsNull":true,"Next":"S"}]`), "$.States.S.Choices[0]: a choice rule has exactly one operator; this has 2"},
		{"no operator", one(`"Type":"Choice","Choices":[{"Variable":"$.a","Next":"S"}]`), "exactly one operator; this has 0"},
		{"operator unknown", one(`"Type":"Choice","Choices":[{"Variable":"$.a","StringIs":"x","Next":"S"}]`), "$.States.S.Choices[0].StringIs: this field is not supported"},
		{"operand", one(`"Type":"Choice","Choices":[{"Variable":"$.a","NumericEquals":"1","Next":"S"}]`), "$.States.S.Choices[0].NumericEquals: must be a number"},
		{"no variable", one(`"Type":"Choice","Choices":[{"StringEquals":"x","Next":"S"}]`), "$.States.S.Choices[0].Variable: is missing"},
		{"rule without next", one(`"Type":"Choice","Choices":[{"Variable":"$.a","IsNull":true}]`), "$.States.S.Choices[0].Next: is missing"},
		{"next in an inner rule", one(`"Type":"Choice","Choices":[{"Not":{"Variable":"$.a","IsNull":true,"Next":"S"},"Next":"S"}]`), "$.States.S.Choices[0].Not.Next: this field"},
		{"error and path", one(`"Type":"Fail","Error":"E","ErrorPath":"$.e"`), "$.States.S.ErrorPath: Error and ErrorPath exclude each other"},
		{"result path with index", one(task + `,"ResultPath":"$.a[0]","End":true`), "$.States.S.ResultPath"},
		{"parameters of a pass", one(`"Type":"Pass","Parameters":"x","End":true`), "$.States.S.Parameters: must be an object"},
		{"distributed map", one(`"Type":"Map","End":true,"ItemProcessor":{"ProcessorConfig":{"Mode":"DISTRIBUTED"},"StartAt":"I","States":{"I":{"Type":"Succeed"}}}`), "$.States.S.ItemProcessor.ProcessorConfig.Mode"},
		{"old map", one(`"Type":"Map","End":true,"Iterator":{"StartAt":"I","States":{"I":{"Type":"Succeed"}}}`), "$.States.S.ItemProcessor: is missing"},
		{"inside a branch", one(`"Type":"Parallel","End":true,"Branches":[{"StartAt":"I","States":{"I":{"Type":"Pass","Next":"S"}}}]`), `$.States.S.Branches[0].States.I: leads to state "S"`},
		{"name taken twice", one(`"Type":"Parallel","End":true,"Branches":[{"StartAt":"S","States":{"S":{"Type":"Succeed"}}}]`), "the name is taken by $.States.S"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := Parse([]byte(tc.def))
			var ps Problems
			if !errors.As(err, &ps) || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %.400v\nwant %q in it", err, tc.want)
			}
		})
	}
}

func TestParseReportsEverything(t *testing.T) {
	_, err := Parse([]byte(one(`"Type":"Wait","Seconds":-1,"Foo":1`)))
	var ps Problems
	if !errors.As(err, &ps) || len(ps) != 3 {
		t.Fatalf("got %v, want Foo, Next and Seconds", err)
	}
}

// definitions gives the real definitions, as seeds and as a check.
func definitions(t testing.TB) [][]byte {
	files, err := filepath.Glob("../../../statemachine/*.asl.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no definitions: %v", err)
	}
	var out [][]byte
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, b)
	}
	return out
}

func TestParseRealDefinitions(t *testing.T) {
	for _, def := range definitions(t) {
		if _, err := Parse(def); err != nil {
			t.Error(err)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, def := range definitions(f) {
		f.Add(def)
	}
	f.Add([]byte(one(`"Type":"Parallel","End":true,"Branches":[{"StartAt":"I","States":{"I":{"Type":"Succeed"}}}]`)))
	f.Add([]byte(one(`"Type":"Map","End":true,"ItemSelector":{"a.$":"States.Format('{}',$$.Map.Item.Value)"},"ItemProcessor":{"StartAt":"I","States":{"I":{"Type":"Fail","ErrorPath":"$.e"}}}`)))
	f.Fuzz(func(t *testing.T, def []byte) {
		m, err := Parse(def)
		if (m == nil) == (err == nil) {
			t.Fatalf("model %v, error %v", m, err)
		}
		if m == nil {
			return
		}
		for name, s := range m.States {
			if s == nil || s.Name != name {
				t.Fatalf("state %q: %+v", name, s)
			}
			for _, next := range s.Nexts() {
				if m.States[next] == nil {
					t.Fatalf("%s leads to %q", name, next)
				}
			}
		}
	})
}

func FuzzPath(f *testing.F) {
	for _, s := range []string{"$", "$$.Task.Token", "$.a['b'][0][1:-1].*", `$["x\"y"]`, "$.é-_1"} {
		f.Add(s, `{"a":{"b":[[1,2,3]]}}`)
	}
	f.Fuzz(func(t *testing.T, path, doc string) {
		p, err := ParsePath(path)
		if err != nil {
			return
		}
		if p.String() != path {
			t.Fatalf("%q became %q", path, p)
		}
		v, err := Decode([]byte(doc))
		if err != nil {
			return
		}
		first, ok := p.Get(v, v)
		again, _ := p.Get(v, v)
		if ok && string(Encode(first)) != string(Encode(again)) {
			t.Fatal("two readings differ")
		}
		if r, err := parseResultPath(path); err == nil {
			out, err := r.Put(v, "put")
			if err != nil {
				return
			}
			if got, ok := p.Get(out, nil); !ok || got != "put" {
				t.Fatalf("put at %q, read %v %t", path, got, ok)
			}
		}
	})
}

func FuzzIntrinsic(f *testing.F) {
	for _, s := range []string{"States.Format('{} \\{', $.a)", "States.Array(1, null, States.MathAdd(1,2))", "States.StringToJson($['a)'])"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		c, err := parseCall(s)
		if err != nil {
			return
		}
		v, err := c.eval("x.$", map[string]any{"a": "1"}, nil)
		if err == nil {
			Encode(v)
		}
	})
}

package asl

import (
	"errors"
	"testing"
)

// holds compiles one rule and evaluates it.
func holds(t *testing.T, rule, input string) (bool, error) {
	t.Helper()
	m, err := Parse([]byte(`{"StartAt":"C","States":{"C":{"Type":"Choice","Choices":[` +
		rule[:len(rule)-1] + `,"Next":"Yes"}],"Default":"No"},"Yes":{"Type":"Succeed"},"No":{"Type":"Succeed"}}}`))
	if err != nil {
		t.Fatal(err)
	}
	next, err := m.States["C"].Choice.Pick("C", value(t, input), value(t, `{"State":{"Name":"C"}}`))
	return next == "Yes", err
}

func TestChoiceOperators(t *testing.T) {
	const in = `{"s":"beta","n":5,"f":5.0,"b":true,"z":null,"t":"2026-11-29T10:00:00Z","t2":"2026-11-29T12:00:00+02:00","m":"log-2026*.txt","o":{}}`
	for _, tc := range []struct {
		rule string
		want bool
	}{
		{`{"Variable":"$.s","StringEquals":"beta"}`, true},
		{`{"Variable":"$.s","StringEquals":"Beta"}`, false},
		{`{"Variable":"$.s","StringEqualsPath":"$.s"}`, true},
		{`{"Variable":"$.s","StringLessThan":"gamma"}`, true},
		{`{"Variable":"$.s","StringGreaterThan":"beta"}`, false},
		{`{"Variable":"$.s","StringGreaterThanEquals":"beta"}`, true},
		{`{"Variable":"$.s","StringLessThanEqualsPath":"$.m"}`, true},
		{`{"Variable":"$.n","StringEquals":"5"}`, false},
		{`{"Variable":"$.n","NumericEquals":5.0}`, true},
		{`{"Variable":"$.n","NumericEqualsPath":"$.f"}`, true},
		{`{"Variable":"$.n","NumericLessThan":5}`, false},
		{`{"Variable":"$.n","NumericLessThanEquals":5}`, true},
		{`{"Variable":"$.n","NumericGreaterThan":4.9}`, true},
		{`{"Variable":"$.n","NumericGreaterThanEqualsPath":"$.s"}`, false},
		{`{"Variable":"$.s","NumericEquals":5}`, false},
		{`{"Variable":"$.b","BooleanEquals":true}`, true},
		{`{"Variable":"$.b","BooleanEquals":false}`, false},
		{`{"Variable":"$.b","BooleanEqualsPath":"$.b"}`, true},
		{`{"Variable":"$.z","BooleanEquals":false}`, false},
		{`{"Variable":"$.t","TimestampEqualsPath":"$.t2"}`, true},
		{`{"Variable":"$.t","TimestampLessThan":"2026-11-29T10:00:00.001Z"}`, true},
		{`{"Variable":"$.t","TimestampGreaterThanEquals":"2027-01-01T00:00:00Z"}`, false},
		{`{"Variable":"$.s","TimestampEquals":"2026-11-29T10:00:00Z"}`, false},
		{`{"Variable":"$.m","StringMatches":"log-*.txt"}`, true},
		{`{"Variable":"$.m","StringMatches":"log-2026\\*.txt"}`, true},
		{`{"Variable":"$.m","StringMatches":"*2026*"}`, true},
		{`{"Variable":"$.m","StringMatches":"log"}`, false},
		{`{"Variable":"$.m","StringMatches":"*x"}`, false},
		{`{"Variable":"$.z","IsNull":true}`, true},
		{`{"Variable":"$.s","IsNull":false}`, true},
		{`{"Variable":"$.q","IsPresent":false}`, true},
		{`{"Variable":"$.z","IsPresent":true}`, true},
		{`{"Variable":"$.s","IsString":true}`, true},
		{`{"Variable":"$.n","IsNumeric":true}`, true},
		{`{"Variable":"$.o","IsNumeric":true}`, false},
		{`{"Variable":"$.b","IsBoolean":true}`, true},
		{`{"Variable":"$.t","IsTimestamp":true}`, true},
		{`{"Variable":"$.s","IsTimestamp":false}`, true},
		{`{"Variable":"$$.State.Name","StringEquals":"C"}`, true},
		{`{"And":[{"Variable":"$.n","NumericGreaterThan":1},{"Variable":"$.s","StringEquals":"beta"}]}`, true},
		{`{"And":[{"Variable":"$.n","NumericGreaterThan":9},{"Variable":"$.s","StringEquals":"beta"}]}`, false},
		{`{"Or":[{"Variable":"$.n","NumericGreaterThan":9},{"Variable":"$.s","StringEquals":"beta"}]}`, true},
		{`{"Or":[{"Variable":"$.n","NumericGreaterThan":9},{"Not":{"Variable":"$.s","StringEquals":"beta"}}]}`, false},
		{`{"Not":{"Variable":"$.q","IsPresent":true}}`, true},
		// A guard in And keeps a later rule from a missing value.
		{`{"And":[{"Variable":"$.q","IsPresent":true},{"Variable":"$.q","NumericEquals":1}]}`, false},
	} {
		t.Run(tc.rule, func(t *testing.T) {
			got, err := holds(t, tc.rule, in)
			if err != nil || got != tc.want {
				t.Errorf("got %t, %v; want %t", got, err, tc.want)
			}
		})
	}
}

func TestChoiceOfAMissingValue(t *testing.T) {
	for _, rule := range []string{
		`{"Variable":"$.q","StringEquals":"x"}`,
		`{"Variable":"$.q","IsNull":true}`,
		`{"Variable":"$.s","StringEqualsPath":"$.q"}`,
	} {
		_, err := holds(t, rule, `{"s":"x"}`)
		var e *Error
		if !errors.As(err, &e) || e.Name != ErrRuntime {
			t.Errorf("%s: got %v, want States.Runtime", rule, err)
		}
	}
}

func TestMatches(t *testing.T) {
	for _, tc := range []struct {
		equals, name string
		want         bool
	}{
		{"Transient", "Transient", true},
		{"Transient", "transient", false},
		{"States.ALL", "Transient", true},
		{"States.ALL", "States.Timeout", true},
		{"States.ALL", "States.HeartbeatTimeout", true},
		{"States.ALL", "States.Runtime", false},
		{"States.ALL", "States.DataLimitExceeded", false},
		{"States.Runtime", "States.Runtime", false},
		{"States.DataLimitExceeded", "States.DataLimitExceeded", true},
		{"States.TaskFailed", "Transient", true},
		{"States.TaskFailed", "States.ResultPathMatchFailure", true},
		{"States.TaskFailed", "States.Timeout", false},
		{"States.TaskFailed", "States.HeartbeatTimeout", false},
		{"States.TaskFailed", "States.DataLimitExceeded", false},
		{"States.Timeout", "States.HeartbeatTimeout", true},
		{"States.HeartbeatTimeout", "States.Timeout", false},
		{"States.HeartbeatTimeout", "States.HeartbeatTimeout", true},
	} {
		if got := Matches([]string{tc.equals}, tc.name); got != tc.want {
			t.Errorf("%s covers %s: %t", tc.equals, tc.name, got)
		}
	}
}

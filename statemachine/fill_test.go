package statemachine

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"fastbowlinglab/shared/names"
)

func arns(t *testing.T, name string) map[string]string {
	t.Helper()
	ps, err := Placeholders(name)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, p := range ps {
		out[p] = "arn:aws:lambda:eu-west-2:123456789012:function:" + p + ":7"
	}
	return out
}

func TestFill(t *testing.T) {
	with := func(change func(map[string]string)) map[string]string {
		m := arns(t, Analysis)
		change(m)
		return m
	}
	for _, tc := range []struct {
		name, machine string
		subs          map[string]string
		want          string // in the error; "" for none
	}{
		{"OK", Analysis, arns(t, Analysis), ""},
		{"ErrMissing", Analysis, with(func(m map[string]string) { delete(m, "BeginArn"); m["WakeArn"] = "" }), "no value for BeginArn; no value for WakeArn"},
		{"ErrUnknown", Analysis, with(func(m map[string]string) { m["BegnArn"] = "x" }), "no placeholder BegnArn"},
		{"ErrNotJSON", Analysis, with(func(m map[string]string) { m["BeginArn"] = `x"` }), "escape for BeginArn"},
		{"ErrNoSuchMachine", "analyses", nil, `"analyses": there is no such definition (there are: analysis`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := Fill(tc.machine, tc.subs)
			if tc.want != "" {
				if err == nil || !strings.Contains(err.Error(), tc.want) {
					t.Fatalf("got error %v, want %q in it", err, tc.want)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if !json.Valid(got) || bytes.Contains(got, []byte("${")) || !bytes.Contains(got, []byte(tc.subs["BeginArn"])) {
				t.Errorf("not filled in: %.300s", got)
			}
		})
	}
}

func TestPlaceholdersAreTheFunctions(t *testing.T) {
	for _, name := range Names() {
		got, err := Placeholders(name)
		if err != nil {
			t.Fatal(err)
		}
		var want []string
		for _, f := range Functions(name) {
			want = append(want, f.ARNPlaceholder())
		}
		slices.Sort(want)
		if len(want) == 0 || !slices.Equal(got, want) {
			t.Errorf("%s: placeholders %v, functions %v", name, got, want)
		}
	}
	for _, f := range names.Functions() {
		in := 0
		for _, name := range Names() {
			if f.In(name) {
				in++
			}
		}
		if f.State != (in > 0) {
			t.Errorf("function %s: State %t, in %d state machines", f.Name, f.State, in)
		}
	}
}

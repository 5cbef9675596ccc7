package statemachine

import (
	"embed"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"fastbowlinglab/shared/names"
)

//go:embed *.asl.json
var files embed.FS

// The definitions.
const (
	Analysis = names.MachineAnalysis
	Backfill = names.MachineBackfill
	Nightly  = names.MachineNightly
)

// Functions lists the functions that a state machine invokes. Its placeholders
// are theirs.
func Functions(machine string) []names.Function {
	var out []names.Function
	for _, f := range names.Functions() {
		if f.In(machine) {
			out = append(out, f)
		}
	}
	return out
}

// Substitutions gives Fill's values for a state machine, by a function's ARN.
func Substitutions(machine string, arn func(function string) string) map[string]string {
	out := map[string]string{}
	for _, f := range Functions(machine) {
		out[f.ARNPlaceholder()] = arn(f.Name)
	}
	return out
}

const suffix = ".asl.json"

// Names lists the definitions.
func Names() []string {
	entries, err := files.ReadDir(".")
	if err != nil {
		panic(err) // the files are part of the program
	}
	var out []string
	for _, e := range entries {
		out = append(out, strings.TrimSuffix(e.Name(), suffix))
	}
	return out
}

// Source gives a definition as it is written, with its placeholders.
func Source(name string) ([]byte, error) {
	b, err := files.ReadFile(name + suffix)
	if err != nil {
		return nil, fmt.Errorf("state machine %q: there is no such definition (there are: %s)", name, strings.Join(Names(), ", "))
	}
	return b, nil
}

// placeholder is the syntax of CloudFormation's DefinitionSubstitutions.
var placeholder = regexp.MustCompile(`\$\{([^{}]*)\}`)

// Placeholders lists the placeholders of a definition, in alphabetical order:
// BeginArn for ${BeginArn}.
func Placeholders(name string) ([]string, error) {
	src, err := Source(name)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, m := range placeholder.FindAllSubmatch(src, -1) {
		out = append(out, string(m[1]))
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

// Fill gives a definition with its placeholders filled in. A placeholder without
// a value, a value that no placeholder asks for, and a value that would break the
// JSON are errors that name them all.
func Fill(name string, substitutions map[string]string) ([]byte, error) {
	src, err := Source(name)
	if err != nil {
		return nil, err
	}
	want, err := Placeholders(name)
	if err != nil {
		return nil, err
	}
	var wrong []string
	for _, p := range want {
		if substitutions[p] == "" {
			wrong = append(wrong, "no value for "+p)
		}
	}
	for _, p := range sortedKeys(substitutions) {
		if !slices.Contains(want, p) {
			wrong = append(wrong, "no placeholder "+p)
		}
		if strings.ContainsFunc(substitutions[p], func(r rune) bool { return r == '"' || r == '\\' || r < ' ' }) {
			wrong = append(wrong, "a value that JSON would need to escape for "+p)
		}
	}
	if len(wrong) > 0 {
		return nil, fmt.Errorf("state machine %s: %s", name, strings.Join(wrong, "; "))
	}
	out := placeholder.ReplaceAllFunc(src, func(m []byte) []byte {
		return []byte(substitutions[string(m[2:len(m)-1])])
	})
	if !json.Valid(out) {
		return nil, fmt.Errorf("state machine %s: the filled definition is not JSON", name)
	}
	return out, nil
}

func sortedKeys[V any](m map[string]V) []string {
	var out []string
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

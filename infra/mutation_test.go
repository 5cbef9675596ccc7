package infra

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"testing"
)

// TestEveryFigureIsGuarded changes each value of each template, one at a time,
// takes out each element of a list and each resource, and demands that a check
// notices. What need not be guarded is in unguarded, with its reason.
func TestEveryFigureIsGuarded(t *testing.T) {
	p := &probe{templates: copied(t, synth(t)), first: map[string]func(reporter){}}
	if f := p.noticed(""); f != "" {
		t.Fatalf("the templates as they are: %s", f)
	}
	used := map[int]bool{}
	changes, missed := 0, 0
	for _, stack := range slices.Sorted(maps.Keys(p.templates)) {
		resources := p.templates[stack].Resources
		for _, id := range slices.Sorted(maps.Keys(resources)) {
			r := resources[id]
			try := func(path string) {
				changes++
				if i := slices.IndexFunc(unguarded, func(u exemption) bool { return u.path.MatchString(r.Type + path) }); i >= 0 {
					used[i] = true
					return
				}
				if p.noticed(r.Type) == "" {
					missed++
					t.Errorf("nothing notices a change of %s/%s %s%s", stack, id, r.Type, path)
				}
			}
			delete(resources, id)
			try(" gone")
			resources[id] = r
			for _, policy := range []string{"DeletionPolicy", "UpdateReplacePolicy"} {
				c := r
				if policy == "DeletionPolicy" {
					c.DeletionPolicy = other(r.DeletionPolicy)
				} else {
					c.UpdateReplacePolicy = other(r.UpdateReplacePolicy)
				}
				resources[id] = c
				try(" " + policy)
				resources[id] = r
			}
			mutate(r.Properties, "", try)
		}
	}
	t.Logf("%d changes, %d missed", changes, missed)
	for i, u := range unguarded {
		if !used[i] {
			t.Errorf("unguarded %s matches nothing any more", u.path)
		}
	}
}

func other(policy string) string {
	if policy == "Retain" {
		return "Delete"
	}
	return "Retain"
}

// mutate changes each value under v in place, calls try with where it is, and
// puts it back.
func mutate(v any, path string, try func(path string)) {
	switch v := v.(type) {
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			here := path + "." + k
			if was := v[k]; changed(was) != nil {
				v[k] = changed(was)
				try(here)
				v[k] = was
			} else if l, ok := was.([]any); ok && len(l) > 0 {
				v[k] = l[: len(l)-1 : len(l)-1]
				try(here + " shorter")
				v[k] = was
			}
			mutate(v[k], here, try)
		}
	case []any:
		for i, was := range v {
			here := fmt.Sprintf("%s[%d]", path, i)
			if changed(was) != nil {
				v[i] = changed(was)
				try(here)
				v[i] = was
			}
			mutate(was, here, try)
		}
	}
}

// changed is another value of the same kind, nil for one that holds others.
func changed(v any) any {
	switch v := v.(type) {
	case string:
		return v + "x"
	case float64:
		return v + 1
	case bool:
		return !v
	}
	return nil
}

func copied(t *testing.T, all map[string]template) map[string]template {
	b, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	var out map[string]template
	if err := json.Unmarshal(b, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// exemption is a value that no check guards.
type exemption struct {
	path   *regexp.Regexp
	reason string
}

func exempt(pattern, reason string) exemption { return exemption{regexp.MustCompile(pattern), reason} }

var unguarded = []exemption{
	exempt(`Dashboard\.Dashboard(Name|Body)`, "how it looks is for people to judge; that each reference in it leads somewhere is checked"),
	exempt(`Function\.Code\.(S3Key|S3Bucket|ImageUri)`, "what a build gives, and the bootstrap's bucket: TestSynthTwice"),
	exempt(`TaskDefinition\.ContainerDefinitions\[0\]\.Image`, "what a build gives: TestImagePlatform"),
	exempt(`\.Tags`, "names for the console"),
	exempt(`\.Sid$`, "a label of a statement"),
	exempt(`Rule\.Targets\[0\]\.Id$|Alarm\.Metrics\[\d\]\.Label$|Rule\.Description$`, "a label"),
}

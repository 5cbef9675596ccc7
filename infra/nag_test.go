package infra

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// TestNag: cdk-nag's AwsSolutions finds nothing that is not suppressed with its
// reason.
func TestNag(t *testing.T) {
	synth(t)
	if len(metadata) < 6 {
		t.Fatalf("%d files of metadata, want one for each stack", len(metadata))
	}
	checked := 0
	for stack, b := range metadata {
		var paths map[string][]struct {
			Type string
			Data any
		}
		if err := json.Unmarshal(b, &paths); err != nil {
			t.Fatal(err)
		}
		for path, entries := range paths {
			for _, e := range entries {
				checked++
				if e.Type == "aws:cdk:error" || e.Type == "aws:cdk:warning" {
					first, _, _ := strings.Cut(fmt.Sprint(e.Data), "\n")
					t.Errorf("%s: %s: %s: %s", stack, path, e.Type, first)
				}
			}
		}
	}
	if checked == 0 {
		t.Error("the synthesised app has no metadata: the findings are elsewhere")
	}
}

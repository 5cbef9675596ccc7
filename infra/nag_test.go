package infra

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestNag: cdk-nag's AwsSolutions finds nothing that is not suppressed with its
// reason.
func TestNag(t *testing.T) {
	synth(t)
	var m struct {
		Artifacts map[string]struct {
			Metadata map[string][]struct {
				Type string
				Data any
			}
		}
	}
	if err := json.Unmarshal(manifest, &m); err != nil {
		t.Fatal(err)
	}
	for _, a := range m.Artifacts {
		for path, entries := range a.Metadata {
			for _, e := range entries {
				if e.Type == "aws:cdk:error" || e.Type == "aws:cdk:warning" {
					first, _, _ := strings.Cut(e.Data.(string), "\n")
					t.Errorf("%s: %s: %s", path, e.Type, first)
				}
			}
		}
	}
}

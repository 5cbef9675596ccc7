package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"fastbowlinglab/shared/names"
)

// Limits of a zip function's binary, stripped, as deployed.
const (
	maxBinary = 12e6
	maxRender = 16e6
)

func TestNoProgramDependsOnTheCDKOrTheEmulator(t *testing.T) {
	cmd := exec.Command("go", "list", "-deps", "./functions/...", "./shared/...", "./statemachine/...")
	cmd.Dir = root(t)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, out)
	}
	for _, dep := range strings.Fields(string(out)) {
		for _, bad := range []string{"aws-cdk-go", "jsii-runtime-go", "sivchari/kumo", "fastbowlinglab/infra", "fastbowlinglab/integration"} {
			if strings.Contains(dep, bad) {
				t.Errorf("functions, shared or statemachine depend on %s", dep)
			}
		}
	}
}

func TestDependenciesPointDown(t *testing.T) {
	cmd := exec.Command("go", "list", "-deps", "./shared/...")
	cmd.Dir = root(t)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, out)
	}
	for _, dep := range strings.Fields(string(out)) {
		if own, ok := strings.CutPrefix(dep, "fastbowlinglab/"); ok && !strings.HasPrefix(own+"/", "shared/") {
			t.Errorf("shared depends on %s", own)
		}
	}
}

func TestBinarySizes(t *testing.T) {
	for _, f := range names.Functions() {
		if f.Package != names.Zip {
			continue
		}
		path := filepath.Join(root(t), ".local", "dist", f.Name, "bootstrap")
		st, err := os.Stat(path)
		if err != nil {
			t.Skip(".local/dist is missing: run `make dist` first")
		}
		limit := int64(maxBinary)
		if f.Name == names.FnRender {
			limit = maxRender
		}
		t.Logf("%-10s %.1f MB", f.Name, float64(st.Size())/1e6)
		if st.Size() > limit {
			t.Errorf("%s has %d bytes, want at most %d", f.Name, st.Size(), limit)
		}
	}
}

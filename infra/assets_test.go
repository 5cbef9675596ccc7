package infra

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"fastbowlinglab/shared/names"
)

// TestSynthTwice: two synths, from two folders into two folders, are equal to
// the byte; and a function whose binary changed gets another asset and another
// version, and no other function does.
func TestSynthTwice(t *testing.T) {
	synth(t)
	again := t.TempDir()
	s, err := standIns(again)
	if err != nil {
		t.Fatal(err)
	}
	if err := synthInto(filepath.Join(again, "out"), s); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(synthDir, "out", "*.json"))
	if err != nil || len(files) < 12 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, f := range files {
		one, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		two, err := os.ReadFile(filepath.Join(again, "out", filepath.Base(f)))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(one, two) {
			t.Errorf("%s differs between two synths", filepath.Base(f))
		}
	}

	if err := os.WriteFile(filepath.Join(s.Dist, names.FnRender, "bootstrap"), []byte("changed"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := synthInto(filepath.Join(again, "changed"), s); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(filepath.Join(again, "changed", "Analysis.template.json"))
	if err != nil {
		t.Fatal(err)
	}
	var changed template
	if err := json.Unmarshal(b, &changed); err != nil {
		t.Fatal(err)
	}
	before := synth(t)["Analysis"]
	for id, r := range before.of("AWS::Lambda::Function") {
		name := strings.TrimPrefix(fmt.Sprint(r.Properties["FunctionName"]), names.Prefix)
		was, is := fmt.Sprint(r.Properties["Code"]), fmt.Sprint(changed.Resources[id].Properties["Code"])
		if (was != is) != (name == names.FnRender) {
			t.Errorf("%s: another asset: %t", name, was != is)
		}
	}
	gone := 0
	for id := range before.of("AWS::Lambda::Version") {
		if _, still := changed.Resources[id]; !still {
			gone++
		}
	}
	if gone != 1 {
		t.Errorf("%d functions get another version, want one", gone)
	}
}

// TestSharedChangeChangesBinaries is case 58: one line of a shared package makes
// another binary, so another asset; without it, two builds are the same bytes.
func TestSharedChangeChangesBinaries(t *testing.T) {
	dir := t.TempDir()
	source, err := filepath.Abs("../shared/handler/handler.go")
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(source)
	if err != nil {
		t.Fatal(err)
	}
	const line, other = `slog.Info`, `slog.Warn`
	if !bytes.Contains(b, []byte(line)) {
		t.Fatalf("%s has no %s to change", source, line)
	}
	copied := filepath.Join(dir, "handler.go")
	if err := os.WriteFile(copied, bytes.Replace(b, []byte(line), []byte(other), 1), 0o644); err != nil {
		t.Fatal(err)
	}
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{source: copied}})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "overlay.json"), overlay, 0o644); err != nil {
		t.Fatal(err)
	}
	build := func(name string, args ...string) [32]byte {
		out := filepath.Join(dir, name)
		cmd := exec.Command("go", append(append([]string{"build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-tags", "lambda.norpc", "-o", out}, args...), "../functions/wake/cmd")...)
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH=arm64")
		if msg, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("build: %v: %s", err, msg)
		}
		b, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		return sha256.Sum256(b)
	}
	first := build("first")
	if first != build("again") {
		t.Error("two builds of the same source differ")
	}
	if first == build("changed", "-overlay", filepath.Join(dir, "overlay.json")) {
		t.Error("a change in shared/handler does not change the binary of wake")
	}
}

// TestImagePlatform: the image's platform, the CPU that runs it, and the GOARCH
// that make builds for are one.
func TestImagePlatform(t *testing.T) {
	synth(t)
	for _, stack := range []string{"PoseFleet", "Analysis"} {
		b, err := os.ReadFile(filepath.Join(synthDir, "out", stack+".assets.json"))
		if err != nil {
			t.Fatal(err)
		}
		var m struct {
			DockerImages map[string]struct {
				Source struct{ Platform, DockerBuildTarget string }
			}
		}
		if err := json.Unmarshal(b, &m); err != nil {
			t.Fatal(err)
		}
		want := map[string]string{"PoseFleet": "worker", "Analysis": names.FnPrecheck}[stack]
		if len(m.DockerImages) != 1 {
			t.Errorf("%s has %d images, want 1", stack, len(m.DockerImages))
		}
		for _, i := range m.DockerImages {
			if i.Source.Platform != "linux/amd64" || i.Source.DockerBuildTarget != want {
				t.Errorf("%s: platform %q, target %q", stack, i.Source.Platform, i.Source.DockerBuildTarget)
			}
		}
	}
	makefile, err := os.ReadFile("../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`CGO_ENABLED=1 GOOS=linux GOARCH=amd64 go build -trimpath -ldflags='$(LDFLAGS)' -o $(STATE)/amd64/poseworker`,
		`CGO_ENABLED=0 GOOS=linux GOARCH=arm64 go build -trimpath -ldflags='$(LDFLAGS)' -tags $(TAGS) -o $(DIST)/$$f/bootstrap`,
	} {
		if !strings.Contains(string(makefile), want) {
			t.Errorf("the Makefile has no %s", want)
		}
	}
	docker, err := os.ReadFile("../functions/poseworker/Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"USER 10001", `ENTRYPOINT ["/usr/local/bin/poseworker"]`, `ENTRYPOINT ["/usr/local/bin/precheck"]`,
		"MODELS_DIR=" + imageModels, "ORT_LIBRARY=" + imageORT, "sha256sum --check --strict"} {
		if !strings.Contains(string(docker), want) {
			t.Errorf("the Dockerfile has no %s", want)
		}
	}
}

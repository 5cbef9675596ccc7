package infra

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/jsii-runtime-go"

	"fastbowlinglab/shared/names"
)

func TestMain(m *testing.M) {
	code := m.Run()
	jsii.Close()
	if synthDir != "" {
		os.RemoveAll(synthDir)
	}
	os.Exit(code)
}

// template is one stack's template.
type template struct {
	Resources map[string]resource
	Outputs   map[string]any
}

type resource struct {
	Type                string
	Properties          map[string]any
	DeletionPolicy      string
	UpdateReplacePolicy string
	DependsOn           any
	Metadata            map[string]any
}

// of lists the resources of a type, by their logical ids.
func (t template) of(kind string) map[string]resource {
	out := map[string]resource{}
	for id, r := range t.Resources {
		if r.Type == kind {
			out[id] = r
		}
	}
	return out
}

// one gives the only resource of a type.
func (t template) one(tb reporter, kind string) resource {
	tb.Helper()
	all := t.of(kind)
	if len(all) != 1 {
		tb.Fatalf("%d resources of type %s, want 1", len(all), kind)
	}
	for _, r := range all {
		return r
	}
	panic("unreachable")
}

// at follows a path of keys and indexes; nil where it leads nowhere.
func at(v any, path ...any) any {
	for _, p := range path {
		switch p := p.(type) {
		case string:
			m, ok := v.(map[string]any)
			if !ok {
				return nil
			}
			v = m[p]
		case int:
			l, ok := v.([]any)
			if !ok || p >= len(l) {
				return nil
			}
			v = l[p]
		}
	}
	return v
}

var (
	synthDir  string
	synthOnce sync.Once
	synthErr  error
	templates map[string]template
	metadata  = map[string][]byte{} // by stack: what the CDK and cdk-nag had to say
)

// synth gives the templates by the stacks' ids. They are made once, from
// stand-ins for what make builds: what a template says does not depend on it.
func synth(tb reporter) map[string]template {
	tb.Helper()
	if p, ok := tb.(*probe); ok {
		return p.templates
	}
	synthOnce.Do(func() { synthErr = runSynth() })
	if synthErr != nil {
		tb.Fatal(synthErr)
	}
	return templates
}

func runSynth() error {
	var err error
	if synthDir, err = os.MkdirTemp("", "infra"); err != nil {
		return err
	}
	s, err := standIns(synthDir)
	if err != nil {
		return err
	}
	out := filepath.Join(synthDir, "out")
	if err := synthInto(out, s); err != nil {
		return err
	}
	templates = map[string]template{}
	files, _ := filepath.Glob(filepath.Join(out, "*.template.json"))
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			return err
		}
		var t template
		if err := json.Unmarshal(b, &t); err != nil {
			return err
		}
		templates[strings.TrimSuffix(filepath.Base(f), ".template.json")] = t
	}
	files, _ = filepath.Glob(filepath.Join(out, "*.metadata.json"))
	for _, f := range files {
		if metadata[strings.TrimSuffix(filepath.Base(f), ".metadata.json")], err = os.ReadFile(f); err != nil {
			return err
		}
	}
	return nil
}

// standIns fills a folder with what make builds.
func standIns(dir string) (Settings, error) {
	s, err := SettingsFrom(func(string) (string, bool) { return "", false })
	if err != nil {
		return s, err
	}
	s.Account, s.Region = "", ""
	s.AlarmEmail, s.AppURL = "ops@example.com", "https://app.example.com/"
	s.Dist, s.Image = filepath.Join(dir, "dist"), filepath.Join(dir, "image")
	write := func(path, content string) error {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		return os.WriteFile(path, []byte(content), 0o755)
	}
	for _, f := range names.Functions() {
		if f.Package == names.Zip {
			if err := write(filepath.Join(s.Dist, f.Name, "bootstrap"), f.Name); err != nil {
				return s, err
			}
		}
	}
	return s, write(filepath.Join(s.Image, "Dockerfile"), "FROM scratch\n")
}

func synthInto(out string, s Settings) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("synth: %v", p)
		}
	}()
	app := awscdk.NewApp(&awscdk.AppProps{Outdir: jsii.String(out), AnalyticsReporting: jsii.Bool(false), Context: cdkContext()})
	Build(app, s)
	app.Synth(nil)
	return nil
}

// cdkContext is the context of cdk.json.
func cdkContext() *map[string]any {
	b, err := os.ReadFile("../cdk.json")
	if err != nil {
		panic(err)
	}
	var file struct{ Context map[string]any }
	if err := json.Unmarshal(b, &file); err != nil {
		panic(err)
	}
	return &file.Context
}

package parity

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"fastbowlinglab/shared/names"
)

const prefix = names.Prefix

// Account and Region are put in where a template has a pseudo parameter.
const (
	Account = "123456789012"
	Region  = "eu-west-1"
)

// Resource is a resource of a template.
type Resource struct {
	Type       string
	Properties map[string]any
}

// Templates are the resources of all stacks, by stack and logical id.
type Templates map[string]map[string]Resource

// Synth runs the CDK app of the project in root and reads what it makes in dir.
// What make builds is replaced by stand-ins: no template depends on it.
func Synth(ctx context.Context, root, dir string) (Templates, error) {
	for _, f := range names.Functions() {
		if err := standIn(filepath.Join(dir, "dist", f.Name, "bootstrap"), f.Name); err != nil {
			return nil, err
		}
	}
	if err := standIn(filepath.Join(dir, "image", "Dockerfile"), "FROM scratch\n"); err != nil {
		return nil, err
	}
	settings, err := cdkContext(root)
	if err != nil {
		return nil, err
	}
	settings["dist"], settings["image"] = filepath.Join(dir, "dist"), filepath.Join(dir, "image")
	in, err := json.Marshal(settings)
	if err != nil {
		return nil, err
	}
	out := filepath.Join(dir, "out")
	cmd := exec.CommandContext(ctx, "go", "run", "./infra/cmd")
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "CDK_OUTDIR="+out, "CDK_CONTEXT_JSON="+string(in), "CDK_DEFAULT_ACCOUNT=", "CDK_DEFAULT_REGION=",
		"JSII_SILENCE_WARNING_END_OF_LIFE_NODE_VERSION=18,20,22")
	if b, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("synthesise the CDK app: %w: %s", err, b)
	}
	return Read(out)
}

func cdkContext(root string) (map[string]any, error) {
	b, err := os.ReadFile(filepath.Join(root, "cdk.json"))
	if err != nil {
		return nil, err
	}
	var file struct{ Context map[string]any }
	return file.Context, json.Unmarshal(b, &file)
}

func standIn(path, content string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(content), 0o644)
}

// Read reads the templates in a folder.
func Read(dir string) (Templates, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.template.json"))
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return nil, errors.New("no templates in " + dir)
	}
	all := Templates{}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			return nil, err
		}
		var t struct{ Resources map[string]Resource }
		if err := json.Unmarshal(b, &t); err != nil {
			return nil, fmt.Errorf("%s: %w", f, err)
		}
		all[strings.TrimSuffix(filepath.Base(f), ".template.json")] = t.Resources
	}
	return all, nil
}

// Of lists the resources of a type in every stack, by stack/id.
func (t Templates) Of(kind string) map[string]Resource {
	out := map[string]Resource{}
	for stack, rs := range t {
		for id, r := range rs {
			if r.Type == kind {
				out[stack+"/"+id] = r
			}
		}
	}
	return out
}

// Text gives a value as a string: pseudo parameters filled in, references to
// other resources by their logical id.
func Text(v any) string {
	switch v := v.(type) {
	case string:
		return pseudo(v)
	case map[string]any:
		switch {
		case v["Fn::Sub"] != nil:
			return substitute(v["Fn::Sub"])
		case v["Fn::Join"] != nil:
			var b strings.Builder
			for _, part := range v["Fn::Join"].([]any)[1].([]any) {
				b.WriteString(Text(part))
			}
			return b.String()
		case v["Fn::GetAtt"] != nil:
			l := v["Fn::GetAtt"].([]any)
			return fmt.Sprintf("%v.%v", l[0], l[1])
		case v["Ref"] != nil:
			return pseudo("${" + fmt.Sprint(v["Ref"]) + "}")
		case v["Fn::ImportValue"] != nil:
			return Text(v["Fn::ImportValue"])
		}
	}
	return fmt.Sprint(v)
}

func substitute(v any) string {
	l, ok := v.([]any)
	if !ok {
		return Text(v)
	}
	s := l[0].(string)
	for name, value := range l[1].(map[string]any) {
		s = strings.ReplaceAll(s, "${"+name+"}", Text(value))
	}
	return pseudo(s)
}

func pseudo(s string) string {
	return strings.NewReplacer("${AWS::Partition}", "aws", "${AWS::Region}", Region, "${AWS::AccountId}", Account,
		"${AWS::URLSuffix}", "amazonaws.com").Replace(s)
}

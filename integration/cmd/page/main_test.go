package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fastbowlinglab/integration/web"
	"fastbowlinglab/shared/names"
)

func TestWrite(t *testing.T) {
	page := names.NewPage("https://app.example.com/", "https://api.example.com", "https://media.example.com", "https://issuer.example.com/pool", "client-1", "https://lab.auth.example.com")
	text, _ := json.Marshal(page)
	bad := page
	bad.Token = "https://x.example; script-src *"
	hostile, _ := json.Marshal(bad)
	for what, tc := range map[string]struct {
		outputs any
		says    string // "" when it is written
	}{
		"a deploy's":       {map[string]any{"FastBowlingLab-Data": map[string]string{"UserPool": "p"}, "FastBowlingLab-API": map[string]string{"ApiUrl": "a", "Page": string(text)}}, ""},
		"without appUrl":   {map[string]any{"FastBowlingLab-API": map[string]string{"ApiUrl": "a"}}, "set appUrl"},
		"no page":          {map[string]any{"FastBowlingLab-API": map[string]string{"Page": "x"}}, "output Page"},
		"half a page":      {map[string]any{"FastBowlingLab-API": map[string]string{"Page": `{"app":"https://app.example.com/"}`}}, "page's api"},
		"a page of others": {map[string]any{"FastBowlingLab-API": map[string]string{"Page": string(hostile)}}, "page's token"},
		"another file":     {[]int{1}, "is not what cdk"},
	} {
		dir := t.TempDir()
		b, err := json.Marshal(tc.outputs)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "outputs.json"), b, 0o644); err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		err = write(&out, filepath.Join(dir, "outputs.json"), filepath.Join(dir, "page"))
		if tc.says != "" {
			if err == nil || !strings.Contains(err.Error(), tc.says) {
				t.Errorf("%s: %v", what, err)
			}
			if _, err := os.Stat(filepath.Join(dir, "page")); err == nil {
				t.Errorf("%s: something was written", what)
			}
			continue
		}
		if err != nil || !strings.Contains(out.String(), "Content-Security-Policy: "+web.Policy(page)) || !strings.Contains(out.String(), page.App) {
			t.Errorf("%s: %v\n%s", what, err, out.String())
		}
	}
	if err := write(&strings.Builder{}, filepath.Join(t.TempDir(), "outputs.json"), t.TempDir()); err == nil || !strings.Contains(err.Error(), "--outputs-file") {
		t.Errorf("no file: %v", err)
	}
}

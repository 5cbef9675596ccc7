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
	told := page
	told.API = ""
	text, _ := json.Marshal(told)
	told.Token = "https://x.example; script-src *"
	hostile, _ := json.Marshal(told)
	type m = map[string]string
	for what, tc := range map[string]struct {
		outputs any
		says    string // "" when it is written
	}{
		"a deploy's":       {map[string]m{"FastBowlingLab-Data": {"UserPool": "p", "Page": string(text)}, "FastBowlingLab-API": {"ApiUrl": page.API}}, ""},
		"without appUrl":   {map[string]m{"FastBowlingLab-API": {"ApiUrl": page.API}}, "set appUrl"},
		"of one stack":     {map[string]m{"FastBowlingLab-Data": {"Page": string(text)}}, "page's api"},
		"no page":          {map[string]m{"FastBowlingLab-Data": {"Page": "x"}, "FastBowlingLab-API": {"ApiUrl": page.API}}, "output"},
		"half a page":      {map[string]m{"FastBowlingLab-Data": {"Page": `{"app":"https://app.example.com/"}`}, "FastBowlingLab-API": {"ApiUrl": page.API}}, "page's storage"},
		"a page of others": {map[string]m{"FastBowlingLab-Data": {"Page": string(hostile)}, "FastBowlingLab-API": {"ApiUrl": page.API}}, "page's token"},
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

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"fastbowlinglab/integration/local"
	"fastbowlinglab/shared/names"
)

func TestBadCommandLines(t *testing.T) {
	for _, tc := range []struct {
		name, token, want string
		args              []string
	}{
		{"NoAPI", "t", "API is", nil},
		{"NoToken", "", "TOKEN is empty", []string{"-api", "https://api.example.com"}},
		{"NoClip", "t", "no-such.mp4", []string{"-api", "https://api.example.com", "-clip", "no-such.mp4"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var out, problems bytes.Buffer
			if code := run(t.Context(), tc.args, tc.token, &out, &problems); code != 2 || !strings.Contains(problems.String(), tc.want) {
				t.Errorf("exit %d: %s", code, problems.String())
			}
		})
	}
}

// TestSmoke runs it against the embedded cloud, with nothing but the API's
// address and an athlete's token.
func TestSmoke(t *testing.T) {
	root, err := local.FindRoot()
	if err != nil {
		t.Fatal(err)
	}
	for _, need := range []string{".local/bin/" + names.PoseWorker, ".local/bin/" + names.FnRender + "/bootstrap", "node_modules/@dynoxide/linux-x64/dynoxide"} {
		if _, err := os.Stat(filepath.Join(root, need)); err != nil {
			t.Skipf("%s is missing: run `make functions` first", need)
		}
	}
	c, err := local.Start(t.Context(), local.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	operator, err := c.OperatorToken("operator", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	token, err := c.AthleteToken("ath-smoke", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	grant(t, c.API, operator)
	ctx, cancel := context.WithTimeout(t.Context(), 8*time.Minute)
	defer cancel()
	var out, problems bytes.Buffer
	code := run(ctx, []string{"-api", c.API, "-clip", filepath.Join(root, "integration/samples/bowler.mp4"), "-state", t.TempDir()}, token, &out, &problems)
	var sum struct{ Status string }
	if err := json.Unmarshal(out.Bytes(), &sum); err != nil || code != 0 || sum.Status != "ready" {
		t.Errorf("exit %d, %v: %s %s", code, err, out.String(), problems.String())
	}
	for _, want := range []string{"✓ upload", "● ", "Ready in ", "report.pdf", "Ledger  balance 0"} {
		if !strings.Contains(problems.String(), want) {
			t.Errorf("people are told nothing of %q: %s", want, problems.String())
		}
	}
}

func grant(t *testing.T, api, token string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), "POST", api+"/v1/operator/grants",
		strings.NewReader(`{"athlete_id":"ath-smoke","credits":1,"reason":"smoke"}`))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Idempotency-Key", "smoke")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode/100 != 2 {
		t.Fatalf("grant: %s", resp.Status)
	}
}

package apiclient_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"fastbowlinglab/integration/apiclient"
)

var good = apiclient.CreateRequest{Athlete: apiclient.Athlete{Name: "Zoë"}, Consent: true, Clips: []apiclient.NewClip{{Name: "a.mp4", Type: "video/mp4"}}}

// An app's life with the API, by the typed client alone.
func TestClient(t *testing.T) {
	w := newWorld(t)
	ctx, c := t.Context(), w.client("ath-1")
	var p *apiclient.Problem
	if _, err := c.Create(ctx, "k", good); !errors.As(err, &p) || p.Code != "no_credit" || p.Status != 402 {
		t.Fatal(err)
	}
	w.grant("ath-1", 5)
	made, err := c.Create(ctx, "k", good)
	if err != nil || len(made.Uploads) != 1 || made.Uploads[0].Fields["key"] == "" {
		t.Fatalf("%+v, %v", made, err)
	}
	if again, err := c.Create(ctx, "k", good); err != nil || again.AnalysisID != made.AnalysisID {
		t.Errorf("%+v, %v", again, err)
	}
	if up, err := c.Uploads(ctx, made.AnalysisID, ""); err != nil || up.Uploads[0].Fields["key"] != made.Uploads[0].Fields["key"] {
		t.Errorf("%+v, %v", up, err)
	}
	if _, err := c.Confirm(ctx, made.AnalysisID, ""); !errors.As(err, &p) || p.Code != "clips_missing" {
		t.Error(err)
	}
	if end, err := c.Cancel(ctx, made.AnalysisID, ""); err != nil || end.Status != "failed" || end.Reason != "cancelled" {
		t.Errorf("%+v, %v", end, err)
	}
	if a, err := c.Show(ctx, made.AnalysisID); err != nil || !a.Refunded || a.Message == "" {
		t.Errorf("%+v, %v", a, err)
	}
	if _, err := c.Report(ctx, made.AnalysisID); !errors.As(err, &p) || p.Code != "no_report" {
		t.Error(err)
	}
	if _, err := c.Rerun(ctx, made.AnalysisID, "r"); !errors.As(err, &p) || p.Code != "clips_gone" {
		t.Error(err)
	}
	for i := range 4 {
		if _, err := c.Create(ctx, fmt.Sprint("more", i), good); err != nil {
			t.Fatal(err)
		}
	}
	seen, cursor := map[string]bool{}, ""
	for {
		page, err := c.List(ctx, 2, cursor)
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range page.Analyses {
			seen[a.AnalysisID] = true
		}
		if cursor = page.NextCursor; cursor == "" {
			break
		}
	}
	if len(seen) != 5 {
		t.Errorf("%d analyses in pages, want 5", len(seen))
	}
	l, err := c.Credits(ctx, 100, "")
	if err != nil || l.Balance != 1 || len(l.Entries) != 7 { // a grant, 5 reservations, a refund
		t.Errorf("%+v, %v", l, err)
	}
	if me, err := c.Choose(ctx, apiclient.Choice{Channels: apiclient.ChosenChannels{Push: true}}); err != nil || me.Channels.Email || me.AthleteID != "ath-1" {
		t.Errorf("%+v, %v", me, err)
	}
	if e, err := c.Erase(ctx); err != nil || e.State != "open" {
		t.Errorf("%+v, %v", e, err)
	}
	if me, err := c.Me(ctx); err != nil || me.Erasure == nil {
		t.Errorf("%+v, %v", me, err)
	}
}

// The document that is served is the one that the client is made from.
func TestServedDocument(t *testing.T) {
	w := newWorld(t)
	resp, err := http.Get(w.URL + "/v1/openapi.json") // public
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	served, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.ReadFile(filepath.Join("..", "..", "functions", "api", "openapi.json"))
	if err != nil || !bytes.Equal(bytes.TrimSpace(served), bytes.TrimSpace(file)) || !bytes.Contains(served, []byte(`"openapi": "3.1.0"`)) {
		t.Errorf("served %.200s, %v", served, err)
	}
}

// Polling with the tag costs an empty answer while nothing moves.
func TestPolling(t *testing.T) {
	w := newWorld(t)
	w.grant("ath-1", 1)
	ctx, c := t.Context(), w.client("ath-1")
	made, err := c.Create(ctx, "k", good)
	if err != nil {
		t.Fatal(err)
	}
	first, seen, err := c.ShowSince(ctx, made.AnalysisID, "")
	if err != nil || seen.Same || seen.Tag == "" || first.Status != "reserved" {
		t.Fatalf("%+v %+v %v", first, seen, err)
	}
	same, seen, err := c.ShowSince(ctx, made.AnalysisID, seen.Tag)
	if err != nil || !seen.Same || same.Status != "" {
		t.Errorf("%+v %+v %v", same, seen, err)
	}
	if _, err := c.Cancel(ctx, made.AnalysisID, ""); err != nil {
		t.Fatal(err)
	}
	if moved, seen, err := c.ShowSince(ctx, made.AnalysisID, seen.Tag); err != nil || seen.Same || moved.Status != "failed" {
		t.Errorf("%+v %+v %v", moved, seen, err)
	}
}

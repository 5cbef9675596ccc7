package apiclient_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"fastbowlinglab/integration/apiclient"
)

var good = apiclient.CreateRequest{Athlete: apiclient.Athlete{Name: "Zoë"}, Consent: true, Clips: []apiclient.Clip{{Name: "a.mp4", Type: "video/mp4"}}}

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
	if up, err := c.Uploads(ctx, made.AnalysisID); err != nil || up.Uploads[0].Fields["key"] != made.Uploads[0].Fields["key"] {
		t.Errorf("%+v, %v", up, err)
	}
	if _, err := c.Confirm(ctx, made.AnalysisID); !errors.As(err, &p) || p.Code != "clips_missing" {
		t.Error(err)
	}
	if end, err := c.Cancel(ctx, made.AnalysisID); err != nil || end.Status != "failed" || end.Reason != "cancelled" {
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
		if cursor = page.Next; cursor == "" {
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
	if me, err := c.Choose(ctx, apiclient.Channels{Push: true}); err != nil || me.Channels.Email || me.AthleteID != "ath-1" {
		t.Errorf("%+v, %v", me, err)
	}
	if e, err := c.Erase(ctx); err != nil || e.State != "open" {
		t.Errorf("%+v, %v", e, err)
	}
	if me, err := c.Me(ctx); err != nil || me.Erasure == nil {
		t.Errorf("%+v, %v", me, err)
	}
}

// The client's types hold nothing that the served document does not.
func TestClientFitsTheDocument(t *testing.T) {
	w := newWorld(t)
	resp, err := http.Get(w.URL + "/v1/openapi.json") // public
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		OpenAPI    string `json:"openapi"`
		Components struct {
			Schemas map[string]struct {
				Properties map[string]any `json:"properties"`
				Required   []string       `json:"required"`
			} `json:"schemas"`
		} `json:"components"`
	}
	if err := json.Unmarshal(b, &doc); err != nil || doc.OpenAPI != "3.1.0" {
		t.Fatalf("%q, %v", doc.OpenAPI, err)
	}
	for schema, v := range map[string]any{
		"createIn": apiclient.CreateRequest{}, "athleteIn": apiclient.Athlete{}, "consentIn": apiclient.ConsentBy{}, "clipIn": apiclient.Clip{},
		"created": apiclient.Created{}, "upload": apiclient.Upload{}, "standing": apiclient.Standing{}, "view": apiclient.Analysis{},
		"listOut": apiclient.Page{}, "reportOut": apiclient.Report{}, "link": apiclient.Link{}, "creditsOut": apiclient.Ledger{}, "Entry": apiclient.Entry{},
		"meOut": apiclient.Me{}, "Channels": apiclient.Channels{}, "erasureOut": apiclient.Erasure{}, "grantIn": apiclient.GrantRequest{}, "grantOut": apiclient.Granted{},
		"problem": apiclient.Problem{},
	} {
		s, ok := doc.Components.Schemas[schema]
		if !ok {
			t.Errorf("the document has no schema %s", schema)
			continue
		}
		ours := map[string]bool{}
		for _, f := range reflect.VisibleFields(reflect.TypeOf(v)) {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			ours[name] = true
			if _, ok := s.Properties[name]; !ok {
				t.Errorf("%s.%s is not in the document", schema, name)
			}
		}
		if strings.HasSuffix(schema, "In") {
			for _, r := range s.Required {
				if !ours[r] {
					t.Errorf("%s.%s is needed and the client cannot send it", schema, r)
				}
			}
		}
	}
}

package apiclient_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"fastbowlinglab/integration/apiclient"
	"fastbowlinglab/integration/local/httpapi"
)

// slow holds the answers of POSTs back, after their work is done, until released.
type slow struct {
	invoker
	done    chan struct{} // one for each POST that has done its work
	release chan struct{}
}

func (s slow) Invoke(ctx context.Context, fn string, payload []byte) ([]byte, string, error) {
	out, kind, err := s.invoker.Invoke(ctx, fn, payload)
	if !strings.Contains(string(payload), `"method":"POST"`) {
		return out, kind, err
	}
	s.done <- struct{}{}
	select {
	case <-s.release:
		return out, kind, err
	case <-ctx.Done(): // the gateway waits no longer; the function has finished all the same
		return nil, "", ctx.Err()
	}
}

// Field case 51: the gateway gives up on a reserve, and on a cancel, that have
// been carried out. A browser can read that it did, and the repeat with the same
// key finds the one analysis, though the only credit is spent.
func TestTheGatewayGivesUp(t *testing.T) {
	w := newWorld(t)
	w.grant("ath-1", 1)
	s := slow{w.fn, make(chan struct{}, 9), make(chan struct{})}
	gw, err := httpapi.New(httpapi.Config{Lambda: s, Auth: w.issuer.Authorizer(), Timeout: 300 * time.Millisecond,
		CORS: &httpapi.CORS{Origins: []string{"https://app.example"}}})
	if err != nil {
		t.Fatal(err)
	}
	impatient := httptest.NewServer(gw)
	t.Cleanup(impatient.Close)
	post := func(path string, in any) *http.Response {
		t.Helper()
		b, err := json.Marshal(in)
		if err != nil {
			t.Fatal(err)
		}
		req, err := http.NewRequest("POST", impatient.URL+path, bytes.NewReader(b))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Origin", "https://app.example")
		req.Header.Set("Authorization", "Bearer "+w.token("ath-1"))
		req.Header.Set("Idempotency-Key", "k")
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		<-s.done
		return resp
	}
	lost := post("/v1/analyses", good)
	if lost.StatusCode != http.StatusServiceUnavailable || lost.Header.Get("Access-Control-Allow-Origin") != "https://app.example" {
		t.Fatalf("%d %v", lost.StatusCode, lost.Header)
	}
	c := w.client("ath-1")
	made, err := c.Create(t.Context(), "k", good)
	if err != nil || made.Status != "reserved" {
		t.Fatalf("the repeat: %+v, %v", made, err)
	}
	if lost := post("/v1/analyses/"+made.AnalysisID+"/cancel", map[string]any{}); lost.StatusCode != http.StatusServiceUnavailable {
		t.Fatalf("%d", lost.StatusCode)
	}
	if end, err := c.Cancel(t.Context(), made.AnalysisID, ""); err != nil || end.Reason != "cancelled" {
		t.Errorf("the repeat: %+v, %v", end, err)
	}
	l, err := c.Credits(t.Context(), 0, "")
	if err != nil || l.Balance != 1 || len(l.Entries) != 3 {
		t.Errorf("%+v, %v", l, err)
	}
	var p *apiclient.Problem
	if _, err := c.Confirm(t.Context(), made.AnalysisID, ""); !errors.As(err, &p) || p.Code != "analysis_ended" {
		t.Error(err)
	}
}

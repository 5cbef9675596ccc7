package aistage_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"fastbowlinglab/functions/internal/aistage"
	"fastbowlinglab/shared/fault"
	"fastbowlinglab/shared/lambdacall"
	"fastbowlinglab/shared/names"
)

// TestRenderer calls a Lambda API as the SDK would, and reads every way in which
// it may answer.
func TestRenderer(t *testing.T) {
	for _, c := range []struct {
		name     string
		status   int
		failed   string // X-Amz-Function-Error
		code     string // X-Amzn-Errortype
		body     string
		want     fault.Name
		pdf, why string
	}{
		{"answer", 200, "", "", `{"pdf_key":"p","json_key":"j"}`, "", "p", ""},
		{"no files", 200, "", "", `{}`, fault.Permanent, "", "names no files"},
		{"no JSON", 200, "", "", `<html>`, fault.Permanent, "", "names no files"},
		{"our error", 200, "Unhandled", "", `{"errorType":"Permanent","errorMessage":"the row is gone"}`, fault.Permanent, "", "the row is gone"},
		{"its time ran out", 200, "Unhandled", "", `{"errorType":"Sandbox.Timedout","errorMessage":"Task timed out"}`, fault.Transient, "", "Timedout"},
		{"it died", 200, "Unhandled", "", `{"errorType":"Runtime.ExitError","errorMessage":"exit"}`, fault.Transient, "", "ExitError"},
		{"throttled", 429, "", "TooManyRequestsException", `{"message":"Rate exceeded"}`, fault.Transient, "", "Rate exceeded"},
		{"forbidden", 403, "", "AccessDeniedException", `{"Message":"not authorized"}`, fault.Permanent, "", "not authorized"},
		{"broken", 500, "", "ServiceException", `{"Message":"oops"}`, fault.Transient, "", "oops"},
	} {
		t.Run(c.name, func(t *testing.T) {
			calls := 0
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				calls++
				var in names.RenderIn
				if err := json.NewDecoder(r.Body).Decode(&in); err != nil || in.Revision != "report-v2" || r.URL.Path != "/2015-03-31/functions/fbl-render/invocations" ||
					!strings.Contains(r.Header.Get("Authorization"), "/us-east-1/lambda/aws4_request") {
					t.Errorf("%s %s %v %+v", r.Method, r.URL, err, in)
				}
				for k, v := range map[string]string{"X-Amz-Function-Error": c.failed, "X-Amzn-Errortype": c.code} {
					if v != "" {
						w.Header().Set(k, v)
					}
				}
				w.WriteHeader(c.status)
				_, _ = w.Write([]byte(c.body))
			}))
			defer server.Close()
			cfg := aws.Config{Region: "us-east-1", BaseEndpoint: &server.URL, Credentials: credentials.NewStaticCredentialsProvider("a", "b", "")}
			out, err := aistage.Renderer(lambdacall.New(cfg), "fbl-render")(t.Context(), names.RenderIn{Revision: "report-v2"})
			if c.want == "" && err != nil || c.want != "" && (fault.NameOf(err) != c.want || !strings.Contains(err.Error(), c.why)) || out.PDFKey != c.pdf {
				t.Errorf("%+v, %v; want %s", out, err, c.want)
			}
			if calls != 1 {
				t.Errorf("%d calls, want 1: whoever asks repeats", calls)
			}
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	cfg := aws.Config{Region: "us-east-1", Credentials: credentials.NewStaticCredentialsProvider("a", "b", "")}
	if _, err := aistage.Renderer(lambdacall.New(cfg), "fbl-render")(ctx, names.RenderIn{}); fault.NameOf(err) != fault.Transient && !errors.Is(err, context.Canceled) {
		t.Errorf("a call that was cancelled: %v", err)
	}
}

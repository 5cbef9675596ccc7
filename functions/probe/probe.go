// Package probe asks, through the load balancer, whether a pose worker answers.
// It is asked again after durable waits while an image is pulled; no request is
// held open meanwhile. It uses no AWS API and holds no secret.
package probe

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/aws/aws-lambda-go/lambda"

	"fastbowlinglab/functions/internal/dispatch"
	"fastbowlinglab/shared/handler"
	"fastbowlinglab/shared/names"
)

// Deps is what the function works with.
type Deps struct {
	Client *http.Client
	URL    string           // base URL of the workers' load balancer
	Now    func() time.Time // nil for time.Now
}

// New makes the function.
func New(d Deps) lambda.Handler { return handler.New(names.FnProbe, d.run) }

// run never fails: whatever goes wrong on the way to a worker is a reason to ask
// again later.
func (d Deps) run(ctx context.Context, in names.RoundIn) (names.DispatchOut, error) {
	res, _, err := dispatch.Caller{Client: d.Client, URL: d.URL}.Call(ctx, http.MethodGet, names.HealthPath, "")
	if err == nil && res.StatusCode == http.StatusOK {
		return names.DispatchOut{State: names.DispatchReady}, nil
	}
	status, detail := 0, ""
	if err != nil {
		detail = err.Error()
	} else {
		status = res.StatusCode
	}
	slog.InfoContext(ctx, "no worker yet", "analysis_id", in.AnalysisID, "attempt", in.Attempt, "round", in.Round, "status", status, "detail", detail)
	now := time.Now
	if d.Now != nil {
		now = d.Now
	}
	return dispatch.Waiting(now(), in.Round, 0), nil
}

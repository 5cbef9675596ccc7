package begin_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-lambda-go/lambda/messages"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	"github.com/aws/aws-sdk-go-v2/service/ssm/types"
	"github.com/aws/smithy-go"

	"fastbowlinglab/functions/begin"
	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/credit"
	"fastbowlinglab/shared/dynamotest"
	"fastbowlinglab/shared/fault"
	"fastbowlinglab/shared/flags"
	"fastbowlinglab/shared/metric"
	"fastbowlinglab/shared/names"
)

// parameters is SSM with one flag, or down.
type parameters struct {
	road string
	err  error
}

func (p *parameters) GetParametersByPath(context.Context, *ssm.GetParametersByPathInput, ...func(*ssm.Options)) (*ssm.GetParametersByPathOutput, error) {
	if p.err != nil {
		return nil, p.err
	}
	out := &ssm.GetParametersByPathOutput{}
	if p.road != "" {
		name := names.Parameters + "/flags/" + flags.PoseRoad
		out.Parameters = []types.Parameter{{Name: &name, Value: &p.road}}
	}
	return out, nil
}

type world struct {
	t     *testing.T
	life  analysis.Store
	flags *parameters
	fn    lambda.Handler
}

func newWorld(t *testing.T) *world {
	db := dynamotest.New(t)
	l := credit.Store{DB: db, Credits: names.Credits.Name, Effects: names.Effects.Name}
	if _, err := l.Enter(t.Context(), credit.Grant{AthleteID: "a", Credits: 9, Operator: "op", Key: "k"}); err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, life: analysis.Store{DB: db, Analyses: names.Analyses.Name, Credits: names.Credits.Name}, flags: &parameters{}}
	w.fn = begin.New(begin.Deps{Life: w.life, Parameters: w.flags, Prefix: names.Parameters})
	return w
}

func (w *world) queued(key string) string {
	w.t.Helper()
	r, _, err := w.life.Create(w.t.Context(), "a", key, analysis.Submission{Clips: []analysis.Clip{{Name: "c"}}})
	if err == nil {
		_, err = w.life.Queue(w.t.Context(), r.AnalysisID, r.Clips)
	}
	if err != nil {
		w.t.Fatal(err)
	}
	return r.AnalysisID
}

func (w *world) begin(id, execution string) (out names.BeginOut, errType string) {
	w.t.Helper()
	b, err := w.fn.Invoke(w.t.Context(), fmt.Appendf(nil, `{"analysis_id":%q,"attempt":1,"execution":%q}`, id, execution))
	var e messages.InvokeResponse_Error
	if errors.As(err, &e) {
		return out, e.Type
	}
	if err == nil {
		err = json.Unmarshal(b, &out)
	}
	if err != nil {
		w.t.Fatal(err)
	}
	return out, ""
}

func TestBegin(t *testing.T) {
	w := newWorld(t)
	id := w.queued("k")
	for range 2 {
		if out, errType := w.begin(id, "run"); errType != "" || out != (names.BeginOut{Proceed: true, Status: "analysing", PoseRoad: flags.RoadQueue}) {
			t.Errorf("begin: %+v %s", out, errType)
		}
	}
	w.flags.road = flags.RoadHTTP // flipped while it runs: it stays on its road
	if out, errType := w.begin(id, "run"); errType != "" || out.PoseRoad != flags.RoadQueue {
		t.Errorf("after the flip: %+v %s", out, errType)
	}
}

func TestDuplicateRunIsCounted(t *testing.T) {
	w := newWorld(t)
	id := w.queued("k")
	var log bytes.Buffer
	old := slog.Default()
	slog.SetDefault(slog.New(slog.NewJSONHandler(&log, nil)))
	defer slog.SetDefault(old)
	w.begin(id, "run")
	if strings.Contains(log.String(), metric.DuplicateRun) {
		t.Errorf("a first run is counted as a duplicate: %s", log.String())
	}
	if out, errType := w.begin(id, "twin"); errType != "" || out.Proceed || out.Status != "analysing" {
		t.Errorf("twin: %+v %s", out, errType)
	}
	if !strings.Contains(log.String(), `"DuplicateRun":1`) || !strings.Contains(log.String(), `"holder":"run"`) {
		t.Errorf("the twin is not counted: %s", log.String())
	}
}

func TestErrors(t *testing.T) {
	w := newWorld(t)
	w.flags.road = flags.RoadHTTP
	if out, errType := w.begin(w.queued("http"), "run"); errType != "" || out.PoseRoad != flags.RoadHTTP {
		t.Errorf("road http: %+v %q", out, errType)
	}
	w.flags.road = "tunnel"
	id := w.queued("tunnel")
	if _, errType := w.begin(id, "run"); errType != string(fault.Permanent) {
		t.Errorf("no such road: %q, want Permanent", errType)
	}
	w.flags.err = &smithy.OperationError{Err: &smithy.GenericAPIError{Code: "ThrottlingException"}}
	if _, errType := w.begin(id, "run"); errType != string(fault.Transient) {
		t.Errorf("flags cannot be read: %q, want Transient", errType)
	}
	w.flags.err, w.flags.road = nil, ""
	if _, errType := w.begin("an-none", "run"); errType != string(fault.Permanent) {
		t.Errorf("no analysis: %q, want Permanent", errType)
	}
	if _, errType := w.begin(id, ""); errType != string(fault.Permanent) {
		t.Errorf("no execution: %q, want Permanent", errType)
	}
}

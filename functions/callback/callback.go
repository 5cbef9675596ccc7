// Package callback takes the signed messages in which pose workers tell the
// results of jobs that came to them over HTTP. A result becomes the job's by the
// same conditional write with which a worker completes a job itself, so it does
// not matter which of the two comes, or whether both do, or how often.
package callback

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"

	"fastbowlinglab/shared/callback"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/posejob"
	"fastbowlinglab/shared/tasktoken"
)

// Keys gives the keys that a signature may be made with.
type Keys interface {
	Keys(ctx context.Context) ([][]byte, error)
}

// Deps is what the function works with.
type Deps struct {
	Jobs   *posejob.Store
	Tokens tasktoken.Answerer
	Keys   Keys
	Seen   Seen
	Now    func() time.Time // nil for time.Now
}

// New makes the function. It answers every request itself: an error from a
// Lambda function would be the gateway's bare 500.
func New(d Deps) lambda.Handler { return lambda.NewHandler(d.serve) }

// verdict is an answer: the status for the sender, and a word for both sides'
// logs. Why a message was refused is for our log alone.
type verdict struct {
	status int
	State  string `json:"state"`
}

var (
	taken      = verdict{http.StatusOK, "taken"}
	another    = verdict{http.StatusUnprocessableEntity, "another message had this id"}
	lost       = verdict{http.StatusConflict, "lost"} // another owner has the job by now
	refused    = verdict{http.StatusUnauthorized, "refused"}
	unreadable = verdict{http.StatusBadRequest, "unreadable"}
	tooLarge   = verdict{http.StatusRequestEntityTooLarge, "too large"}
	failed     = verdict{http.StatusServiceUnavailable, "try again"}
)

func (d Deps) serve(ctx context.Context, event json.RawMessage) (events.APIGatewayV2HTTPResponse, error) {
	var ev events.APIGatewayV2HTTPRequest
	_ = json.Unmarshal(event, &ev) // only its id, for the log
	log := slog.With("function", names.FnCallback, "request_id", ev.RequestContext.RequestID)
	v, err := d.take(ctx, log, event)
	if err != nil {
		log.WarnContext(ctx, "callback not taken", "status", v.status, "detail", err.Error())
	}
	body, err := json.Marshal(v)
	if err != nil {
		return events.APIGatewayV2HTTPResponse{StatusCode: http.StatusInternalServerError}, nil
	}
	return events.APIGatewayV2HTTPResponse{StatusCode: v.status, Headers: map[string]string{"content-type": "application/json"}, Body: string(body)}, nil
}

// take authenticates a message, and lets its result count once.
func (d Deps) take(ctx context.Context, log *slog.Logger, event []byte) (verdict, error) {
	req, err := callback.Parse(event)
	if err != nil {
		return unreadable, err
	}
	if len(req.Body) > names.MaxBodyBytes {
		return tooLarge, nil
	}
	keys, err := d.Keys.Keys(ctx)
	if err != nil {
		return failed, err
	}
	msg, err := callback.Verify(req, keys, d.now())
	if err != nil {
		return refused, err
	}
	in, err := decode(msg.Body)
	if err != nil {
		return unreadable, err
	}
	switch seen, err := d.Seen.Has(ctx, msg.ID, msg.Body, d.now()); {
	case err != nil:
		return failed, err
	case seen == SeenOther:
		return another, nil
	case seen == SeenSame: // the answer is that of the first time
		return taken, nil
	}
	log = log.With("analysis_id", in.AnalysisID, "attempt", in.Attempt, "fence", in.Fence)
	job, err := d.Jobs.Complete(ctx, posejob.Lease{AnalysisID: in.AnalysisID, Attempt: in.Attempt, Fence: in.Fence}, in.Result)
	if errors.Is(err, posejob.ErrLost) {
		return lost, err
	}
	if err != nil {
		return failed, err
	}
	if job.Token2 != "" { // else AwaitPose comes later and finds the result
		if _, err := d.Tokens.Success(ctx, job.Token2, in.Result); err != nil {
			return failed, err
		}
	}
	log.InfoContext(ctx, "result taken", "verdict", in.Result.Verdict, "reason", in.Result.Reason)
	if err := d.Seen.Put(ctx, msg.ID, msg.Body, msg.At.Add(callback.Remember)); err != nil {
		log.WarnContext(ctx, "the message's id was not noted; a copy would change nothing", "detail", err.Error())
	}
	return taken, nil
}

// decode reads a result strictly: an authentic message that says something else
// comes from another release, and must not be taken for what it is not.
func decode(raw []byte) (names.PoseCallback, error) {
	var in names.PoseCallback
	if err := callback.NoDuplicateMembers(raw); err != nil {
		return in, err
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&in); err != nil {
		return in, err
	}
	r := in.Result
	switch {
	case in.AnalysisID == "" || in.Attempt < 1 || in.Fence < 1:
		return in, errors.New("analysis_id, attempt and fence are needed")
	case r.Verdict == names.VerdictPass && r.ResultKey == names.PoseResultKey(in.AnalysisID, in.Attempt, in.Fence),
		r.Verdict == names.VerdictReject && r.Reason != "" && r.ResultKey == "":
		return in, nil
	}
	return in, errors.New("the result is neither a pass under its own fence nor a rejection with a reason")
}

func (d Deps) now() time.Time {
	if d.Now != nil {
		return d.Now()
	}
	return time.Now()
}

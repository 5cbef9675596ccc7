package tasktoken_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/service/sfn"
	"github.com/aws/aws-sdk-go-v2/service/sfn/types"

	"fastbowlinglab/shared/fault"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/retry"
	"fastbowlinglab/shared/tasktoken"
)

// fake answers every call with the next error, then with success.
type fake struct {
	errs   []error
	calls  int
	output string
	cause  string
	name   string
}

func (f *fake) next() error {
	f.calls++
	if len(f.errs) == 0 {
		return nil
	}
	err := f.errs[0]
	f.errs = f.errs[1:]
	return err
}

func (f *fake) SendTaskSuccess(_ context.Context, in *sfn.SendTaskSuccessInput, _ ...func(*sfn.Options)) (*sfn.SendTaskSuccessOutput, error) {
	f.output = *in.Output
	return &sfn.SendTaskSuccessOutput{}, f.next()
}

func (f *fake) SendTaskFailure(_ context.Context, in *sfn.SendTaskFailureInput, _ ...func(*sfn.Options)) (*sfn.SendTaskFailureOutput, error) {
	f.name, f.cause = *in.Error, *in.Cause
	return &sfn.SendTaskFailureOutput{}, f.next()
}

func (f *fake) SendTaskHeartbeat(context.Context, *sfn.SendTaskHeartbeatInput, ...func(*sfn.Options)) (*sfn.SendTaskHeartbeatOutput, error) {
	return &sfn.SendTaskHeartbeatOutput{}, f.next()
}

func answerer(f *fake) tasktoken.Answerer {
	return tasktoken.Answerer{API: f, Retry: retry.Policy{Tries: 3, Base: time.Microsecond}}
}

// A late, second or foreign answer is final: not retried and no error (field case 1).
func TestDeadTokensAreFinal(t *testing.T) {
	for _, e := range []error{&types.TaskTimedOut{}, &types.TaskDoesNotExist{}, &types.InvalidToken{}} {
		for what, send := range map[string]func(tasktoken.Answerer) (tasktoken.Outcome, error){
			"success": func(a tasktoken.Answerer) (tasktoken.Outcome, error) {
				return a.Success(t.Context(), "t", names.ClaimedOut{})
			},
			"failure": func(a tasktoken.Answerer) (tasktoken.Outcome, error) {
				return a.Failure(t.Context(), "t", fault.Released, "")
			},
			"heartbeat": func(a tasktoken.Answerer) (tasktoken.Outcome, error) { return a.Heartbeat(t.Context(), "t") },
		} {
			f := &fake{errs: []error{e, e, e}}
			got, err := send(answerer(f))
			if got != tasktoken.Dead || err != nil || f.calls != 1 {
				t.Errorf("%T on %s: %q, %v after %d calls; want dead after 1", e, what, got, err, f.calls)
			}
		}
	}
}

func TestUnknownOutcomeIsRepeatedThenReported(t *testing.T) {
	reset := errors.New("connection reset")
	f := &fake{errs: []error{reset, reset}}
	if got, err := answerer(f).Success(t.Context(), "t", names.ClaimedOut{Claimed: true, Fence: 3}); got != tasktoken.Taken || err != nil {
		t.Errorf("third try: %q, %v", got, err)
	}
	if f.output != `{"claimed":true,"fence":3}` {
		t.Errorf("output = %s", f.output)
	}
	f = &fake{errs: []error{reset, reset, reset}}
	if got, err := answerer(f).Heartbeat(t.Context(), "t"); got != "" || !errors.Is(err, reset) || f.calls != 3 {
		t.Errorf("three failures: %q, %v after %d calls", got, err, f.calls)
	}
}

func TestInvalidOutputIsNotRetried(t *testing.T) {
	f := &fake{errs: []error{&types.InvalidOutput{}, nil}}
	if _, err := answerer(f).Success(t.Context(), "t", 1); err == nil {
		t.Error("an output that Step Functions refuses is no success")
	}
}

func TestCauseFitsTheLimit(t *testing.T) {
	f := &fake{}
	if _, err := answerer(f).Failure(t.Context(), "t", fault.PoseFailed, strings.Repeat("பந்து ", 5000)); err != nil {
		t.Fatal(err)
	}
	if len(f.cause) > 32768 || len(f.cause) < 32760 || !utf8.ValidString(f.cause) || f.name != "PoseFailed" {
		t.Errorf("cause of %d bytes, valid %v, name %s", len(f.cause), utf8.ValidString(f.cause), f.name)
	}
}

// One bad byte of a tool's message does not cost the rest of it.
func TestCauseKeepsWhatCanBeRead(t *testing.T) {
	f := &fake{}
	if _, err := answerer(f).Failure(t.Context(), "t", fault.PoseFailed, "decoder: \xff\xfe at frame 3"); err != nil {
		t.Fatal(err)
	}
	if f.cause != "decoder:  at frame 3" {
		t.Errorf("cause %q", f.cause)
	}
}

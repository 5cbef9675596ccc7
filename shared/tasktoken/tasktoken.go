// Package tasktoken answers Step Functions task tokens. An answer that comes too
// late, twice, or for a state that has been left is final: whatever the answer
// was about is decided by the tables, never by whether the token was still good.
package tasktoken

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/sfn"

	"fastbowlinglab/shared/awserr"
	"fastbowlinglab/shared/fault"
	"fastbowlinglab/shared/retry"
)

// API is what this package needs of Step Functions.
type API interface {
	SendTaskSuccess(context.Context, *sfn.SendTaskSuccessInput, ...func(*sfn.Options)) (*sfn.SendTaskSuccessOutput, error)
	SendTaskFailure(context.Context, *sfn.SendTaskFailureInput, ...func(*sfn.Options)) (*sfn.SendTaskFailureOutput, error)
	SendTaskHeartbeat(context.Context, *sfn.SendTaskHeartbeatInput, ...func(*sfn.Options)) (*sfn.SendTaskHeartbeatOutput, error)
}

// Outcome is what became of an answer.
type Outcome string

// The outcomes. Dead is final: nobody waits on this token any more.
const (
	Taken Outcome = "taken"
	Dead  Outcome = "dead"
)

// Answerer answers tokens. An error from its methods means that nobody knows
// whether the answer was taken; sending it again is safe.
type Answerer struct {
	API   API
	Retry retry.Policy
	Log   *slog.Logger // nil for the default one
}

// Success answers with output as JSON.
func (a Answerer) Success(ctx context.Context, token string, output any) (Outcome, error) {
	body, err := json.Marshal(output)
	if err != nil {
		return "", fmt.Errorf("encode the task's output: %w", err)
	}
	out := string(body)
	return a.send(ctx, "success", func() error {
		_, err := a.API.SendTaskSuccess(ctx, &sfn.SendTaskSuccessInput{TaskToken: &token, Output: &out})
		return err
	})
}

// maxCause is the limit that Step Functions sets on a failure's cause.
const maxCause = 32768

// Failure answers with an error name of package fault.
func (a Answerer) Failure(ctx context.Context, token string, name fault.Name, cause string) (Outcome, error) {
	n := string(name)
	cause = strings.ToValidUTF8(cause[:min(len(cause), maxCause)], "") // a tool's words may be in any encoding
	return a.send(ctx, "failure", func() error {
		_, err := a.API.SendTaskFailure(ctx, &sfn.SendTaskFailureInput{TaskToken: &token, Error: &n, Cause: &cause})
		return err
	})
}

// Heartbeat restarts the token's heartbeat clock.
func (a Answerer) Heartbeat(ctx context.Context, token string) (Outcome, error) {
	return a.send(ctx, "heartbeat", func() error {
		_, err := a.API.SendTaskHeartbeat(ctx, &sfn.SendTaskHeartbeatInput{TaskToken: &token})
		return err
	})
}

func (a Answerer) send(ctx context.Context, what string, call func() error) (Outcome, error) {
	var dead error
	err := a.Retry.Do(ctx, func() error {
		err := call()
		if final(err) {
			dead = err
			return nil
		}
		return err
	})
	switch {
	case dead != nil:
		log := a.Log
		if log == nil {
			log = slog.Default()
		}
		log.InfoContext(ctx, "nobody waits on this task token any more", "answer", what, "code", awserr.Code(dead))
		return Dead, nil
	case err != nil:
		return "", fmt.Errorf("send task %s: %w", what, err)
	}
	return Taken, nil
}

// final reports whether Step Functions will never take an answer on this token.
func final(err error) bool {
	return awserr.Is(err, "TaskTimedOut") || awserr.Is(err, "TaskDoesNotExist") || awserr.Is(err, "InvalidToken")
}

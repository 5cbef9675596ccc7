package awserr

import (
	"errors"
	"net/http"
	"strings"

	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// ModelAnswer is what an error of a model call (Bedrock) means.
type ModelAnswer int

// The meanings.
const (
	ModelUndecided ModelAnswer = iota // nobody knows what became of the call, and what it cost
	ModelThrottled                    // refused for now: nothing was done
	ModelGone                         // the model is retired, missing, or not allowed: another setting is needed
	ModelRefused                      // the request is wrong: the same one will always be refused
)

// goneTexts are parts of messages by which a ValidationException or a refusal of
// access means the model, not the request. In lower case.
var goneTexts = []string{
	"model identifier is invalid",
	"end of its life",
	"end of life",
	"marked by provider as legacy",
	"on-demand throughput isn", // "... isn't supported": it has an inference profile only
	"model id",                 // "The model ID ... is not supported", "Invalid model ID"
	"could not resolve the foundation model",
	"access to the model",
	"model is not supported",
	"model isn't supported",
	"model has been deprecated",
	"model is deprecated",
}

// ModelCall says what an error of a model call means. The service spells codes
// in two ways (package comment of codes), and tells of a retired model as
// ValidationException, ResourceNotFoundException or AccessDeniedException.
func ModelCall(err error) ModelAnswer {
	var api smithy.APIError
	if !errors.As(err, &api) {
		return ModelUndecided
	}
	code := strings.TrimSuffix(strings.ToLower(api.ErrorCode()), "exception")
	text := strings.ToLower(api.ErrorMessage())
	switch code {
	case "modeltimeout", "modelerror", "modelstreamerror", "internalserver":
		return ModelUndecided // it was at work, and may be paid for
	case "modelnotready", "servicequotaexceeded":
		return ModelThrottled
	case "accessdenied", "resourcenotfound":
		return ModelGone
	}
	switch k := kindOfCode(code); {
	case k == Throttle:
		return ModelThrottled
	case k == Invalid:
		for _, t := range goneTexts {
			if strings.Contains(text, t) {
				return ModelGone
			}
		}
		return ModelRefused
	}
	var resp *smithyhttp.ResponseError
	switch {
	case errors.As(err, &resp) && resp.HTTPStatusCode() == http.StatusTooManyRequests:
		return ModelThrottled
	case errors.As(err, &resp) && resp.HTTPStatusCode() == http.StatusNotFound:
		return ModelGone
	case Refused(err):
		return ModelRefused
	}
	return ModelUndecided
}

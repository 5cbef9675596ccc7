package aistage

import (
	"context"
	"encoding/json"
	"slices"

	"fastbowlinglab/shared/awserr"
	"fastbowlinglab/shared/fault"
	"fastbowlinglab/shared/lambdacall"
	"fastbowlinglab/shared/names"
)

// Functions is what calling another function needs; lambdacall.Client is one.
type Functions interface {
	Invoke(context.Context, *lambdacall.InvokeInput) (lambdacall.Output, error)
}

// Renderer calls function render and waits for its answer. A repeat is harmless:
// it writes the same files, so whoever calls may ask again.
func Renderer(api Functions, function string) func(context.Context, names.RenderIn) (names.RenderOut, error) {
	return func(ctx context.Context, in names.RenderIn) (out names.RenderOut, err error) {
		payload, err := json.Marshal(in)
		if err != nil {
			return out, fault.Wrap(fault.Permanent, err, "encode the call of %s", function)
		}
		res, err := api.Invoke(ctx, &lambdacall.InvokeInput{Function: function, Payload: payload})
		if err != nil {
			return out, awserr.Fault(err, "call "+function)
		}
		if res.Failed {
			return out, failure(res.Payload, function)
		}
		if err := json.Unmarshal(res.Payload, &out); err != nil || out.PDFKey == "" || out.JSONKey == "" {
			return out, fault.New(fault.Permanent, "call %s: the answer names no files: %v", function, err)
		}
		return out, nil
	}
}

// failure reads the error of a function. A name that is not ours is the
// platform's, such as a function that ran out of time: nothing was decided.
func failure(payload []byte, function string) error {
	var e struct {
		Type    string `json:"errorType"`
		Message string `json:"errorMessage"`
	}
	if err := json.Unmarshal(payload, &e); err != nil {
		return fault.Wrap(fault.Transient, err, "call %s: read its error", function)
	}
	name := fault.Name(e.Type)
	if !slices.Contains(fault.Names(), name) {
		name = fault.Transient
	}
	return fault.New(name, "call %s: %s: %s", function, e.Type, e.Message)
}

package pump

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"time"

	"fastbowlinglab/integration/local/endpoint"
)

// Invoker calls a Lambda function and waits for its answer. functionError is
// "" when the function did not fail; err says that it was not called at all.
type Invoker interface {
	Invoke(ctx context.Context, function string, payload []byte) (out []byte, functionError string, err error)
}

// Common is what both kinds of source need.
type Common struct {
	Function string
	Invoker  Invoker
	Service  http.Handler // the service read from
	Region   string
	Batch    int           // most records of one invocation; default 10
	Poll     time.Duration // wait between two reads that found nothing; default 200 ms
	// Duplicate, when it says yes, makes a batch that was handled arrive again.
	Duplicate func() bool
	Log       *slog.Logger
}

func (c Common) withDefaults() Common {
	if c.Batch <= 0 {
		c.Batch = 10
	}
	if c.Poll <= 0 {
		c.Poll = 200 * time.Millisecond
	}
	if c.Log == nil {
		c.Log = slog.Default()
	}
	c.Log = c.Log.With("function", c.Function)
	return c
}

// failures is a function's answer to a batch.
type failures struct {
	Items []struct {
		ID string `json:"itemIdentifier"`
	} `json:"batchItemFailures"`
}

// invoke hands records to the function and gives the ids that it says it could
// not handle. whole means that all of them failed: the function did, or it named
// an id that was not in the batch (as in AWS). detail says why.
func (c Common) invoke(ctx context.Context, records []json.RawMessage, known func(id string) bool) (failed map[string]bool, whole bool, detail string) {
	payload, err := json.Marshal(map[string]any{"Records": records})
	if err != nil {
		return nil, true, err.Error()
	}
	out, fnErr, err := c.Invoker.Invoke(ctx, c.Function, payload)
	switch {
	case err != nil:
		return nil, true, err.Error()
	case fnErr != "":
		return nil, true, fnErr + ": " + errorType(out)
	}
	var f failures
	if len(bytes.TrimSpace(out)) > 0 {
		if err := json.Unmarshal(out, &f); err != nil && out[0] == '{' {
			return nil, true, "answer: " + err.Error()
		}
	}
	failed = map[string]bool{}
	for _, it := range f.Items {
		if !known(it.ID) {
			return nil, true, "the answer names an item that was not in the batch"
		}
		failed[it.ID] = true
	}
	return failed, false, ""
}

// errorType is the name of a function's error; its message may hold anything.
func errorType(out []byte) string {
	var e struct {
		Type string `json:"errorType"`
	}
	if json.Unmarshal(out, &e) != nil || e.Type == "" {
		return "unknown"
	}
	return e.Type
}

// apiError is an error answer of a service.
type apiError struct{ Type, Message string }

func (e *apiError) Error() string { return e.Type + ": " + e.Message }

// call makes one AWS JSON call.
func (c Common) call(ctx context.Context, scope, target string, in, out any) error {
	body, err := json.Marshal(in)
	if err != nil {
		return fmt.Errorf("%s: %w", target, err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://127.0.0.1/", bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("%s: %w", target, err)
	}
	req.Header.Set("Content-Type", "application/x-amz-json-1.0")
	req.Header.Set("X-Amz-Target", target)
	req.Header.Set("X-Amz-Date", time.Now().UTC().Format("20060102T150405Z"))
	req.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=local/"+time.Now().UTC().Format("20060102")+"/"+
		c.Region+"/"+scope+"/aws4_request, SignedHeaders=host, Signature=0")
	resp, err := endpoint.Transport{Handler: c.Service}.RoundTrip(req)
	if err != nil {
		return fmt.Errorf("%s: %w", target, err)
	}
	defer func() { _ = resp.Body.Close() }() // read in full below
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		return fmt.Errorf("%s: %w", target, err)
	}
	if resp.StatusCode != http.StatusOK {
		e := &apiError{Type: resp.Status}
		var m struct {
			Type    string `json:"__type"`
			Message string `json:"message"`
		}
		if json.Unmarshal(b, &m) == nil && m.Type != "" {
			e.Type, e.Message = m.Type, m.Message
		}
		return fmt.Errorf("%s: %w", target, e)
	}
	if err := json.Unmarshal(b, out); err != nil {
		return fmt.Errorf("%s: answer: %w", target, err)
	}
	return nil
}

// backoff is the wait before try n (from 1) of something that failed: doubling
// from base up to a limit, with full jitter.
func backoff(base, limit time.Duration, n int) time.Duration {
	d := min(base<<min(n-1, 20), limit)
	return d/2 + rand.N(d/2+1)
}

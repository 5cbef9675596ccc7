package demo

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"time"

	"fastbowlinglab/shared/retry"
)

// Token gives a bearer token that is good now.
type Token func(context.Context) (string, error)

// client calls the HTTP API. Every call of it may be repeated: reads, and writes
// that carry a key or are idempotent by the API's own rules.
type client struct {
	base  string
	http  *http.Client
	tries int
	wait  time.Duration // before the second try; doubles, with jitter
}

func newClient(base string) *client {
	return &client{base: strings.TrimRight(base, "/"), tries: 5, wait: 200 * time.Millisecond,
		// Longer than the gateway's own limit of 30 s, so that its answer is seen.
		http: &http.Client{Timeout: 35 * time.Second}}
}

// apiError is an answer of the API that is no success: RFC 9457 problem JSON,
// or the gateway's {"message"}.
type apiError struct {
	Status  int    `json:"-"`
	Title   string `json:"title"`
	Detail  string `json:"detail"`
	Code    string `json:"code"`
	Message string `json:"message"`
	what    string
}

func (e *apiError) Error() string {
	text := e.Detail
	for _, t := range []string{e.Title, e.Message, http.StatusText(e.Status)} {
		if text == "" {
			text = t
		}
	}
	return fmt.Sprintf("%s: the API answered %d: %s", e.what, e.Status, text)
}

func isStatus(err error, status int) bool {
	var e *apiError
	return errors.As(err, &e) && e.Status == status
}

// call is one request of the API.
type call struct {
	method, path string
	token        Token
	key          string // Idempotency-Key, "" for none
	in           any    // JSON body, nil for none; json.RawMessage is sent as it is
}

// do sends a call until there is an answer that repeating cannot change, and
// decodes it into out.
func (c *client) do(ctx context.Context, q call, out any) error {
	what := q.method + " " + q.path
	var body []byte
	if q.in != nil {
		var err error
		if body, err = json.Marshal(q.in); err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
	}
	for try := 1; ; try++ {
		again, err := c.once(ctx, q, what, body, out)
		if err == nil || !again || try == c.tries {
			return err
		}
		if retry.Sleep(ctx, time.Duration(float64(c.wait<<(try-1))*(0.5+rand.Float64()/2))) != nil {
			return err
		}
	}
}

// once sends a call; again says that the same request may be sent again.
func (c *client) once(ctx context.Context, q call, what string, body []byte, out any) (again bool, err error) {
	req, err := http.NewRequestWithContext(ctx, q.method, c.base+q.path, bytes.NewReader(body))
	if err != nil {
		return false, fmt.Errorf("%s: %w", what, err)
	}
	token, err := q.token(ctx)
	if err != nil {
		return false, fmt.Errorf("%s: token: %w", what, err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	if q.in != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if q.key != "" {
		req.Header.Set("Idempotency-Key", q.key)
	}
	res, err := c.http.Do(req)
	if err != nil {
		return ctx.Err() == nil, fmt.Errorf("%s: %w", what, err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(io.LimitReader(res.Body, 8<<20))
	if err != nil {
		return ctx.Err() == nil, fmt.Errorf("%s: read the answer: %w", what, err)
	}
	if res.StatusCode >= 300 {
		e := &apiError{}
		_ = json.Unmarshal(b, e) // an answer without a reason has its status
		e.Status, e.what = res.StatusCode, what
		return res.StatusCode >= 500 || res.StatusCode == http.StatusTooManyRequests, e
	}
	if out == nil {
		return false, nil
	}
	if err := json.Unmarshal(b, out); err != nil {
		return false, fmt.Errorf("%s: the answer is no JSON of the expected kind: %w", what, err)
	}
	return false, nil
}

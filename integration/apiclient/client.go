// Package apiclient is a typed client of the HTTP API. Types and methods are
// generated from the OpenAPI document that the API serves (generated.go); this
// file sends what they ask. Tests use it as an app's developer would.
package apiclient

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// Client calls the API with one access token.
type Client struct {
	Base  string // https://host
	Token string
	HTTP  *http.Client // default: one that waits longer than the gateway does
}

func (p *Problem) Error() string { return fmt.Sprintf("%d %s: %s", p.Status, p.Code, p.Title) }

// maxAnswer bounds an answer's size.
const maxAnswer = 8 << 20

var patient = &http.Client{Timeout: 35 * time.Second}

// request is one call. Path is escaped; empty values of the query are left out;
// key and tag are "" for none.
type request struct {
	method string
	path   string
	query  map[string]string
	key    string
	tag    string
}

// call sends a request and reads its answer.
func (c *Client) call(ctx context.Context, r request, in, out any) error {
	_, err := c.send(ctx, r, in, out)
	return err
}

// Seen is what a poll learned: the answer's tag, and whether it was the same.
type Seen struct {
	Tag  string
	Same bool
}

func tagged[T any](c *Client, ctx context.Context, r request) (out T, seen Seen, err error) {
	h, err := c.send(ctx, r, nil, &out)
	if h == nil {
		return out, Seen{Tag: r.tag, Same: err == nil}, err
	}
	return out, Seen{Tag: h.Get("ETag")}, err
}

// send gives the headers of an answer, nil of one that says: not modified.
func (c *Client) send(ctx context.Context, r request, in, out any) (http.Header, error) {
	var body []byte
	if in != nil {
		var err error
		if body, err = json.Marshal(in); err != nil {
			return nil, fmt.Errorf("%s %s: %w", r.method, r.path, err)
		}
	}
	q := url.Values{}
	for k, v := range r.query {
		if v != "" {
			q.Set(k, v)
		}
	}
	target := c.Base + r.path
	if len(q) > 0 {
		target += "?" + q.Encode()
	}
	req, err := http.NewRequestWithContext(ctx, r.method, target, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", r.method, r.path, err)
	}
	req.Header.Set("Authorization", "Bearer "+c.Token)
	for k, v := range map[string]string{"Idempotency-Key": r.key, "If-None-Match": r.tag} {
		if v != "" {
			req.Header.Set(k, v)
		}
	}
	if in != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	client := c.HTTP
	if client == nil {
		client = patient
	}
	resp, err := client.Do(req)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", r.method, r.path, err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", r.method, r.path, err)
	}
	switch {
	case resp.StatusCode == http.StatusNotModified:
		return nil, nil
	case resp.StatusCode >= 300:
		p := &Problem{}
		_ = json.Unmarshal(b, p) // the gateway's own refusals have only a status
		p.Status = int64(resp.StatusCode)
		return resp.Header, p
	}
	if err := json.Unmarshal(b, out); err != nil {
		return resp.Header, fmt.Errorf("%s %s: the answer is not what the document says: %w", r.method, r.path, err)
	}
	return resp.Header, nil
}

// text is a query's value, "" for none.
func text(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case int64:
		if v != 0 {
			return strconv.FormatInt(v, 10)
		}
	}
	return ""
}

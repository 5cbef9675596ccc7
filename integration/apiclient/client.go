// Package apiclient is a typed client of the HTTP API, written from its OpenAPI
// document; a test holds every call and every member of it against the document
// that the API serves. Tests use it as an app's developer would.
package apiclient

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"
)

// Client calls the API with one access token.
type Client struct {
	Base  string // https://host
	Token string
	HTTP  *http.Client // default: one that waits longer than the gateway does
}

// Problem is an error of the API (RFC 9457).
type Problem struct {
	Type   string `json:"type"`
	Title  string `json:"title"`
	Detail string `json:"detail"`
	Status int    `json:"status"`
	Code   string `json:"code"`
}

func (p *Problem) Error() string { return fmt.Sprintf("%d %s: %s", p.Status, p.Code, p.Title) }

// maxAnswer bounds an answer's size.
const maxAnswer = 8 << 20

var patient = &http.Client{Timeout: 35 * time.Second}

// call sends one request; path is escaped. key is "" for none.
func (c *Client) call(ctx context.Context, method, path, key string, in, out any) error {
	var body []byte
	if in != nil {
		var err error
		if body, err = json.Marshal(in); err != nil {
			return fmt.Errorf("%s %s: %w", method, path, err)
		}
	}
	req, err := http.NewRequestWithContext(ctx, method, c.Base+path, bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("%s %s: %w", method, path, err)
	}
	req.Header.Set("Authorization", "Bearer "+c.Token)
	if in != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if key != "" {
		req.Header.Set("Idempotency-Key", key)
	}
	client := c.HTTP
	if client == nil {
		client = patient
	}
	resp, err := client.Do(req)
	if err != nil {
		return fmt.Errorf("%s %s: %w", method, path, err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return fmt.Errorf("%s %s: %w", method, path, err)
	}
	if resp.StatusCode >= 300 {
		p := &Problem{}
		_ = json.Unmarshal(b, p) // the gateway's own refusals have only a status
		p.Status = resp.StatusCode
		return p
	}
	if err := json.Unmarshal(b, out); err != nil {
		return fmt.Errorf("%s %s: the answer is not what the document says: %w", method, path, err)
	}
	return nil
}

func of(id, rest string) string { return "/v1/analyses/" + url.PathEscape(id) + rest }

func get[T any](c *Client, ctx context.Context, path string) (out T, err error) {
	return out, c.call(ctx, http.MethodGet, path, "", nil, &out)
}

func post[T any](c *Client, ctx context.Context, path, key string, in any) (out T, err error) {
	return out, c.call(ctx, http.MethodPost, path, key, in, &out)
}

// Create reserves a credit and gets an upload form for each clip.
func (c *Client) Create(ctx context.Context, key string, in CreateRequest) (Created, error) {
	return post[Created](c, ctx, "/v1/analyses", key, in)
}

// Uploads signs the forms afresh.
func (c *Client) Uploads(ctx context.Context, id string) (Created, error) {
	return post[Created](c, ctx, of(id, "/uploads"), "", nil)
}

// Confirm starts the analysis of what was uploaded.
func (c *Client) Confirm(ctx context.Context, id string) (Standing, error) {
	return post[Standing](c, ctx, of(id, "/confirm"), "", nil)
}

// Cancel ends an analysis that no worker has claimed.
func (c *Client) Cancel(ctx context.Context, id string) (Standing, error) {
	return post[Standing](c, ctx, of(id, "/cancel"), "", nil)
}

// Rerun analyses the same clips once more.
func (c *Client) Rerun(ctx context.Context, id, key string) (Created, error) {
	return post[Created](c, ctx, of(id, "/rerun"), key, nil)
}

// Show gives an analysis's status.
func (c *Client) Show(ctx context.Context, id string) (Analysis, error) {
	return get[Analysis](c, ctx, of(id, ""))
}

// Report signs links to the report.
func (c *Client) Report(ctx context.Context, id string) (Report, error) {
	return get[Report](c, ctx, of(id, "/report"))
}

// List gives a page of analyses, from a cursor or the beginning.
func (c *Client) List(ctx context.Context, limit int, cursor string) (Page, error) {
	return get[Page](c, ctx, "/v1/analyses?"+page(limit, cursor))
}

// Credits gives the balance and a page of its history.
func (c *Client) Credits(ctx context.Context, limit int, cursor string) (Ledger, error) {
	return get[Ledger](c, ctx, "/v1/credits?"+page(limit, cursor))
}

func page(limit int, cursor string) string {
	q := url.Values{"limit": {fmt.Sprint(limit)}}
	if cursor != "" {
		q.Set("cursor", cursor)
	}
	return q.Encode()
}

// Me gives what the athlete chose, and how far a deletion is.
func (c *Client) Me(ctx context.Context) (Me, error) { return get[Me](c, ctx, "/v1/me") }

// Choose chooses channels.
func (c *Client) Choose(ctx context.Context, ch Channels) (out Me, err error) {
	return out, c.call(ctx, http.MethodPut, "/v1/me", "", struct {
		Channels Channels `json:"channels"`
	}{ch}, &out)
}

// Erase asks for the deletion of everything.
func (c *Client) Erase(ctx context.Context) (out Erasure, err error) {
	return out, c.call(ctx, http.MethodDelete, "/v1/me", "", nil, &out)
}

// Grant gives an athlete credits; operators only.
func (c *Client) Grant(ctx context.Context, key string, in GrantRequest) (Granted, error) {
	return post[Granted](c, ctx, "/v1/operator/grants", key, in)
}

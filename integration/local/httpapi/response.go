package httpapi

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
)

type response struct {
	status int
	header http.Header
	body   []byte
}

// parseResponse reads a function's answer, format 2.0: an object with a
// statusCode says everything; any other JSON is the body of a 200.
func parseResponse(out []byte) (response, error) {
	if !json.Valid(out) {
		return response{}, fmt.Errorf("%d bytes that are no JSON", len(out))
	}
	var shape struct {
		StatusCode      *json.Number   `json:"statusCode"`
		Headers         map[string]any `json:"headers"`
		Body            *string        `json:"body"`
		IsBase64Encoded bool           `json:"isBase64Encoded"`
		Cookies         []string       `json:"cookies"`
	}
	isObject := bytes.HasPrefix(bytes.TrimSpace(out), []byte("{"))
	if isObject {
		if err := json.Unmarshal(out, &shape); err != nil && hasStatus(out) {
			return response{}, err
		}
	}
	if !isObject || shape.StatusCode == nil {
		return response{http.StatusOK, http.Header{"Content-Type": {"application/json"}}, out}, nil
	}
	status, err := shape.StatusCode.Int64()
	if err != nil || status < 200 || status > 599 {
		return response{}, fmt.Errorf("statusCode %s", shape.StatusCode)
	}
	r := response{status: int(status), header: http.Header{}}
	for k, v := range shape.Headers {
		switch v.(type) {
		case string, bool, float64:
			r.header.Set(k, fmt.Sprint(v))
		default:
			return response{}, fmt.Errorf("header %s is neither text nor number", k)
		}
	}
	for _, c := range shape.Cookies {
		r.header.Add("Set-Cookie", c)
	}
	if r.header.Get("Content-Type") == "" {
		r.header.Set("Content-Type", "text/plain;charset=UTF-8")
	}
	if shape.Body != nil {
		r.body = []byte(*shape.Body)
		if shape.IsBase64Encoded {
			if r.body, err = base64.StdEncoding.DecodeString(*shape.Body); err != nil {
				return response{}, fmt.Errorf("body: %w", err)
			}
		}
	}
	return r, nil
}

// hasStatus tells a malformed answer from a document that is the body itself.
func hasStatus(out []byte) bool {
	var o map[string]json.RawMessage
	_ = json.Unmarshal(out, &o) // valid JSON, and an object
	_, ok := o["statusCode"]
	return ok
}

package callback

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
)

// Request is what arrived: header values in any spelling of their names, and the
// body's bytes.
type Request struct {
	Headers map[string][]string
	Body    []byte
}

// FromMap makes a request of headers that carry one value each, as in the events
// of an HTTP API, where a doubled header is one value with a comma in it.
func FromMap(headers map[string]string, body []byte) Request {
	r := Request{Headers: make(map[string][]string, len(headers)), Body: body}
	for k, v := range headers {
		r.Headers[k] = []string{v}
	}
	return r
}

// Parse reads the event with which API Gateway (REST API, or HTTP API with
// payload format 1.0 or 2.0) or a load balancer (with or without multi-value
// headers) invokes a function. Where an event tells single and multiple values,
// the multiple ones count: the single one is only the last of them.
func Parse(event []byte) (Request, error) {
	var ev struct {
		Headers           map[string]string   `json:"headers"`
		MultiValueHeaders map[string][]string `json:"multiValueHeaders"`
		Body              string              `json:"body"`
		IsBase64Encoded   bool                `json:"isBase64Encoded"`
	}
	if err := json.Unmarshal(event, &ev); err != nil {
		return Request{}, fmt.Errorf("callback: read the event: %w", err)
	}
	body := []byte(ev.Body)
	if ev.IsBase64Encoded {
		var err error
		if body, err = base64.StdEncoding.DecodeString(ev.Body); err != nil {
			return Request{}, fmt.Errorf("callback: read the body: %w", err)
		}
	}
	if len(ev.MultiValueHeaders) > 0 {
		return Request{Headers: ev.MultiValueHeaders, Body: body}, nil
	}
	return FromMap(ev.Headers, body), nil
}

// one is the header's only value.
func (r Request) one(name string) (string, error) {
	var all []string
	for k, vs := range r.Headers {
		if strings.EqualFold(k, name) {
			all = append(all, vs...)
		}
	}
	if len(all) != 1 || all[0] == "" || strings.Contains(all[0], ",") {
		return "", fmt.Errorf("%w: %s", ErrHeader, name)
	}
	return all[0], nil
}

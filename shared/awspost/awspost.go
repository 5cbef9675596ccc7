// Package awspost sends signed requests with JSON bodies to AWS services that
// have no client in the program: one call of a service is not worth a megabyte of
// its SDK client. It knows no service.
package awspost

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// Doer sends an HTTP request.
type Doer interface {
	Do(*http.Request) (*http.Response, error)
}

// Client calls one service in one region. It is safe for concurrent use.
type Client struct {
	Scope       string // the service's name in a signature
	Endpoint    string // URL without a path
	Region      string
	Credentials aws.CredentialsProvider
	HTTP        Doer
}

var signer = v4.NewSigner()

// New makes a client of the service at host.<region>.amazonaws.com from the
// configuration of AWS clients. Its retryer is not used: nothing is sent twice.
func New(cfg aws.Config, host, scope string) Client {
	c := Client{Scope: scope, Region: cfg.Region, Credentials: cfg.Credentials, HTTP: cfg.HTTPClient,
		Endpoint: "https://" + host + "." + cfg.Region + ".amazonaws.com"}
	if cfg.BaseEndpoint != nil {
		c.Endpoint = strings.TrimSuffix(*cfg.BaseEndpoint, "/")
	}
	if c.HTTP == nil {
		c.HTTP = awshttp.NewBuildableClient() // no time-out of its own for the answer
	}
	return c
}

// NotSent marks an error that came before anything was sent.
type NotSent struct{ Err error }

func (e *NotSent) Error() string { return "not sent: " + e.Err.Error() }
func (e *NotSent) Unwrap() error { return e.Err }

// ErrTooLarge says that an answer was longer than it may be.
var ErrTooLarge = errors.New("the answer is too large")

// Post sends a body, once, and gives the answer of status 200 with its headers.
// rawPath is path as escaped for the wire. Errors of the service have awserr's
// usual shapes; *NotSent; ErrTooLarge.
func (c Client) Post(ctx context.Context, path, rawPath string, body []byte, most int64) (http.Header, []byte, error) {
	req, err := c.request(ctx, path, rawPath, body)
	if err != nil {
		return nil, nil, &NotSent{err}
	}
	resp, err := c.HTTP.Do(req)
	if err != nil {
		return nil, nil, err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(io.LimitReader(resp.Body, most+1))
	if resp.StatusCode != http.StatusOK {
		return nil, nil, Error(resp, b) // what was read of it will do
	}
	if err != nil {
		return nil, nil, fmt.Errorf("read the answer: %w", err)
	}
	if int64(len(b)) > most {
		return nil, nil, ErrTooLarge
	}
	return resp.Header, b, nil
}

// request makes the signed request.
func (c Client) request(ctx context.Context, path, rawPath string, body []byte) (*http.Request, error) {
	u, err := url.Parse(c.Endpoint)
	if err != nil {
		return nil, fmt.Errorf("endpoint: %w", err)
	}
	u.Path, u.RawPath = path, rawPath
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, u.String(), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.URL = u // as escaped by the caller: parsing may undo what need not be escaped
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	creds, err := c.Credentials.Retrieve(ctx)
	if err != nil {
		return nil, fmt.Errorf("credentials: %w", err)
	}
	sum := sha256.Sum256(body)
	if err := signer.SignHTTP(ctx, creds, req, hex.EncodeToString(sum[:]), c.Scope, c.Region, time.Now()); err != nil {
		return nil, fmt.Errorf("sign: %w", err)
	}
	return req, ctx.Err()
}

// Error reads an error answer into the shapes that awserr knows. Its code stands
// in a header or in the body, in either case with decoration:
// "ThrottlingException:http://..." and "com.amazon.bedrock#ThrottlingException".
func Error(resp *http.Response, body []byte) error {
	var b struct {
		Type    string `json:"__type"`
		Code    string `json:"code"`
		Message string `json:"message"`
		Upper   string `json:"Message"`
	}
	_ = json.Unmarshal(body, &b) // a proxy's page is no JSON: the status must do
	code := resp.Header.Get("X-Amzn-Errortype")
	for _, c := range []string{b.Type, b.Code, fmt.Sprint("HTTP", resp.StatusCode)} {
		if code == "" {
			code = c
		}
	}
	code, _, _ = strings.Cut(code, ":")
	code = code[strings.LastIndexByte(code, '#')+1:]
	msg := b.Message
	if msg == "" {
		msg = b.Upper
	}
	fault := smithy.FaultClient
	if resp.StatusCode >= 500 {
		fault = smithy.FaultServer
	}
	return &smithyhttp.ResponseError{Response: &smithyhttp.Response{Response: resp},
		Err: &smithy.GenericAPIError{Code: code, Message: msg, Fault: fault}}
}

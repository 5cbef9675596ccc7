package bedrock

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
	"github.com/aws/smithy-go/encoding/httpbinding"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// Scope is the service's name in a request's signature.
const Scope = "bedrock"

// MaxAnswer bounds an answer, in bytes.
const MaxAnswer = 4 << 20

// ErrTooLarge says that an answer was longer than MaxAnswer.
var ErrTooLarge = errors.New("the answer is too large")

// Doer sends an HTTP request.
type Doer interface {
	Do(*http.Request) (*http.Response, error)
}

// Client calls one region's Bedrock. It is safe for concurrent use.
type Client struct {
	Endpoint    string // URL without a path
	Region      string
	Credentials aws.CredentialsProvider
	HTTP        Doer
	signer      *v4.Signer
}

// New makes a client from the configuration of AWS clients. Its retryer is not
// used: nothing is sent twice.
func New(cfg aws.Config) *Client {
	c := &Client{Region: cfg.Region, Credentials: cfg.Credentials, HTTP: cfg.HTTPClient, signer: v4.NewSigner(),
		Endpoint: "https://bedrock-runtime." + cfg.Region + ".amazonaws.com"}
	if cfg.BaseEndpoint != nil {
		c.Endpoint = strings.TrimSuffix(*cfg.BaseEndpoint, "/")
	}
	if c.HTTP == nil {
		c.HTTP = awshttp.NewBuildableClient() // no time-out of its own for the answer
	}
	return c
}

// Converse sends the request, once. An error of the service has awserr's usual
// shapes; ErrTooLarge and an answer that is no JSON came after the work was done;
// after any other error that awserr.NotSent does not know, nobody knows.
func (c *Client) Converse(ctx context.Context, in Request) (Answer, error) {
	a, err := c.converse(ctx, in)
	if err != nil {
		return Answer{}, &smithy.OperationError{ServiceID: "Bedrock Runtime", OperationName: "Converse", Err: err}
	}
	return a, nil
}

func (c *Client) converse(ctx context.Context, in Request) (Answer, error) {
	req, err := c.request(ctx, in)
	if err != nil {
		return Answer{}, &notSent{err}
	}
	resp, err := c.HTTP.Do(req)
	if err != nil {
		return Answer{}, err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(io.LimitReader(resp.Body, MaxAnswer+1))
	if resp.StatusCode != http.StatusOK {
		return Answer{}, apiError(resp, b) // what was read of it will do
	}
	if err != nil {
		return Answer{}, fmt.Errorf("read the answer: %w", err)
	}
	if len(b) > MaxAnswer {
		return Answer{}, ErrTooLarge
	}
	var a Answer
	if err := json.Unmarshal(b, &a); err != nil {
		return Answer{}, fmt.Errorf("%w: %w", ErrNotConverse, err)
	}
	return a, nil
}

// ErrNotConverse says that an answer was not in Converse's form.
var ErrNotConverse = errors.New("the answer is not in Converse's form")

// NotSent reports whether err came before anything was sent.
func NotSent(err error) bool {
	var n *notSent
	return errors.As(err, &n)
}

type notSent struct{ err error }

func (e *notSent) Error() string { return "not sent: " + e.err.Error() }
func (e *notSent) Unwrap() error { return e.err }

// request makes the signed request.
func (c *Client) request(ctx context.Context, in Request) (*http.Request, error) {
	if in.Model == "" {
		return nil, errors.New("no model is named")
	}
	body, err := json.Marshal(in)
	if err != nil {
		return nil, fmt.Errorf("encode: %w", err)
	}
	u, err := url.Parse(c.Endpoint)
	if err != nil {
		return nil, fmt.Errorf("endpoint: %w", err)
	}
	u.Path = "/model/" + in.Model + "/converse"
	u.RawPath = "/model/" + httpbinding.EscapePath(in.Model, true) + "/converse"
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, u.String(), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.URL = u // as escaped above: parsing may undo what need not be escaped
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	creds, err := c.Credentials.Retrieve(ctx)
	if err != nil {
		return nil, fmt.Errorf("credentials: %w", err)
	}
	sum := sha256.Sum256(body)
	if err := c.signer.SignHTTP(ctx, creds, req, hex.EncodeToString(sum[:]), Scope, c.Region, time.Now()); err != nil {
		return nil, fmt.Errorf("sign: %w", err)
	}
	return req, ctx.Err()
}

// apiError reads an error answer. Its code stands in a header or in the body, in
// either case with decoration: "ThrottlingException:http://..." and
// "com.amazon.bedrock#ThrottlingException".
func apiError(resp *http.Response, body []byte) error {
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

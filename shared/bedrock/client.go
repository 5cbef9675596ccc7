package bedrock

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/encoding/httpbinding"

	"fastbowlinglab/shared/awspost"
)

// Scope is the service's name in a request's signature.
const Scope = "bedrock"

// MaxAnswer bounds an answer, in bytes.
const MaxAnswer = 4 << 20

// ErrTooLarge says that an answer was longer than MaxAnswer.
var ErrTooLarge = awspost.ErrTooLarge

// Doer sends an HTTP request.
type Doer = awspost.Doer

// Client calls one region's Bedrock. It is safe for concurrent use.
type Client struct {
	Endpoint    string // URL without a path
	Region      string
	Credentials aws.CredentialsProvider
	HTTP        Doer
}

// New makes a client from the configuration of AWS clients. Its retryer is not
// used: nothing is sent twice.
func New(cfg aws.Config) *Client {
	p := awspost.New(cfg, "bedrock-runtime", Scope)
	return &Client{Endpoint: p.Endpoint, Region: p.Region, Credentials: p.Credentials, HTTP: p.HTTP}
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
	if in.Model == "" {
		return Answer{}, &awspost.NotSent{Err: errors.New("no model is named")}
	}
	body, err := json.Marshal(in)
	if err != nil {
		return Answer{}, &awspost.NotSent{Err: fmt.Errorf("encode: %w", err)}
	}
	post := awspost.Client{Scope: Scope, Endpoint: c.Endpoint, Region: c.Region, Credentials: c.Credentials, HTTP: c.HTTP}
	_, b, err := post.Post(ctx, "/model/"+in.Model+"/converse", "/model/"+httpbinding.EscapePath(in.Model, true)+"/converse", body, MaxAnswer)
	if err != nil {
		return Answer{}, err
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
	var n *awspost.NotSent
	return errors.As(err, &n)
}

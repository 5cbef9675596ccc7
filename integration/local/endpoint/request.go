package endpoint

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
)

// The services that the endpoint tells apart, named by their SigV4 scope (with
// DynamoDB Streams kept apart from the DynamoDB whose scope it shares).
const (
	DynamoDB       = "dynamodb"
	Streams        = "dynamodb-streams"
	S3             = "s3"
	SQS            = "sqs"
	SES            = "ses"
	SSM            = "ssm"
	SecretsManager = "secretsmanager"
	Events         = "events"
	States         = "states"
	Lambda         = "lambda"
	ECS            = "ecs"
	STS            = "sts"
	Bedrock        = "bedrock"
	SNS            = "sns"
	// ECSAgent is the address that ECS gives to a task for its own metadata and
	// protection. It is unsigned and known by its path, AgentPath.
	ECSAgent = "ecs-agent"
)

// AgentPath starts every path of the ECS agent. No bucket can have this name.
const AgentPath = "/_ecs/"

// targets maps the first part of X-Amz-Target to its service.
var targets = map[string]string{
	"DynamoDB_20120810":                  DynamoDB,
	"DynamoDBStreams_20120810":           Streams,
	"AmazonSQS":                          SQS,
	"AmazonSSM":                          SSM,
	"secretsmanager":                     SecretsManager,
	"AWSEvents":                          Events,
	"AWSStepFunctions":                   States,
	"AmazonEC2ContainerServiceV20141113": ECS,
}

// Request is one API call as the endpoint understood it.
type Request struct {
	Service   string // one of the constants above, or the scope of a service that is not served
	Operation string // "PutItem"; for S3, SES, Lambda and Bedrock the method and what it is done to: "GET object"
	Caller    string // application id of the caller's SDK (AWS_SDK_UA_APP_ID), "" when it sent none
	HTTP      *http.Request

	body []byte
	read bool
}

// maxBody bounds what is held in memory of one request when a fault needs it.
const maxBody = 64 << 20

// Body reads the request's body into memory, once, and puts it back so that the
// service sees it too. A body of more than 64 MiB is an error.
func (r *Request) Body() ([]byte, error) {
	if !r.read {
		b, err := io.ReadAll(io.LimitReader(r.HTTP.Body, maxBody+1))
		if err != nil {
			return nil, fmt.Errorf("read the body of %s %s: %w", r.Service, r.Operation, err)
		}
		if len(b) > maxBody {
			return nil, fmt.Errorf("the body of %s %s is over %d bytes", r.Service, r.Operation, maxBody)
		}
		r.body, r.read = b, true
	}
	r.HTTP.Body = io.NopCloser(bytes.NewReader(r.body))
	return r.body, nil
}

var appID = regexp.MustCompile(`(?:^| )app/([^ ]+)`)

// Parse tells which service and operation a request is for.
func Parse(r *http.Request) *Request {
	q := &Request{HTTP: r}
	if m := appID.FindStringSubmatch(r.UserAgent()); m != nil {
		q.Caller = m[1]
	}
	if strings.HasPrefix(r.URL.Path, AgentPath) {
		q.Service, q.Operation = ECSAgent, r.Method
		return q
	}
	if prefix, op, ok := strings.Cut(r.Header.Get("X-Amz-Target"), "."); ok {
		q.Operation = op
		if q.Service = targets[prefix]; q.Service == "" {
			q.Service = prefix
		}
		return q
	}
	q.Service = Scope(r)
	if q.Service == "" {
		q.Service = S3 // presigned POSTs and public reads carry no scope
	}
	q.Operation = r.Method
	if q.Service == S3 {
		q.Operation += " " + s3Subject(r)
	} else if q.Service == SES || q.Service == Lambda || q.Service == Bedrock {
		q.Operation += " " + r.URL.Path
	}
	return q
}

// s3Subject says what an S3 request is about: object, bucket or service.
func s3Subject(r *http.Request) string {
	_, key, slash := strings.Cut(strings.Trim(r.URL.Path, "/"), "/")
	switch {
	case slash && key != "":
		return "object"
	case strings.Trim(r.URL.Path, "/") != "":
		return "bucket"
	}
	return "service"
}

// Scope reads the service from a request's SigV4 credential scope
// (key/date/region/service/aws4_request), in the Authorization header or in the
// query of a presigned URL. It is "" when there is none.
func Scope(r *http.Request) string {
	cred := r.URL.Query().Get("X-Amz-Credential")
	if _, after, ok := strings.Cut(r.Header.Get("Authorization"), "Credential="); ok {
		cred, _, _ = strings.Cut(after, ",")
	}
	parts := strings.Split(strings.TrimSpace(cred), "/")
	if len(parts) != 5 || parts[4] != "aws4_request" {
		return ""
	}
	return parts[3]
}

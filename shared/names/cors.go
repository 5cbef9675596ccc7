package names

import "time"

// CORSMethods and CORSHeaders are what a browser app may use on the HTTP API;
// CORSExpose is what it may read of an answer, CORSMaxAge how long it may
// remember a preflight. The local router and the CDK app both read them; which
// origins are allowed is the deployment's to say.
var (
	CORSMethods = []string{"GET", "POST", "PUT", "DELETE", "OPTIONS"}
	CORSHeaders = []string{"authorization", "content-type", "idempotency-key", "if-none-match"}
	CORSExpose  = []string{"apigw-requestid", "etag", "retry-after"}
)

// UploadCORSMethods and UploadCORSExpose are the bucket's CORS rule, for any
// request header: a browser that shows the progress of an upload asks first.
var (
	UploadCORSMethods = []string{"GET", "HEAD", "POST"}
	UploadCORSExpose  = []string{"ETag"}
)

// CORSMaxAge is how long a browser may remember a preflight's answer.
const CORSMaxAge = time.Hour

package names

// Access says who may call a route.
type Access string

// The kinds of access. Operator routes need a token whose cognito:groups holds
// OperatorGroup; the check is the function's, the token's validity the gateway's.
const (
	AccessPublic   Access = "public"
	AccessAthlete  Access = "athlete"
	AccessOperator Access = "operator"
)

// Route is one route of the HTTP API. Path uses API Gateway's {param} form.
type Route struct {
	Method   string
	Path     string
	Access   Access
	Function string
}

// Key is the route key as API Gateway writes it, "GET /v1/analyses".
func (r Route) Key() string { return r.Method + " " + r.Path }

// PoseCallbackPath is where workers tell the results of jobs that came to them
// over HTTP; JobsPath is where such jobs are posted, on the workers' balancer.
const (
	PoseCallbackPath = "/v1/callbacks/pose"
	JobsPath         = "/v1/jobs"
)

// Routes of the HTTP API. The local router and the CDK app both read this list.
func Routes() []Route {
	return []Route{
		{"POST", "/v1/analyses", AccessAthlete, FnAPI},
		{"GET", "/v1/analyses", AccessAthlete, FnAPI},
		{"GET", "/v1/analyses/{analysis_id}", AccessAthlete, FnAPI},
		{"POST", "/v1/analyses/{analysis_id}/uploads", AccessAthlete, FnAPI},
		{"POST", "/v1/analyses/{analysis_id}/confirm", AccessAthlete, FnAPI},
		{"POST", "/v1/analyses/{analysis_id}/cancel", AccessAthlete, FnAPI},
		{"GET", "/v1/analyses/{analysis_id}/report", AccessAthlete, FnAPI},
		{"POST", "/v1/analyses/{analysis_id}/rerun", AccessAthlete, FnAPI},
		{"GET", "/v1/credits", AccessAthlete, FnAPI},
		{"GET", "/v1/me", AccessAthlete, FnAPI},
		{"PUT", "/v1/me", AccessAthlete, FnAPI},
		{"DELETE", "/v1/me", AccessAthlete, FnAPI},
		{"GET", "/v1/me/export", AccessAthlete, FnAPI},
		{"POST", "/v1/payments/events", AccessPublic, FnAPI},
		{"GET", "/v1/openapi.json", AccessPublic, FnAPI},
		{"POST", "/v1/operator/grants", AccessOperator, FnAPI},
		{"GET", "/v1/usage", AccessOperator, FnAPI},
		{"POST", PoseCallbackPath, AccessPublic, FnCallback}, // its signature is checked by the function
	}
}

package virtual

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sfn"

	"fastbowlinglab/functions/api"
	"fastbowlinglab/shared/athlete"
	"fastbowlinglab/shared/callback"
	"fastbowlinglab/shared/erasure"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/usage"
)

// Ask is a request to the public API.
type Ask struct {
	Route    string // "POST /v1/analyses/{analysis_id}/confirm"
	Analysis string // id in the path
	Key      string // Idempotency-Key; "": none
	Operator bool   // by an operator; else by the athlete
	By       string // by another athlete; "": by the one of the world
	Cursor   string // of the page that is asked for; "": the first
	Body     any    // nil: none
	Event    string // id of an event that the shop signs; "": no event
}

// Reply is the API's answer.
type Reply struct {
	Status int
	Body   []byte
}

// Into decodes the body.
func (r Reply) Into(v any) error {
	if err := json.Unmarshal(r.Body, v); err != nil {
		return fmt.Errorf("answer %d: %w", r.Status, err)
	}
	return nil
}

// Code is the code of a problem, "" for an answer that is none.
func (r Reply) Code() string {
	var p struct{ Code string }
	_ = json.Unmarshal(r.Body, &p) // no problem
	return p.Code
}

// API asks the public API as the process of ctx: through the gateway and its
// faults, then the real handler, as a process of its own, under its timeout. The
// gateway has checked the token, as it does.
func (c *Cloud) API(ctx context.Context, a Ask) (Reply, error) {
	method, path, _ := strings.Cut(strings.Replace(a.Route, "{analysis_id}", a.Analysis, 1), " ")
	body := ""
	if a.Body != nil {
		body = string(mustJSON(a.Body))
	}
	r, err := http.NewRequestWithContext(ctx, method, "https://api.example.com"+path, strings.NewReader(body))
	if err != nil {
		return Reply{}, err
	}
	p := ProcOf(ctx)
	resp, err := c.gateway(r, p, names.FnAPI, p.Name, a.event(body))
	if err != nil {
		return Reply{}, err
	}
	b, err := io.ReadAll(resp.Body)
	return Reply{resp.StatusCode, b}, err
}

// event is the request as the gateway hands it on.
func (a Ask) event(body string) map[string]any {
	headers, claims := map[string]string{}, map[string]string{"sub": Athlete, "token_use": "access"}
	if a.Key != "" {
		headers["idempotency-key"] = a.Key
	}
	query := map[string]string{}
	if a.Cursor != "" {
		query["cursor"] = a.Cursor
	}
	if a.By != "" {
		claims["sub"] = a.By
	}
	if a.Operator {
		claims["sub"], claims["cognito:groups"] = "op", "["+names.OperatorGroup+"]"
	}
	if a.Event != "" {
		now := time.Now()
		headers[strings.ToLower(callback.HeaderID)] = a.Event
		headers[strings.ToLower(callback.HeaderTimestamp)] = fmt.Sprint(now.Unix())
		headers[strings.ToLower(callback.HeaderSignature)] = callback.Sign(keyOfWorlds, a.Event, now, []byte(body))
	}
	return map[string]any{"version": "2.0", "routeKey": a.Route, "headers": headers, "body": body, "queryStringParameters": query,
		"pathParameters": map[string]string{"analysis_id": a.Analysis},
		"requestContext": map[string]any{"authorizer": map[string]any{"jwt": map[string]any{"claims": claims}}}}
}

// gateway carries a request of p's to a function, which serves it as a process
// named after who asks. A function that dies is a 500.
func (c *Cloud) gateway(r *http.Request, p *Proc, fn, who string, event map[string]any) (*http.Response, error) {
	return c.Gate.post(r, p, ServiceGateway, func(_ []byte, out chan<- answer) {
		name := fn + "/" + who
		c.served[name]++ // in a turn
		actor := fmt.Sprint(name, "/", c.served[name])
		c.wg.Go(func() {
			var resp struct {
				StatusCode int
				Body       string
			}
			res := c.call(As(context.WithoutCancel(r.Context()), actor), fn, mustJSON(event))
			if res.fail != "" || json.Unmarshal(res.out, &resp) != nil {
				resp.StatusCode = http.StatusInternalServerError
			}
			rec := &recorder{header: http.Header{}}
			rec.WriteHeader(resp.StatusCode)
			rec.body.WriteString(resp.Body)
			out <- answer{resp: rec.response(r)}
		})
	})
}

// People is the store of what athletes chose.
func (c *Cloud) People() athlete.Store { return c.people(nil) }

func (c *Cloud) people(now func() time.Time) athlete.Store {
	return athlete.Store{DB: c.DB, Athletes: names.Athletes.Name, Suppressions: names.Suppressions.Name, Retry: c.Retry, Now: now}
}

// Erasures is the store of the deletions that athletes ask for.
func (c *Cloud) Erasures() erasure.Store { return c.erasures(nil) }

func (c *Cloud) erasures(now func() time.Time) erasure.Store {
	return erasure.Store{DB: c.DB, Table: names.Erasures.Name, Retry: c.Retry, Now: now}
}

// publicAPI is the function of the public API.
func (c *Cloud) publicAPI() lambda.Handler {
	now := c.clock(names.FnAPI)
	jobs, objects := c.jobs(c.DB, now), c.Objects()
	return api.New(api.Deps{
		Life: c.life(now), Ledger: c.Ledger(), Ends: c.ends(now), Now: now,
		Usage:  usage.Store{DB: c.DB, Usage: names.Usage.Name, Prices: names.Prices.Name},
		People: c.people(now), Erasures: c.erasures(now), PaymentKeys: oneKey{},
		Rows: c.DB, Notices: names.Notices.Name, Tags: names.Tags.Name, Folder: objects,
		Jobs: jobs, Progress: api.PoseJobs{Store: jobs}, Objects: objects, Bucket: names.Bucket,
		Signer: api.Signer{S3: s3.NewPresignClient(objects), Credentials: c.Config.Credentials, Bucket: names.Bucket, Now: now},
		Steps:  sfn.NewFromConfig(c.Config), MachineARN: c.Machine,
	})
}

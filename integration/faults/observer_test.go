package faults

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	ddb "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"fastbowlinglab/integration/promises"
	"fastbowlinglab/integration/virtual"
	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/credit"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/posejob"
	"fastbowlinglab/shared/stamp"
)

// sample is the analysis of these worlds.
var sample = "an-" + strings.Repeat("a", 26)

// damaged is a world whose rows are planted behind the observer's back.
type damaged struct {
	t *testing.T
	w *world
	c *virtual.Cloud
	o *observer

	cut *bool // no request arrives any more
	api *fakeAPI
}

// fakeAPI answers whatever it is told to.
type fakeAPI struct {
	status int
	body   string
}

// Invoke implements lambda.Handler.
func (f *fakeAPI) Invoke(context.Context, []byte) ([]byte, error) {
	return json.Marshal(map[string]any{"statusCode": f.status, "body": f.body})
}

type attrs = map[string]any

// put plants a row, and lets the observer look as after a write of an actor.
func (d damaged) put(table names.Table, row attrs) {
	d.t.Helper()
	it := map[string]ddb.AttributeValue{}
	for k, v := range row {
		if at, ok := v.(time.Time); ok {
			v = stamp.Format(at)
		}
		av, err := attributevalue.Marshal(v)
		if err != nil {
			d.t.Fatal(err)
		}
		it[k] = av
	}
	if _, err := d.c.Direct.PutItem(context.Background(), &dynamodb.PutItemInput{TableName: aws.String(table.Name), Item: it}); err != nil {
		d.t.Fatal(err)
	}
}

// look lets the observer look at the sample's rows in a table, as after a write.
func (d damaged) look(table names.Table, op, actor string) {
	body := fmt.Sprintf(`{"TableName":%q,"analysis_id":{"S":%q},"effect":{"S":"model#%s#findings"}}`, table.Name, sample, sample)
	d.o.observe(d.c, virtual.Call{Service: "dynamodb", Op: op, Actor: actor, Body: []byte(body), Original: []byte(`{"ExpressionAttributeValues":{":fence":{"N":"1"}}}`)})
}

func (d damaged) row(status string, more attrs) {
	row := attrs{"analysis_id": sample, "athlete_id": virtual.Athlete, "status": status, "attempt": 1}
	for k, v := range more {
		row[k] = v
	}
	d.put(names.Analyses, row)
	d.look(names.Analyses, "UpdateItem", "")
}

func (d damaged) entry(kind, cause string, credits int) {
	of := sample
	if kind != "reserve" && kind != "refund" {
		of = ""
	}
	d.put(names.Credits, attrs{"athlete_id": virtual.Athlete, "entry": kind + "#" + cause, "kind": kind, "credits": credits, "analysis_id": of})
}

func (d damaged) notice(kind, state string) {
	d.put(names.Notices, attrs{"analysis_id": sample, "notice": kind + "#email", "kind": kind, "state": state})
	d.look(names.Notices, "UpdateItem", "")
}

// job plants a pose job under a fence, held by an owner until so long from now.
func (d damaged) job(fence int64, owner string, holds time.Duration, more attrs) {
	row := attrs{"analysis_id": sample, "attempt": 1, "state": string(posejob.Claimed), "fence": fence, "owner": owner, "until": time.Now().Add(holds),
		"checkpoints": attrs{}}
	for k, v := range more {
		row[k] = v
	}
	d.put(names.PoseJobs, row)
	d.look(names.PoseJobs, "PutItem", owner)
}

func (d damaged) effect(state string, fence, takeovers int) {
	d.put(names.Effects, attrs{"effect": "model#" + sample + "#findings", "state": state, "fence": fence, "takeovers": takeovers})
	d.look(names.Effects, "UpdateItem", "")
}

// call is a call of the paid model under a fence, counted.
func (d damaged) call(fence int64) virtual.ModelCall {
	d.put(names.Usage, attrs{"analysis_id": sample, "call": fmt.Sprint("findings#1#", fence), "task": "findings"})
	return virtual.ModelCall{Key: "model#" + sample + "#findings", Fence: fence}
}

// answer is what a function said.
func (d damaged) answer(fn string, in, out any) {
	a, _ := json.Marshal(in) // of plain structs
	b, _ := json.Marshal(out)
	d.o.answered(fn, a, b, "")
}

func (d damaged) mail(id, kind string) {
	d.o.observe(d.c, virtual.Call{Service: "ses", Body: fmt.Appendf(nil, `{"EmailTags":[{"Name":"analysis_id","Value":%q},{"Name":"kind","Value":%q}]}`, id, kind)})
}

func (d damaged) push(id, status, kind string) {
	form := url.Values{"Message": {fmt.Sprintf(`{"analysis_id":%q,"athlete_id":%q,"status":%q}`, id, virtual.Athlete, status)},
		"MessageAttributes.entry.1.Name": {"kind"}, "MessageAttributes.entry.1.Value.StringValue": {kind}}
	d.o.observe(d.c, virtual.Call{Service: "sns", Body: []byte(form.Encode())})
}

// revisions are those of a report, by their names, as the row holds them.
func revisions(names ...string) attrs {
	var out []attrs
	for i, name := range names {
		out = append(out, attrs{"number": i + 1, "name": name})
	}
	return attrs{"revisions": out}
}

// answers lets the API answer something else.
func (d damaged) answers(status int, body string) { d.api.status, d.api.body = status, body }

// finish is the look at what a world came to.
func (d damaged) finish() { d.w.finish(d.c, &Result{Ends: map[analysis.Status]int{}}) }

// damage is what a check is for.
type damage struct {
	name, want string // invariant
	do         func(d damaged)
}

// Every check of the observer finds the damage that it is for. That the promises
// hold without damage is what every campaign shows.
func TestEveryCheckIsSeenToFail(t *testing.T) {
	var seen []Violation
	cases := []damage{
		{"an end that was written to", "I1", func(d damaged) {
			d.row("failed", attrs{"ended_by": "cancel#athlete"})
			d.row("failed", attrs{"ended_by": "cancel#athlete", "reason": "other"})
		}},
		{"ended by an earlier attempt", "I1", func(d damaged) { d.row("failed", attrs{"attempt": 2, "ended_by": "settle#" + sample + "-1"}) }},
		{"an end without its refund", "I2", func(d damaged) { d.entry("reserve", sample, -1); d.row("failed", nil) }},
		{"an end without its notice", "I4", func(d damaged) { d.row("ready", nil) }},
		{"a mail without its tags", "I4", func(d damaged) { d.o.observe(d.c, virtual.Call{Service: "ses", Body: []byte(`{}`)}) }},
		{"a mail of another end", "I4", func(d damaged) { d.row("failed", nil); d.mail(sample, "ready") }},
		{"a second mail", "I4", func(d damaged) { d.row("failed", nil); d.mail(sample, "failed"); d.mail(sample, "failed") }},
		{"a push event without its message", "I4", func(d damaged) { d.o.observe(d.c, virtual.Call{Service: "sns", Body: []byte("Message=no")}) }},
		{"a push event of another end", "I4", func(d damaged) { d.row("failed", nil); d.push(sample, "ready", "failed") }},
		{"a second push event", "I4", func(d damaged) {
			d.row("failed", nil)
			d.push(sample, "failed", "failed")
			d.push(sample, "failed", "failed")
		}},
		{"a mail of a revision that there is not", "I4", func(d damaged) { d.row("ready", nil); d.mail(sample, "revised-1") }},
		{"a revision of what was not delivered", "I1", func(d damaged) { d.row("failed", nil); d.row("failed", revisions("report-v2")) }},
		{"a revision that was taken away", "I1", func(d damaged) { d.row("ready", revisions("report-v2")); d.row("ready", nil) }},
		{"the same revision twice", "I1", func(d damaged) {
			d.row("ready", revisions("report-v2"))
			d.row("ready", revisions("report-v2", "report-v2"))
		}},
		{"a revision without its notice", "I4", func(d damaged) {
			d.row("ready", nil)
			d.notice("ready", "sent")
			d.row("ready", revisions("report-v2"))
		}},
		{"a key that is two analyses", "I3", func(d damaged) {
			d.answers(201, `{"analysis_id":"an-1"}`)
			d.w.reserve(virtual.As(context.Background(), "client"), d.c, "key", virtual.Ask{Route: routeCreate})
			d.answers(201, `{"analysis_id":"an-2"}`)
			d.w.reserve(virtual.As(context.Background(), "client"), d.c, "key", virtual.Ask{Route: routeCreate})
		}},
		{"an analysis that nobody asked for", "I3", func(d damaged) { d.row("failed", nil); d.finish() }},
		{"an end that the API does not show", "I9", func(d damaged) {
			d.row("failed", nil)
			d.answers(200, `{"status":"analysing"}`)
			d.w.shown(virtual.As(context.Background(), "client"), d.c)
		}},
		{"a balance that the API does not show", "I9", func(d damaged) {
			d.answers(200, `{"balance":3}`)
			d.w.shown(virtual.As(context.Background(), "client"), d.c)
		}},
		{"a choice that was lost", "I9", func(d damaged) { d.w.chosen(1, channels{Email: true}); d.w.chosen(1, channels{}) }},
		{"a report that was said to be made again", "I9", func(d damaged) {
			d.row("ready", nil)
			d.w.madeAgain("redo", sample)
		}},
		{"a notice that is over and changes", "I4", func(d damaged) { d.notice("failed", "unknown"); d.notice("failed", "sent") }},
		{"a claim given back after its call", "I5", func(d damaged) { d.effect("free", 1, 0); d.o.calls(d.c, []virtual.ModelCall{d.call(1)}, nil) }},
		{"a claim more than takeovers", "I5", func(d damaged) { d.effect("done", 2, 0); d.o.calls(d.c, []virtual.ModelCall{d.call(1)}, nil) }},
		{"a call more than takeovers", "I5", func(d damaged) {
			d.effect("claimed", 1, 0)
			d.o.calls(d.c, []virtual.ModelCall{d.call(1), d.call(1)}, nil)
		}},
		{"two calls for a known answer", "I5", func(d damaged) {
			d.effect("done", 1, 0)
			d.o.calls(d.c, []virtual.ModelCall{d.call(1), d.call(1)}, nil)
		}},
		{"a known answer that nobody was asked for", "I5", func(d damaged) { d.effect("done", 1, 0); d.o.calls(d.c, nil, nil) }},
		{"two callers at once", "I5", func(d damaged) { d.o.calls(d.c, nil, []string{"model#" + sample + "#findings"}) }},
		{"a call that nobody claimed", "I5", func(d damaged) { d.o.calls(d.c, []virtual.ModelCall{d.call(1)}, nil) }},
		{"a lease put back", "I6", func(d damaged) { d.job(1, "a", time.Minute, nil); d.job(1, "a", time.Second, nil) }},
		{"a fence that fell", "I6", func(d damaged) { d.job(2, "a", time.Minute, nil); d.job(1, "a", time.Minute, nil) }},
		{"a fence given twice", "I6", func(d damaged) { d.job(1, "a", time.Minute, nil); d.job(1, "b", time.Minute, nil) }},
		{"a live lease taken over", "I6", func(d damaged) { d.job(1, "a", time.Minute, nil); d.job(2, "b", time.Minute, nil) }},
		{"a worker at work taken over", "I6", func(d damaged) {
			d.o.atWork = func(string, string) bool { return true }
			d.job(1, "a", -time.Hour, nil)
			d.job(2, "b", time.Minute, nil)
		}},
		{"a write under an old fence", "I6", func(d damaged) {
			d.job(1, "a", -time.Hour, nil)
			d.job(2, "b", time.Minute, nil)
			d.look(names.PoseJobs, "UpdateItem", "a")
		}},
		{"a chunk computed again", "I5", func(d damaged) {
			d.job(1, "a", -time.Hour, attrs{"checkpoints": attrs{"0-0": attrs{"k": "id/1/1/0-0", "n": 1}}})
			d.job(2, "b", time.Minute, attrs{"checkpoints": attrs{"0-0": attrs{"k": "id/1/2/0-0", "n": 1}}})
		}},
		{"granted twice", "I3", func(d damaged) { d.w.granted = 1; d.entry("grant", "1", 1); d.entry("grant", "2", 1); d.finish() }},
		{"a payment whose totals are not what was told", "I3", func(d damaged) {
			d.w.paid = true
			d.entry("purchase", "p", bought)
			d.put(names.Effects, attrs{"effect": credit.PaymentKey("p"), "bought": bought, "refunded": 0})
			d.finish()
		}},
		{"two passes together", "I6", func(d damaged) { d.w.passes.overlap[sample] = maxOverlap + 1; d.finish() }},
		{"an analysis that was promised and is not there", "I9", func(d damaged) { d.w.wanted[sample] = true; d.finish() }},
		{"a grant that is never entered", "I9", func(d damaged) { *d.cut = true; d.w.play(d.c) }},
		{"two executions that go on", "I1", func(d damaged) {
			for _, x := range []string{"a", "b"} {
				d.answer(names.FnBegin, names.BeginIn{Run: names.Run{AnalysisID: sample, Attempt: 1}, Execution: x}, names.BeginOut{Proceed: true})
			}
		}},
		{"calls too close together", "I7", func(d damaged) {
			at := time.Now()
			d.o.spaced([]virtual.Departure{{Due: at, At: at}, {Due: at.Add(time.Second), At: at.Add(time.Second)}})
		}},
	}
	cases = append(cases, routeDamage()...)
	tried := 0
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			tried++
			w, cut := newWorld(1, nil), false
			faults := func(virtual.Call) virtual.Decision {
				if cut {
					return virtual.Decision{Fault: virtual.NotDone}
				}
				return virtual.Decision{}
			}
			api := &fakeAPI{}
			fake := map[string]func(*virtual.Cloud) lambda.Handler{names.FnAPI: func(*virtual.Cloud) lambda.Handler { return api }}
			virtual.Run(t, virtual.Options{NoFleet: true, Faults: faults, Override: fake}, func(c *virtual.Cloud) {
				tc.do(damaged{t, w, c, w.obs, &cut, api})
			})
			r := Result{Violations: w.obs.found}
			if !r.broke(tc.want) {
				t.Errorf("%s holds: %v", tc.want, w.obs.found)
			}
			seen = append(seen, w.obs.found...)
		})
	}
	if tried < len(cases) {
		return // -run chose some
	}
	untried, err := promises.Untried(".", seen)
	if err != nil {
		t.Fatal(err)
	}
	for _, u := range untried {
		t.Errorf("no case shows damage that this finds: %s", u)
	}
}

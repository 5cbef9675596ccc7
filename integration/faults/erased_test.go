package faults

import (
	"context"
	"flag"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	ddb "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/sfn"

	"fastbowlinglab/functions/erase"
	"fastbowlinglab/functions/poseworker"
	"fastbowlinglab/integration/promises"
	"fastbowlinglab/integration/virtual"
	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/credit"
	"fastbowlinglab/shared/dynamotest"
	"fastbowlinglab/shared/erasure"
	"fastbowlinglab/shared/names"
)

var erasures = flag.Int("chaos.erasures", 25, "schedules of TestErasedUnderFaults")

// erased is a world whose athlete asks to be deleted in the middle of it.
type erased struct {
	*world
	asked, done time.Time
	ends        map[string]analysis.Status // by analysis, as first written
	late        []string                   // what happened after the proof
}

// observe keeps what was, since the rows will be gone.
func (e *erased) observe(c *virtual.Cloud, call virtual.Call) {
	e.obs.mu.Lock()
	defer e.obs.mu.Unlock()
	if tell := map[string]func(virtual.Call){"ses": e.obs.mail, "sns": e.obs.push}[call.Service]; tell != nil {
		tell(call)
		if !e.done.IsZero() {
			e.late = append(e.late, "a notice")
		}
		return
	}
	if call.Service != "dynamodb" || !strings.Contains(string(call.Body), `"`+names.Analyses.Name+`"`) {
		return
	}
	for _, m := range analysisID.FindAllStringSubmatch(string(call.Body), -1) {
		it, err := item(c, names.Analyses, analysis.Key(m[1]))
		if err != nil || it == nil {
			continue
		}
		r, err := analysis.Decode(it)
		if err != nil {
			e.obs.violation("I9", "row of %s: %v", m[1], err)
			continue
		}
		if r.AthleteID != virtual.Athlete { // another's, named in a read of an export's next page
			continue
		}
		e.obs.rows[m[1]] = r
		was, ended := e.ends[m[1]]
		switch {
		case ended && was != r.Status:
			e.obs.violation("I1", "%s was %s and is %s", m[1], was, r.Status)
		case r.Status.Ended():
			e.ends[m[1]] = r.Status
		}
	}
}

// deps are those of the deployed function.
func (e *erased) deps(c *virtual.Cloud) erase.Deps {
	return erase.Deps{
		Erasures: c.Erasures(), Life: c.Life(), Ends: c.Ends(), Ledger: c.Ledger(),
		People: c.People(),
		Rows: erase.Rows{DB: c.DB, Analyses: names.Analyses.Name, PoseJobs: names.PoseJobs.Name, Notices: names.Notices.Name,
			Effects: names.Effects.Name, Usage: names.Usage.Name, Tags: names.Tags.Name, Runs: names.Runs.Name, Retry: c.Retry},
		Objects: erase.Objects{S3: c.Objects(), Bucket: names.Bucket, Retry: c.Retry},
		Scan:    c.DB, Steps: sfn.NewFromConfig(c.Config), MachineARN: c.Machine,
	}
}

// play lets two athletes' worth of things happen, and the deletion in the middle.
func (e *erased) play(c *virtual.Cloud) {
	ctx := virtual.As(context.Background(), "client")
	d := e.plan.dice
	c.SetParameter("/model/findings", virtual.PaidModel)
	c.SetParameter("/model/coaching", virtual.PaidModel)
	c.Schedule(names.FnReconcile, names.ReconcilePeriod)
	c.Schedule(names.FnErase, names.ErasePeriod)
	e.neighbour(ctx, c)
	n := 1 + d.IntN(2, "analyses")
	e.granted = int64(n)
	if !e.grant(ctx, c, n) {
		e.obs.tell("I9", "a grant was not entered in an hour")
		return
	}
	if e.plan.event(doPayment, "", 0.5) {
		e.paid = true
		e.pay(c)
	}
	var clients sync.WaitGroup
	for i := range n {
		clients.Go(func() { e.client(c, fmt.Sprintf("key-%d", i)) })
	}
	within := []time.Duration{2 * time.Minute, 6 * time.Minute, 20 * time.Minute, 2 * time.Hour}[d.IntN(4, "asks within")]
	pause(ctx, d.Between(0, within, "asks"))
	e.asked = time.Now()
	e.gone.Store(true)
	for range 1 + d.IntN(2, "asks twice") {
		if r, ok := e.ask(ctx, c, virtual.Ask{Route: routeErase}); !ok || r.Status != http.StatusAccepted {
			e.obs.tell("I9", "a deletion could not be asked for in an hour: %d %s", r.Status, r.Code())
			return
		}
	}
	s := c.Erasures()
	clients.Wait()
	for end := e.asked.Add(12 * time.Hour); time.Now().Before(end); pause(ctx, 10*time.Minute) {
		if time.Since(e.asked) > 4*time.Hour {
			c.Gate.Calm()
		}
		if p, err := s.Look(ctx, virtual.Athlete); err == nil && p.State == erasure.Done {
			break
		}
	}
	e.obs.mu.Lock()
	e.done = time.Now()
	e.obs.mu.Unlock()
	late := virtual.Ask{Route: routeCreate, Key: "late", Body: e.submission("late")}
	if r, ok := e.ask(ctx, c, late); !ok || r.Code() != "athlete_erased" {
		e.came(fmt.Sprint("the answer ", r.Status, " to a new analysis"))
	}
	e.nothing(ctx, c)
	calls := len(c.ModelCalls())
	pause(ctx, 3*time.Hour)
	if n := len(c.ModelCalls()); n > calls {
		e.came(fmt.Sprint(n-calls, " calls of the model"))
	}
}

// nothing asks, after the proof, for what there was: nothing is shown of it.
func (e *erased) nothing(ctx context.Context, c *virtual.Cloud) {
	if all := e.export(ctx, c, ""); all != nil && (len(all.Analyses) > 0 || len(all.Ledger) > 0 || all.Balance != 0) {
		e.came(fmt.Sprintf("an export of %v, %v", all.Analyses, all.Ledger))
	}
	for _, id := range e.obs.ids() {
		for _, route := range []string{routeShow, routeReport, routeUploads, routeConfirm, routeCancel} {
			if r, ok := e.ask(ctx, c, virtual.Ask{Route: route, Analysis: id}); ok && r.Status != http.StatusNotFound && r.Code() != "athlete_erased" {
				e.came(fmt.Sprint("the answer ", r.Status, " to ", route))
			}
		}
	}
}

// others checks that another athlete has what they had.
func (e *erased) others(c *virtual.Cloud) {
	for _, id := range neighbours {
		if it, err := item(c, names.Analyses, analysis.Key(id)); err != nil || it == nil || len(c.Keys(names.PrefixWork+id)) != 1 {
			e.obs.violation("I9", "another athlete lost %s: %v", id, err)
		}
	}
}

// came notes what happened after the proof.
func (e *erased) came(late string) {
	e.obs.mu.Lock()
	defer e.obs.mu.Unlock()
	e.late = append(e.late, late)
}

// check looks at what is left of the athlete: nothing but the proof, and a ledger
// that adds up under another name.
func (e *erased) check(c *virtual.Cloud) {
	e.obs.mu.Lock()
	defer e.obs.mu.Unlock()
	if e.done.IsZero() {
		return // play said why
	}
	for _, what := range e.late {
		e.obs.violation("I9", "%s after the athlete was erased", what)
	}
	whole := map[string][]map[string]ddb.AttributeValue{}
	for _, t := range names.Tables() {
		for _, it := range scan(e.obs, c, t) {
			if t.Name == names.Credits.Name {
				var k struct {
					Athlete string `dynamodbav:"athlete_id"`
				}
				_ = attributevalue.UnmarshalMap(it, &k) // without it the entry is nobody's, and found below
				whole[k.Athlete] = append(whole[k.Athlete], it)
			}
			text := fmt.Sprint(plain(it))
			for id := range e.obs.rows {
				if strings.Contains(text, id) {
					e.obs.violation("I9", "%s is still in %s: %s", id, t.Name, text)
				}
			}
			if strings.Contains(text, virtual.Athlete) {
				e.obs.violation("I9", "the athlete is still in %s: %s", t.Name, text)
			}
		}
	}
	for id := range e.obs.rows {
		for _, prefix := range []string{names.PrefixClips, names.PrefixWork, names.PrefixReports} {
			if left := c.Keys(prefix + id); len(left) > 0 {
				e.obs.violation("I9", "of %s there are still %v", id, left)
			}
		}
	}
	e.others(c)
	e.money(whole)
	e.calls(c)
}

// money checks the one ledger that is left: I2, I3.
func (e *erased) money(whole map[string][]map[string]ddb.AttributeValue) {
	if len(whole) != 1 {
		e.obs.violation("I3", "%d ledgers are left, want one", len(whole))
		return
	}
	for pseudonym, items := range whole {
		l, err := promises.ReadLedger(items)
		if err != nil {
			e.obs.violation("I3", "%v", err)
			return
		}
		l.Check(e.obs.violation)
		for id, r := range e.obs.rows {
			if _, ended := e.ends[id]; !ended {
				e.obs.violation("I8", "%s never had its end, it was %s", id, r.Status)
			}
			if n := l.Charge(credit.Erased(pseudonym, id)); n != promises.Price(e.ends[id]) {
				e.obs.violation("I2", "%s was %s and costs %d credits, want %d", id, e.ends[id], n, promises.Price(e.ends[id]))
			}
		}
		least, most := e.granted, e.granted
		if e.paid {
			least, most = least+bought-refunded, most+bought
		}
		if in := -l.Charge(""); in < least || in > most {
			e.obs.violation("I3", "%d credits came in, %d to %d were granted and paid for", in, least, most)
		}
	}
}

// calls checks that no claim of the model was used twice: I5.
func (e *erased) calls(c *virtual.Cloud) {
	seen := map[string]int{}
	for _, m := range c.ModelCalls() {
		key := fmt.Sprint(m.Key, "/", m.Fence)
		if seen[key]++; seen[key] > 1 {
			e.obs.violation("I5", "%d calls under claim %s", seen[key], key)
		}
	}
	for _, key := range c.CalledTwiceAtOnce() {
		e.obs.violation("I5", "two calls for %s at one time", key)
	}
}

// redone reports whether a report of this world was made again.
func (e *erased) redone() bool {
	for _, r := range e.obs.rows {
		if len(r.Revisions) > 0 {
			return true
		}
	}
	return false
}

func scan(o *observer, c *virtual.Cloud, t names.Table) (all []map[string]ddb.AttributeValue) {
	out, err := c.Direct.Scan(context.Background(), &dynamodb.ScanInput{TableName: aws.String(t.Name)})
	if err != nil || out.LastEvaluatedKey != nil {
		o.violation("I9", "%s could not be read: %v", t.Name, err)
		return nil
	}
	return out.Items
}

func plain(it map[string]ddb.AttributeValue) map[string]any {
	var m map[string]any
	_ = attributevalue.UnmarshalMap(it, &m) // into anything
	return m
}

// An athlete asks to be deleted while their analyses run, under the faults of a
// campaign: every one has its end and its price, in a ledger under another name; of
// the rest nothing is left, and nothing happens any more.
func TestErasedUnderFaults(t *testing.T) {
	runs := *erasures
	if testing.Short() {
		runs = 10
	}
	ends, redone := map[analysis.Status]int{}, 0
	for i := range runs {
		seed := *seed + uint64(i)
		e := &erased{world: newWorld(seed, nil), ends: map[string]analysis.Status{}}
		e.redoes = 0.5
		d := e.plan.dice
		db, stop := dynamotest.StartStop(t)
		virtual.RunOn(t, db, virtual.Options{
			Seed: seed, Faults: e.plan.request, Invocations: e.plan.invocation, Events: e.plan.events, Skew: e.plan.skew,
			Observe: e.observe, Model: e.model, Workers: workersBeside(e.plan), Poll: 5 * time.Minute,
			Override: map[string]func(*virtual.Cloud) lambda.Handler{names.FnPrecheck: e.precheck,
				names.FnErase: func(c *virtual.Cloud) lambda.Handler { return erase.New(e.deps(c)) }},
			Vision: func(*virtual.Proc) poseworker.Vision {
				each := []time.Duration{503 * time.Millisecond, 3017 * time.Millisecond, 25013 * time.Millisecond}[d.IntN(3, "chunk")]
				return virtual.Sight{Chunks: 2 + d.IntN(6, "chunks"), Each: each}
			},
			After: e.check,
		}, e.play)
		stop()
		if e.redone() {
			redone++
		}
		for _, v := range e.obs.found {
			t.Errorf("seed %d: %s violated: %s", seed, v.Invariant, v.Detail)
		}
		for _, s := range e.ends {
			ends[s]++
		}
	}
	t.Logf("ends %v, %d worlds with a revision", ends, redone)
	if redone == 0 && runs >= 25 {
		t.Error("no report was made again")
	}
	if ends[analysis.Ready] == 0 || ends[analysis.Failed] == 0 {
		t.Errorf("ends %v: some must come before the deletion, and some by it", ends)
	}
}

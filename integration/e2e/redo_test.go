package e2e

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	ddb "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	sfntypes "github.com/aws/aws-sdk-go-v2/service/sfn/types"

	"fastbowlinglab/integration/local"
	"fastbowlinglab/integration/local/endpoint"
	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/credit"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/outbox"
	"fastbowlinglab/shared/stamp"
	"fastbowlinglab/shared/usage"
)

// gate holds the requests of a program that a test wants to see in mid-flight.
type gate struct {
	mu     sync.Mutex
	caught func(*endpoint.Request) bool
	seen   chan struct{}
	open   chan struct{}
}

func (g *gate) intercept(q *endpoint.Request) endpoint.Fault {
	g.mu.Lock()
	caught, seen, open := g.caught, g.seen, g.open
	g.mu.Unlock()
	if caught != nil && caught(q) {
		select {
		case seen <- struct{}{}:
		default:
		}
		<-open
	}
	return endpoint.Fault{}
}

// hold catches requests from now on; the channel tells of the first.
func (g *gate) hold(caught func(*endpoint.Request) bool) <-chan struct{} {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.caught, g.seen, g.open = caught, make(chan struct{}, 1), make(chan struct{})
	return g.seen
}

// release lets everything through again.
func (g *gate) release() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.caught != nil {
		close(g.open)
	}
	g.caught = nil
}

// redoWorld is a cloud with one analysis that the pipeline delivered.
type redoWorld struct {
	*world
	gate *gate
	s3   *s3.Client
	sfn  *sfn.Client
	id   string
}

func newRedoWorld(t *testing.T) *redoWorld {
	g := &gate{}
	w := start(t, func(c *local.Config) {
		c.Intercept = g.intercept
		c.Schedules[names.FnNightly] = -1 // a test that runs at one o'clock must not meet it
	})
	t.Cleanup(g.release)
	sum := w.demo(sample(t, "bowler.mp4"), "")
	w.end(sum, analysis.Ready, "")
	return &redoWorld{w, g, s3.NewFromConfig(w.AWS(), func(o *s3.Options) { o.UsePathStyle = true }), sfn.NewFromConfig(w.AWS()), sum.AnalysisID}
}

func (w *redoWorld) arn(machine, run string) string {
	arn, err := analysis.ExecutionARN(local.MachinePrefix+machine, run)
	if err != nil {
		w.t.Fatal(err)
	}
	return arn
}

// begin starts a backfill as an operator does in the console.
func (w *redoWorld) begin(run string, input map[string]any) string {
	w.t.Helper()
	return w.startOn(names.MachineBackfill, run, input)
}

// night starts the nightly job for a day. It names the day, as a test that runs
// soon after midnight would else ask for one that the job holds to be unfinished.
func (w *redoWorld) night(run string, day time.Time) string {
	w.t.Helper()
	return w.startOn(names.MachineNightly, run, map[string]any{"day": day.Format(time.DateOnly)})
}

func (w *redoWorld) startOn(machine, run string, input map[string]any) string {
	w.t.Helper()
	b, err := json.Marshal(input)
	if err != nil {
		w.t.Fatal(err)
	}
	_, err = w.sfn.StartExecution(w.t.Context(), &sfn.StartExecutionInput{StateMachineArn: aws.String(local.MachinePrefix + machine),
		Name: &run, Input: aws.String(string(b))})
	if err != nil {
		w.t.Fatal(err)
	}
	return w.arn(machine, run)
}

// ended waits for an execution's end.
func (w *redoWorld) ended(arn string) *sfn.DescribeExecutionOutput {
	w.t.Helper()
	var d *sfn.DescribeExecutionOutput
	eventually(w.t, 3*time.Minute, "the end of "+arn, func() bool {
		var err error
		if d, err = w.sfn.DescribeExecution(w.t.Context(), &sfn.DescribeExecutionInput{ExecutionArn: &arn}); err != nil {
			w.t.Fatal(err)
		}
		return d.Status != sfntypes.ExecutionStatusRunning
	})
	return d
}

// succeeds waits for an execution and wants the counts that its rows say.
func (w *redoWorld) succeeds(arn string, fresh, already int) {
	w.t.Helper()
	d := w.ended(arn)
	var out struct{ Tally, End names.BatchOut }
	if d.Output != nil {
		if err := json.Unmarshal([]byte(*d.Output), &out); err != nil {
			w.t.Fatal(err)
		}
	}
	if out.Tally.State == "" {
		out.Tally = out.End
	}
	if d.Status != sfntypes.ExecutionStatusSucceeded || out.Tally.New != fresh || out.Tally.Already != already {
		w.t.Errorf("%s: %s, %s: %s; new %d, already %d; want %d, %d", arn, d.Status, aws.ToString(d.Error), aws.ToString(d.Cause), out.Tally.New, out.Tally.Already, fresh, already)
	}
}

// refused wants an execution to fail under this error, with all parts in its cause.
func (w *redoWorld) refused(arn, name string, parts ...string) {
	w.t.Helper()
	d := w.ended(arn)
	ok := d.Status == sfntypes.ExecutionStatusFailed && aws.ToString(d.Error) == name
	for _, p := range parts {
		ok = ok && strings.Contains(aws.ToString(d.Cause), p)
	}
	if !ok {
		w.t.Errorf("%s: %s, %s: %s; want it to fail as %s and to say %q", arn, d.Status, aws.ToString(d.Error), aws.ToString(d.Cause), name, parts)
	}
}

func (w *redoWorld) object(key string) []byte {
	w.t.Helper()
	out, err := w.s3.GetObject(w.t.Context(), &s3.GetObjectInput{Bucket: aws.String(names.Bucket), Key: &key})
	if err != nil {
		w.t.Fatalf("read %s: %v", key, err)
	}
	defer out.Body.Close()
	b, err := io.ReadAll(out.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	return b
}

// calls counts the model calls of the analysis, by task.
func (w *redoWorld) calls() map[string]int {
	w.t.Helper()
	b, err := usage.Store{DB: w.db, Usage: names.Usage.Name, Prices: names.Prices.Name}.Bill(w.t.Context(), w.id, "")
	if err != nil {
		w.t.Fatal(err)
	}
	n := map[string]int{}
	for _, l := range b.Lines {
		n[l.Task]++
	}
	return n
}

// notices lists what the athlete was told, sorted.
func (w *redoWorld) notices() (out []string) {
	w.t.Helper()
	ns, err := outbox.List(w.t.Context(), w.db, names.Notices.Name, w.id)
	if err != nil {
		w.t.Fatal(err)
	}
	for _, n := range ns {
		out = append(out, n.Kind+" "+string(n.State))
	}
	slices.Sort(out)
	return out
}

// ask sends an operator's form to the function.
func (w *redoWorld) ask(form string) string {
	w.t.Helper()
	out, fnErr, err := w.Lambda().Invoke(w.t.Context(), names.FnOperator, []byte(form))
	if err != nil {
		w.t.Fatal(err)
	}
	return fnErr + string(out)
}

// pass makes what was claimed until some time to come have run out: a test does
// not wait for ten minutes.
func (w *redoWorld) pass(table string, key map[string]ddb.AttributeValue) {
	w.t.Helper()
	_, err := w.db.UpdateItem(w.t.Context(), &dynamodb.UpdateItemInput{TableName: &table, Key: key, UpdateExpression: aws.String("SET #u = :past"),
		ExpressionAttributeNames: map[string]string{"#u": "until"}, ExpressionAttributeValues: map[string]ddb.AttributeValue{":past": stamp.Value(time.Now().Add(-time.Hour))}})
	if err != nil {
		w.t.Fatal(err)
	}
}

func str(v string) ddb.AttributeValue { return &ddb.AttributeValueMemberS{Value: v} }

// body reports whether a request of a program's holds a text.
func body(caller, operation, text string) func(*endpoint.Request) bool {
	return func(q *endpoint.Request) bool {
		if q.Caller != caller || q.Operation != operation {
			return false
		}
		b, err := q.Body()
		return err == nil && bytes.Contains(b, []byte(text))
	}
}

// rendering catches a backfill that calls function render. The call is signed by
// us and names no program: a state machine's calls do not come this way.
func rendering(q *endpoint.Request) bool {
	return q.Service == endpoint.Lambda && strings.Contains(q.HTTP.URL.Path, "/functions/"+names.FnRender+"/")
}

// TestRedo delivers an analysis through the pipeline and redoes everything that
// can be redone, from StartExecution, with the real programs.
func TestRedo(t *testing.T) {
	w := newRedoWorld(t)
	before := w.row(w.id)
	delivered := sha256.Sum256(w.object(before.ReportPDF))
	w.tags()
	w.redriven()
	w.report()
	w.measure()
	after := w.row(w.id)
	if after.ReportPDF != before.ReportPDF || after.ReportJSON != before.ReportJSON || sha256.Sum256(w.object(before.ReportPDF)) != delivered {
		t.Error("the delivered report was replaced")
	}
	if !after.EndedAt.Equal(before.EndedAt) || after.EndedBy != before.EndedBy || after.Status != analysis.Ready {
		t.Errorf("the end was changed: %+v", after)
	}
	ledger, err := credit.Store{DB: w.db, Credits: names.Credits.Name, Effects: names.Effects.Name}.Read(t.Context(), before.AthleteID)
	if err != nil || len(ledger.Entries) != 2 {
		t.Errorf("ledger %+v, %v: want the grant and the reservation alone", ledger.Entries, err)
	}
}

// tags: a backfill holds the tags; every other door is shut and says why; the
// nightly job, started by its schedule, tags the day.
func (w *redoWorld) tags() {
	w.t.Helper()
	first := map[string]any{"effect": "tags", "version": "tags-2", "ids": []string{w.id}}
	seen := w.gate.hold(body(names.FnBackfill, "TransactWriteItems", names.Tags.Name))
	held := w.begin("tags-a", first)
	<-seen
	day := time.Now().UTC().AddDate(0, 0, -2)
	w.refused(w.night("night-a", day), "Held", "tags-a has the effect since 20", "until 20")
	w.refused(w.begin("tags-b", first), "Held", "tags-a has the effect since 20", "until 20")
	w.refused(w.begin("tags-c", map[string]any{"effect": "tags", "version": "tags-3", "ids": []string{w.id}}), "Held", "tags-a has")
	w.gate.release()
	w.succeeds(held, 1, 0)
	w.succeeds(w.begin("tags-d", first), 0, 1)

	w.endedOn(day)
	w.succeeds(w.night("night-b", day), 1, 0)
	w.succeeds(w.night("night-c", day), 0, 1)
	if c := w.calls(); c["tags@tags-2"] != 1 || c["tags@"+names.TagsVersion] != 1 {
		w.t.Errorf("model calls %v, want one of each version of the tags", c)
	}
}

// redriven: a run that was stopped goes on where it was, asked for twice; one that
// has ended does not.
func (w *redoWorld) redriven() {
	w.t.Helper()
	seen := w.gate.hold(body(names.FnBackfill, "TransactWriteItems", names.Tags.Name))
	arn := w.begin("tags-stopped", map[string]any{"effect": "tags", "version": "tags-9", "ids": []string{w.id}})
	<-seen
	if _, err := w.sfn.StopExecution(w.t.Context(), &sfn.StopExecutionInput{ExecutionArn: &arn}); err != nil {
		w.t.Fatal(err)
	}
	w.gate.release()
	form := `{"action":"redrive","operator":"ada","machine":"backfill","execution":"tags-stopped"}`
	if got := w.ask(form); !strings.Contains(got, `"redrives":1,"begun":true`) {
		w.t.Errorf("redrive of a stopped run: %s", got)
	}
	w.succeeds(arn, 1, 0)
	if got := w.ask(form); !strings.Contains(got, "has succeeded") {
		w.t.Errorf("redrive of a run that has ended: %s", got)
	}
	if got := w.ask(`{"action":"redrive","operator":"ada","machine":"analysis","execution":"` + w.id + `-1"}`); !strings.Contains(got, "has succeeded") {
		w.t.Errorf("redrive of a delivered analysis: %s", got)
	}
	if c := w.calls(); c["tags@tags-9"] != 1 {
		w.t.Errorf("model calls %v", c)
	}
}

// endedOn makes the analysis one of another day's.
func (w *redoWorld) endedOn(day time.Time) {
	w.t.Helper()
	_, err := w.db.UpdateItem(w.t.Context(), &dynamodb.UpdateItemInput{TableName: aws.String(names.Analyses.Name), Key: analysis.Key(w.id),
		UpdateExpression: aws.String("SET ended_day = :d"), ExpressionAttributeValues: map[string]ddb.AttributeValue{":d": str(day.Format(time.DateOnly))}})
	if err != nil {
		w.t.Fatal(err)
	}
}

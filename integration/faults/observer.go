package faults

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	ddb "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"fastbowlinglab/integration/virtual"
	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/notice"
	"fastbowlinglab/shared/posejob"
)

// Violation is a promise that did not hold.
type Violation struct {
	Invariant string // I1 to I9
	Detail    string
}

// observer looks at the tables after every write that was carried out, between
// two requests, so that nothing that stood for a moment escapes it.
type observer struct {
	mu       sync.Mutex
	found    []Violation
	rows     map[string]analysis.Row // as last seen
	items    map[string]map[string]ddb.AttributeValue
	closeBy  map[string]time.Time // deadline of an open row, as last seen
	jobs     map[string]posejob.Job
	saved    map[string]int64 // fence under which a checkpoint was first saved, by analysis, attempt and id
	mails    map[string]int   // by analysis and kind
	proceeds map[string]string
	owners   map[string]string // the worker that claimed, by analysis and fence
	healthy  func(worker string) bool
	wins     map[string][]names.EndOut // answers that said "won", by analysis
}

func newObserver() *observer {
	return &observer{rows: map[string]analysis.Row{}, items: map[string]map[string]ddb.AttributeValue{}, closeBy: map[string]time.Time{}, jobs: map[string]posejob.Job{},
		saved: map[string]int64{}, mails: map[string]int{}, proceeds: map[string]string{}, owners: map[string]string{}, wins: map[string][]names.EndOut{}}
}

// violation notes one; the caller holds the lock.
func (o *observer) violation(invariant, format string, args ...any) {
	v := Violation{invariant, fmt.Sprintf(format, args...)}
	if len(o.found) < 20 && !slices.Contains(o.found, v) {
		o.found = append(o.found, v)
	}
}

var analysisID = regexp.MustCompile(`"analysis_id":\{"S":"(an-[a-z2-7]{26})"\}`)

// observe implements virtual.Options.Observe.
func (o *observer) observe(c *virtual.Cloud, call virtual.Call) {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case call.Service == "ses":
		o.mail(call)
	case call.Service != "dynamodb" || !slices.Contains([]string{"PutItem", "UpdateItem", "DeleteItem", "TransactWriteItems"}, call.Op):
	default:
		o.written(c, call)
	}
}

func (o *observer) written(c *virtual.Cloud, call virtual.Call) {
	body := string(call.Body)
	on := func(t names.Table) bool { return strings.Contains(body, `"`+t.Name+`"`) }
	var ids []string
	for _, m := range analysisID.FindAllStringSubmatch(body, -1) {
		if !slices.Contains(ids, m[1]) {
			ids = append(ids, m[1])
		}
	}
	if on(names.Analyses) {
		for _, id := range ids {
			o.analysis(c, id)
		}
	}
	if on(names.Credits) {
		o.credits(c)
	}
	if on(names.PoseJobs) {
		for _, id := range ids {
			o.job(c, id, call)
		}
	}
}

// analysis looks at a row that may have changed: I1, and with the end I2 and I4.
func (o *observer) analysis(c *virtual.Cloud, id string) {
	item, err := item(c, names.Analyses, analysis.Key(id))
	if err != nil || item == nil {
		return // reserved by a transaction that was refused in part: nothing is there
	}
	r, err := analysis.Decode(item)
	if err != nil {
		o.violation("I9", "row of %s: %v", id, err)
		return
	}
	was, known := o.rows[id]
	stood := o.items[id]
	o.rows[id], o.items[id] = r, item
	if r.Open != "" {
		o.closeBy[id] = r.Deadline
	}
	if known && was.Status.Ended() {
		if !reflect.DeepEqual(item, stood) {
			o.violation("I1", "%s was %s %s by %s and is now %s %s by %s (%s)", id, was.Status, was.Reason, was.EndedBy, r.Status, r.Reason, r.EndedBy, changed(stood, item))
		}
		return
	}
	if !r.Status.Ended() {
		return
	}
	if _, exec, ok := strings.Cut(r.EndedBy, "#"); ok {
		if of, attempt, ok := analysis.ParseExecutionName(exec); ok && of == id && attempt != r.Attempt {
			o.violation("I1", "%s is at attempt %d and was ended by %s", id, r.Attempt, r.EndedBy)
		}
	}
	l, err := ledger(c)
	if err != nil {
		return
	}
	if n := l.charge(id); n != want(r.Status) {
		o.violation("I2", "%s became %s and is charged %d credits at that moment, want %d", id, r.Status, n, want(r.Status))
	}
	ns, err := notices(c, id)
	if err == nil && len(ns) != 1 {
		o.violation("I4", "%s became %s with %d notices in the outbox, want 1", id, r.Status, len(ns))
	}
}

// changed lists the attributes that differ.
func changed(was, is map[string]ddb.AttributeValue) string {
	var out []string
	for k := range was {
		if !reflect.DeepEqual(was[k], is[k]) {
			out = append(out, k)
		}
	}
	for k := range is {
		if _, ok := was[k]; !ok {
			out = append(out, k)
		}
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

// want is what an end costs.
func want(s analysis.Status) int64 {
	if s == analysis.Ready {
		return 1
	}
	return 0
}

// credits looks at the ledger after it changed: I3.
func (o *observer) credits(c *virtual.Cloud) {
	l, err := ledger(c)
	if err != nil {
		return
	}
	if l.balance < 0 {
		o.violation("I3", "balance %d", l.balance)
	}
	if l.sum != l.balance {
		o.violation("I3", "balance %d, entries add up to %d", l.balance, l.sum)
	}
	for id, n := range l.refunds {
		if n > 1 {
			o.violation("I3", "%d refunds of %s", n, id)
		}
	}
	for id, n := range l.reserves {
		if n > 1 {
			o.violation("I3", "%d reservations of %s", n, id)
		}
	}
}

// job looks at a pose job after a write: I6, and the resuming of I5.
func (o *observer) job(c *virtual.Cloud, id string, call virtual.Call) {
	item, err := item(c, names.PoseJobs, analysis.Key(id))
	if err != nil || item == nil {
		return
	}
	var j posejob.Job
	if err := attributevalue.UnmarshalMap(item, &j); err != nil {
		o.violation("I9", "pose job of %s: %v", id, err)
		return
	}
	was := o.jobs[id]
	o.jobs[id] = j
	if j.Fence < was.Fence {
		o.violation("I6", "fence of %s went from %d to %d", id, was.Fence, j.Fence)
	}
	if j.State == posejob.Claimed && was.State == posejob.Claimed && j.Fence == was.Fence && j.Owner != was.Owner {
		o.violation("I6", "fence %d of %s was given to two owners", j.Fence, id)
	}
	// A lease's end is by its owner's clock, which may be behind the true time.
	if j.Fence > was.Fence && was.State == posejob.Claimed && was.Attempt == j.Attempt && time.Now().Before(was.Until.Add(-names.ClockSkew/2)) {
		o.violation("I6", "%s was claimed under fence %d while fence %d held until %s", id, j.Fence, was.Fence, was.Until)
	}
	if j.Fence > was.Fence {
		before := o.owners[fmt.Sprint(id, was.Fence)]
		if was.State == posejob.Claimed && was.Attempt == j.Attempt && o.healthy(before) {
			o.violation("I6", "%s was taken over from %s, which lives and was never stopped", id, before)
		}
		o.owners[fmt.Sprint(id, j.Fence)] = call.Actor
	}
	if call.Op == "UpdateItem" {
		if f, ok := fenceOf(call.Original); ok && f != j.Fence {
			o.violation("I6", "a write under fence %d reached the job of %s, which is at fence %d", f, id, j.Fence)
		}
	}
	for ck, cp := range j.Checkpoints {
		key := fmt.Sprintf("%s/%d/%s", id, j.Attempt, ck)
		first, known := o.saved[key]
		if !known {
			o.saved[key] = j.Fence
			continue
		}
		if was, ok := was.Checkpoints[ck]; ok && was.Key != cp.Key {
			o.violation("I5", "chunk %s, saved under fence %d, was computed again under fence %d: the pass did not resume", key, first, j.Fence)
		}
	}
}

func fenceOf(body []byte) (int64, bool) {
	var in struct {
		ExpressionAttributeValues map[string]struct{ N string }
	}
	if json.Unmarshal(body, &in) != nil {
		return 0, false
	}
	f, err := strconv.ParseInt(in.ExpressionAttributeValues[":fence"].N, 10, 64)
	return f, err == nil
}

// mail looks at a mail that left: I4.
func (o *observer) mail(call virtual.Call) {
	var in struct {
		EmailTags []struct{ Name, Value string }
	}
	if err := json.Unmarshal(call.Body, &in); err != nil || len(in.EmailTags) != 2 {
		o.violation("I4", "a mail without its tags: %v", err)
		return
	}
	tag := map[string]string{}
	for _, t := range in.EmailTags {
		tag[t.Name] = t.Value
	}
	id, kind := tag["analysis_id"], tag["kind"]
	if r := o.rows[id]; string(r.Status) != kind {
		o.violation("I4", "a mail says %s of %s, which is %s", kind, id, r.Status)
	}
	key := id + "/" + kind
	if o.mails[key]++; o.mails[key] > 1 {
		o.violation("I4", "%d mails say %s of %s", o.mails[key], kind, id)
	}
}

// answered implements virtual.Options.Answered: what functions claimed.
func (o *observer) answered(fn string, in, out []byte, fail string) {
	if fail != "" {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	switch fn {
	case names.FnBegin:
		var req names.BeginIn
		var ans names.BeginOut
		if json.Unmarshal(in, &req) == nil && json.Unmarshal(out, &ans) == nil && ans.Proceed {
			key := analysis.ExecutionName(req.AnalysisID, req.Attempt)
			if was := o.proceeds[key]; was != "" && was != req.Execution {
				o.violation("I1", "two executions go on with %s: %s and %s", key, was, req.Execution)
			}
			o.proceeds[key] = req.Execution
		}
	case names.FnDeliver, names.FnReject, names.FnSettle:
		var id struct {
			AnalysisID string `json:"analysis_id"`
			Detail     struct{ Name string }
		}
		var ans names.EndOut
		if json.Unmarshal(in, &id) == nil && json.Unmarshal(out, &ans) == nil && ans.Won {
			if id.AnalysisID == "" {
				id.AnalysisID, _, _ = analysis.ParseExecutionName(id.Detail.Name)
			}
			o.wins[id.AnalysisID] = append(o.wins[id.AnalysisID], ans)
		}
	}
}

// open reports whether some analysis has no end yet.
func (o *observer) open() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, r := range o.rows {
		if !r.Status.Ended() {
			return true
		}
	}
	return false
}

// row gives an analysis as last seen.
func (o *observer) row(id string) analysis.Row {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.rows[id]
}

func item(c *virtual.Cloud, t names.Table, key map[string]ddb.AttributeValue) (map[string]ddb.AttributeValue, error) {
	out, err := c.Direct.GetItem(context.Background(), &dynamodb.GetItemInput{
		TableName: aws.String(t.Name), Key: key, ConsistentRead: aws.Bool(true)})
	if err != nil {
		return nil, fmt.Errorf("observe: %w", err)
	}
	return out.Item, nil
}

// items reads all items of a partition.
func items(c *virtual.Cloud, t names.Table, partition string) ([]map[string]ddb.AttributeValue, error) {
	out, err := c.Direct.Query(context.Background(), &dynamodb.QueryInput{
		TableName: aws.String(t.Name), KeyConditionExpression: aws.String(t.PartitionKey + " = :k"), ConsistentRead: aws.Bool(true),
		ExpressionAttributeValues: map[string]ddb.AttributeValue{":k": &ddb.AttributeValueMemberS{Value: partition}}})
	if err != nil {
		return nil, fmt.Errorf("observe: %w", err)
	}
	return out.Items, nil
}

func notices(c *virtual.Cloud, id string) ([]notice.Notice, error) {
	all, err := items(c, names.Notices, id)
	if err != nil {
		return nil, err
	}
	var out []notice.Notice
	for _, it := range all {
		n, err := notice.Decode(it)
		if err != nil {
			return nil, err
		}
		out = append(out, n)
	}
	return out, nil
}

// books are the ledger as the checker reads it, by itself and not through
// package credit.
type books struct {
	balance, sum      int64
	refunds, reserves map[string]int
	net               map[string]int64 // by analysis
}

// charge is what an analysis costs by its entries.
func (b books) charge(id string) int64 { return -b.net[id] }

func ledger(c *virtual.Cloud) (books, error) {
	b := books{refunds: map[string]int{}, reserves: map[string]int{}, net: map[string]int64{}}
	all, err := items(c, names.Credits, virtual.Athlete)
	if err != nil {
		return b, err
	}
	for _, it := range all {
		var e struct {
			Entry      string `dynamodbav:"entry"`
			Kind       string `dynamodbav:"kind"`
			Credits    int64  `dynamodbav:"credits"`
			Balance    int64  `dynamodbav:"balance"`
			AnalysisID string `dynamodbav:"analysis_id"`
		}
		if err := attributevalue.UnmarshalMap(it, &e); err != nil {
			return b, err
		}
		if e.Entry == "balance" {
			b.balance = e.Balance
			continue
		}
		b.sum += e.Credits
		b.net[e.AnalysisID] += e.Credits
		switch e.Kind {
		case "refund":
			b.refunds[e.AnalysisID]++
		case "reserve":
			b.reserves[e.AnalysisID]++
		}
	}
	return b, nil
}

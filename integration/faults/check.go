package faults

import (
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	ddb "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"fastbowlinglab/integration/stepfn"
	"fastbowlinglab/integration/virtual"
	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/notice"
)

// Slack of the deadlines of I8: the reconciler comes every five minutes, after
// three hours of a virtual run every hour, and its first tries may be cut.
const deadlineSlack = 3 * time.Hour

// check looks at what a run has left, when everything has stopped.
func (o *observer) check(c *virtual.Cloud, planted map[string]bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.credits(c)
	for id, r := range o.rows {
		o.ended(c, id, r)
	}
	o.calls(c)
	o.executions(c, planted)
}

// ended checks one analysis: I2, I4, I8, I9.
func (o *observer) ended(c *virtual.Cloud, id string, r analysis.Row) {
	if !r.Status.Ended() {
		o.violation("I8", "%s is still %s, its deadline was %s", id, r.Status, o.closeBy[id])
		return
	}
	if by := o.closeBy[id].Add(deadlineSlack); r.EndedAt.After(by) {
		o.violation("I8", "%s ended at %s, its deadline was %s", id, r.EndedAt, o.closeBy[id])
	}
	if l, err := ledger(c); err != nil {
		o.violation("I9", "%v", err)
	} else if n := l.charge(id); n != want(r.Status) {
		o.violation("I2", "%s is %s and costs %d credits, want %d", id, r.Status, n, want(r.Status))
	}
	ns, err := notices(c, id)
	if err != nil || len(ns) != 1 {
		o.violation("I4", "%s has %d notices (%v), want 1", id, len(ns), err)
		return
	}
	n, mails := ns[0], o.mails[id+"/"+string(r.Status)]
	switch {
	case n.Kind != string(r.Status):
		o.violation("I4", "%s is %s, its notice says %s", id, r.Status, n.Kind)
	case n.State == notice.Sent && mails != 1, n.State == notice.Refused && mails != 0, n.State == notice.Unknown && mails > 1:
		o.violation("I4", "notice of %s is %s, %d mails left", id, n.State, mails)
	case n.State == notice.Owed || n.State == notice.Claimed:
		o.violation("I4", "notice of %s is still %s, in spite of the sweep", id, n.State)
	}
	for _, w := range o.wins[id] {
		if w.Status != string(r.Status) {
			o.violation("I9", "a function said that it had ended %s as %s; it is %s", id, w.Status, r.Status)
		}
	}
	if r.Status == analysis.Ready && r.ReportPDF == "" {
		o.violation("I9", "%s is ready without a report", id)
	}
}

// calls checks the bill of the paid model: I5.
func (o *observer) calls(c *virtual.Cloud) {
	byKey, byClaim := map[string]int{}, map[string]int{}
	for _, m := range c.ModelCalls() {
		byKey[m.Key]++
		claim := fmt.Sprintf("%s under claim %d", m.Key, m.Fence)
		if byClaim[claim]++; byClaim[claim] > 1 {
			o.violation("I5", "%d calls for %s", byClaim[claim], claim)
		}
	}
	for _, key := range c.CalledTwiceAtOnce() {
		o.violation("I5", "two calls for %s at one time", key)
	}
	counted := map[string]int{}
	for id := range o.rows {
		rows, err := items(c, names.Usage, id)
		if err != nil {
			o.violation("I9", "%v", err)
			return
		}
		for _, it := range rows {
			var u struct {
				Task string `dynamodbav:"task"`
			}
			if attributevalue.UnmarshalMap(it, &u) == nil {
				counted["model#"+id+"#"+u.Task]++
			}
		}
	}
	for key, n := range byKey {
		var e struct {
			State     string `dynamodbav:"state"`
			Takeovers int    `dynamodbav:"takeovers"`
		}
		it, err := item(c, names.Effects, map[string]ddb.AttributeValue{"effect": &ddb.AttributeValueMemberS{Value: key}})
		if err != nil || attributevalue.UnmarshalMap(it, &e) != nil {
			o.violation("I9", "effect %s: %v", key, err)
			continue
		}
		if n > 1+e.Takeovers || e.Takeovers > 1 {
			o.violation("I5", "%d calls for %s after %d takeovers", n, key, e.Takeovers)
		}
		if counted[key] < n {
			o.violation("I5", "%d calls for %s, %d counted", n, key, counted[key])
		}
	}
}

// executions checks that nobody but the schedule itself started a second
// execution of an attempt.
func (o *observer) executions(c *virtual.Cloud, planted map[string]bool) {
	seen := map[string]string{}
	token := ""
	for {
		out, err := c.Engine.ListExecutions(stepfn.ListExecutionsInput{StateMachineARN: c.Machine, NextToken: token})
		if err != nil {
			o.violation("I9", "list executions: %v", err)
			return
		}
		for _, x := range out.Executions {
			if planted[x.Name] {
				continue
			}
			d, err := c.Engine.DescribeExecution(stepfn.DescribeExecutionInput{ExecutionARN: x.ExecutionARN})
			if err != nil {
				o.violation("I9", "describe %s: %v", x.Name, err)
				return
			}
			input := d.Input
			if was := seen[input]; was != "" {
				o.violation("I1", "two executions were started for %s: %s and %s", input, was, x.Name)
			}
			seen[input] = x.Name
		}
		if token = out.NextToken; token == "" {
			return
		}
	}
}

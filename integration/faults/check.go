package faults

import (
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"

	"fastbowlinglab/integration/promises"
	"fastbowlinglab/integration/stepfn"
	"fastbowlinglab/integration/virtual"
	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/names"
)

// Slack of the deadlines of I8: the reconciler comes every five minutes, after
// three hours of a virtual run every hour, and faults may cut some of its rounds one
// after the other: three of them, in one of 2,660 schedules.
const deadlineSlack = 6 * time.Hour

// check looks at what a run has left, when everything has stopped.
func (o *observer) check(c *virtual.Cloud, planted map[string]bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.credits(c)
	for id, r := range o.rows {
		o.ended(c, id, r)
	}
	o.calls(c, c.ModelCalls(), c.CalledTwiceAtOnce())
	o.spaced(c.Departures())
	o.executions(c, planted)
}

// ended checks one analysis: I2, I4, I8, I9.
func (o *observer) ended(c *virtual.Cloud, id string, r analysis.Row) {
	l, err := ledger(c)
	if err != nil {
		o.violation("I9", "%v", err)
		return
	}
	ns, err := notices(c, id)
	if err != nil {
		o.violation("I9", "%v", err)
		return
	}
	r.AnalysisID = id
	promises.Left{Row: o.toTell(r), CloseBy: o.closeBy[id].Add(deadlineSlack), Ledger: l, Notices: ns,
		Left: func(notice string) int { return o.sent[id+"/"+notice] }, Chose: o.chose, Wins: o.wins[id]}.Check(o.violation)
}

// calls checks the bill of the paid model, and the effects that two living processes
// waited for at once: I5.
func (o *observer) calls(c *virtual.Cloud, made []virtual.ModelCall, twice []string) {
	byKey := map[string]map[int64]int{} // and by claim
	for _, m := range made {
		if byKey[m.Key] == nil {
			byKey[m.Key] = map[int64]int{}
		}
		if byKey[m.Key][m.Fence]++; byKey[m.Key][m.Fence] > 1 {
			o.violation("I5", "%d calls for %s under claim %d", byKey[m.Key][m.Fence], m.Key, m.Fence)
		}
	}
	for _, key := range twice {
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
	for key := range byKey {
		if o.effects[key] == nil {
			o.violation("I5", "a call for %s, which nobody claimed", key)
		}
	}
	for key, e := range o.effects {
		b := o.settle(key, e, byKey[key])
		o.bills[key] = b
		promises.Paid{Key: key, Sent: b.calls, Takeovers: e.Takeovers, Counted: counted[key]}.Check(o.violation)
	}
}

// executions checks that nobody but the schedule itself started a second
// execution of an attempt.
func (o *observer) executions(c *virtual.Cloud, planted map[string]bool) {
	var all []promises.Execution
	token := ""
	for {
		out, err := c.Engine.ListExecutions(stepfn.ListExecutionsInput{StateMachineARN: c.Machine, NextToken: token})
		if err != nil {
			o.violation("I9", "list executions: %v", err)
			return
		}
		for _, x := range out.Executions {
			d, err := c.Engine.DescribeExecution(stepfn.DescribeExecutionInput{ExecutionARN: x.ExecutionARN})
			if err != nil {
				o.violation("I9", "describe %s: %v", x.Name, err)
				return
			}
			all = append(all, promises.Execution{Name: x.Name, Input: d.Input})
		}
		if token = out.NextToken; token == "" {
			break
		}
	}
	promises.OneEach(all, func(name string) bool { return planted[name] }, o.violation)
}

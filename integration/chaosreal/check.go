package chaosreal

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	ddb "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"fastbowlinglab/functions/audit"
	"fastbowlinglab/integration/promises"
	"fastbowlinglab/integration/stepfn"
	"fastbowlinglab/shared/aitask"
	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/notice"
	"fastbowlinglab/shared/posejob"
)

// settling is how long notices have to leave when no fault happens any more.
const settling = 2 * time.Minute

// check looks at what the campaign has left.
func (c *campaign) check(ctx context.Context, all []*schedule) error {
	if err := c.settle(ctx, all); err != nil {
		return err
	}
	mails, err := c.cloud.Mails(ctx)
	if err != nil {
		return err
	}
	to := map[string]int{}
	for _, m := range mails {
		for _, address := range m.To {
			to[address]++
		}
	}
	runs, wins, err := c.executions()
	if err != nil {
		return err
	}
	counted := 0
	for _, s := range all {
		if s.id == "" {
			continue // it said why
		}
		n, err := c.one(ctx, s, to[s.email()], runs[s.id], wins[s.id])
		if err != nil {
			return err
		}
		counted += n
	}
	if sent := c.sent(); sent > counted {
		c.violation(c.cfg.Seed)("I5", "the model took %d calls and %d are counted", sent, counted)
	}
	return c.audit(ctx)
}

// settle waits until every notice has left or cannot, with the sweep's help.
func (c *campaign) settle(ctx context.Context, all []*schedule) error {
	for end := time.Now().Add(settling); time.Now().Before(end); {
		owed := 0
		for _, s := range all {
			ns, err := c.notices(ctx, s.id)
			if err != nil {
				return err
			}
			for _, n := range ns {
				if n.State == notice.Owed || n.State == notice.Claimed {
					owed++
				}
			}
		}
		if owed == 0 {
			return nil
		}
		if err := sleep(ctx, 2*time.Second); err != nil {
			return err
		}
	}
	return nil // what is still owed is found below
}

// one checks one analysis, and gives the number of its counted calls.
func (c *campaign) one(ctx context.Context, s *schedule, mails int, runs []promises.Execution, wins []names.EndOut) (int, error) {
	found := c.violation(s.plan.seed)
	item, err := c.item(ctx, names.Analyses, analysis.Key(s.id))
	if err != nil {
		return 0, err
	}
	row, err := analysis.Decode(item)
	if err != nil {
		return 0, fmt.Errorf("row of %s: %w", s.id, err)
	}
	if s.item != nil && !reflect.DeepEqual(item, s.item) {
		found("I1", "%s was %s by %s and is now %s by %s", s.id, s.row.Status, s.row.EndedBy, row.Status, row.EndedBy)
	}
	entries, err := c.items(ctx, names.Credits, s.athlete())
	if err != nil {
		return 0, err
	}
	ledger, err := promises.ReadLedger(entries)
	if err != nil {
		return 0, err
	}
	ledger.Check(found)
	ns, err := c.notices(ctx, s.id)
	if err != nil {
		return 0, err
	}
	promises.Left{Row: row, CloseBy: s.began.Add(limit), Ledger: ledger, Notices: ns, Mails: mails, Wins: wins}.Check(found)
	promises.OneEach(runs, func(name string) bool { return strings.HasPrefix(name, foreignPrefix) }, found)
	c.executed += len(runs)
	if err := c.resumed(ctx, s, found); err != nil {
		return 0, err
	}
	return c.billed(ctx, s)
}

// sent counts the calls that the model took; one that it throttled is none, and is
// repeated within its claim.
func (c *campaign) sent() (n int) {
	for _, call := range c.models.Calls() {
		if call.Status != http.StatusTooManyRequests {
			n++
		}
	}
	return n
}

// billed counts the rows of the bill of one analysis for calls of the paid model.
// That each task has no more of them than claims is the audit's to say.
func (c *campaign) billed(ctx context.Context, s *schedule) (n int, err error) {
	rows, err := c.items(ctx, names.Usage, s.id)
	if err != nil {
		return 0, err
	}
	for _, it := range rows {
		var u struct {
			Provider string `dynamodbav:"provider"`
		}
		if err := attributevalue.UnmarshalMap(it, &u); err != nil {
			return 0, fmt.Errorf("bill of %s: %w", s.id, err)
		}
		if u.Provider == aitask.BedrockProvider {
			n++
		}
	}
	return n, nil
}

// resumed checks that a pass went on where it was: at most one chunk is done
// again for each claim after the first.
func (c *campaign) resumed(ctx context.Context, s *schedule, found promises.Found) error {
	it, err := c.item(ctx, names.PoseJobs, analysis.Key(s.id))
	if err != nil || it == nil {
		return err
	}
	var j posejob.Job
	if err := attributevalue.UnmarshalMap(it, &j); err != nil {
		return fmt.Errorf("pose job of %s: %w", s.id, err)
	}
	if int64(j.Redone) > max(j.Fence-1, 0) {
		found("I5", "%d chunks of %s were done again under %d claims", j.Redone, s.id, j.Fence)
	}
	return nil
}

// executions lists the executions of each analysis, and the ends that their
// functions said they had written.
func (c *campaign) executions() (runs map[string][]promises.Execution, wins map[string][]names.EndOut, err error) {
	runs, wins = map[string][]promises.Execution{}, map[string][]names.EndOut{}
	in := stepfn.ListExecutionsInput{StateMachineARN: machineARN}
	for {
		page, err := c.cloud.States().ListExecutions(in)
		if err != nil {
			return nil, nil, err
		}
		for _, x := range page.Executions {
			d, err := c.cloud.States().DescribeExecution(stepfn.DescribeExecutionInput{ExecutionARN: x.ExecutionARN})
			if err != nil {
				return nil, nil, err
			}
			id := analysisID.FindString(d.Input)
			runs[id] = append(runs[id], promises.Execution{Name: x.Name, Input: d.Input})
			won, err := c.won(x.ExecutionARN)
			if err != nil {
				return nil, nil, err
			}
			wins[id] = append(wins[id], won...)
		}
		if in.NextToken = page.NextToken; in.NextToken == "" {
			return runs, wins, nil
		}
	}
}

// won reads the answers of an execution's functions that said "won".
func (c *campaign) won(arn string) (out []names.EndOut, err error) {
	h, err := c.cloud.States().GetExecutionHistory(stepfn.GetExecutionHistoryInput{ExecutionARN: arn, MaxResults: 1000})
	if err != nil {
		return nil, err
	}
	for _, ev := range h.Events {
		if ev.TaskSucceeded == nil || ev.TaskSucceeded.Output == nil {
			continue
		}
		var res struct{ Payload names.EndOut }
		if json.Unmarshal([]byte(*ev.TaskSucceeded.Output), &res) == nil && res.Payload.Won {
			out = append(out, res.Payload)
		}
	}
	return out, nil
}

// audit lets the audit function look at the tables: it must find nothing.
func (c *campaign) audit(ctx context.Context) error {
	b, err := c.cloud.Tick(ctx, names.FnAudit)
	if err != nil {
		return err
	}
	var out audit.Out
	if err := json.Unmarshal(b, &out); err != nil {
		return fmt.Errorf("the audit's answer: %w", err)
	}
	if out.Total == 0 && !out.Partial {
		return nil
	}
	rep, err := c.report(ctx, out.Key)
	if err != nil {
		return err
	}
	for _, f := range rep.Findings {
		c.violation(c.seedOf(f.Subject))(f.Invariant, "the audit: %s %s", f.Subject, f.What)
	}
	if out.Partial {
		c.violation(c.cfg.Seed)("I9", "the audit did not get through")
	}
	return nil
}

// seedOf finds the schedule of an analysis or athlete.
func (c *campaign) seedOf(subject string) uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	for id, s := range c.byID {
		if strings.Contains(subject, id) || subject == s.athlete() {
			return s.plan.seed
		}
	}
	return c.cfg.Seed
}

func (c *campaign) notices(ctx context.Context, id string) ([]notice.Notice, error) {
	if id == "" {
		return nil, nil
	}
	all, err := c.items(ctx, names.Notices, id)
	if err != nil {
		return nil, err
	}
	return promises.ReadNotices(all)
}

func (c *campaign) item(ctx context.Context, t names.Table, key map[string]ddb.AttributeValue) (map[string]ddb.AttributeValue, error) {
	out, err := c.db.GetItem(ctx, &dynamodb.GetItemInput{TableName: &t.Name, Key: key, ConsistentRead: aws.Bool(true)})
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", t.Name, err)
	}
	return out.Item, nil
}

// items reads all items of a partition.
func (c *campaign) items(ctx context.Context, t names.Table, partition string) (out []map[string]ddb.AttributeValue, err error) {
	in := &dynamodb.QueryInput{TableName: &t.Name, KeyConditionExpression: aws.String(t.PartitionKey + " = :k"), ConsistentRead: aws.Bool(true),
		ExpressionAttributeValues: map[string]ddb.AttributeValue{":k": &ddb.AttributeValueMemberS{Value: partition}}}
	for pages := dynamodb.NewQueryPaginator(c.db, in); pages.HasMorePages(); {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", t.Name, err)
		}
		out = slices.Concat(out, page.Items)
	}
	return out, nil
}

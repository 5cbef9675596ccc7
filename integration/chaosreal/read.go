package chaosreal

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	ddb "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"fastbowlinglab/integration/promises"
	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/outbox"
	"fastbowlinglab/shared/posejob"
	"fastbowlinglab/shared/retry"
)

// settling is how long notices have to leave, and workers to let go, when no fault
// happens any more: longer than a dead worker's lease and the skew.
const settling = 2 * time.Minute

// settle waits until every notice has left or cannot, with the sweep's help, and
// until nobody holds a pose job.
func (c *campaign) settle(ctx context.Context, all []*schedule) error {
	for end := time.Now().Add(settling); time.Now().Before(end); {
		busy := 0
		for _, s := range all {
			ns, err := c.notices(ctx, s.id)
			if err != nil {
				return err
			}
			for _, n := range ns {
				if n.State == outbox.Owed || n.State == outbox.Claimed {
					busy++
				}
			}
			j, err := c.job(ctx, s.id)
			if err != nil {
				return err
			}
			if j != nil && j.Live(time.Now(), names.ClockSkew) {
				busy++
			}
		}
		if busy == 0 {
			return nil
		}
		if err := retry.Sleep(ctx, 2*time.Second); err != nil {
			return err
		}
	}
	return nil // what is still there is found by the check
}

// remains reads what the campaign has left.
func (c *campaign) remains(ctx context.Context, all []*schedule) (r remains, err error) {
	if err := c.settle(ctx, all); err != nil {
		return r, err
	}
	r.seed, r.sent = c.cfg.Seed, c.sent()
	mails, err := c.cloud.Mails(ctx)
	if err != nil {
		return r, err
	}
	for _, m := range mails {
		for _, address := range m.To {
			r.mails = append(r.mails, mail{address, m.Subject, m.Text})
		}
	}
	if r.analyses, err = c.ids(ctx, names.Analyses); err != nil {
		return r, err
	}
	if r.told, err = c.ids(ctx, names.Notices); err != nil {
		return r, err
	}
	runs, wins, err := c.executions()
	if err != nil {
		return r, err
	}
	r.started = slices.Sorted(maps.Keys(runs))
	for _, s := range all {
		if s.id == "" {
			continue // it said why
		}
		l, err := c.left(ctx, s)
		if err != nil {
			return r, err
		}
		l.runs, l.wins = runs[s.id], wins[s.id]
		r.each = append(r.each, l)
	}
	r.now = time.Now()
	r.audit, err = c.audit(ctx)
	return r, err
}

// left reads the rows of one schedule.
func (c *campaign) left(ctx context.Context, s *schedule) (l left, err error) {
	l = left{seed: s.plan.seed, id: s.id, athlete: s.athlete(), email: s.email(), closeBy: s.began.Add(limit), first: s.item}
	if l.item, err = c.item(ctx, names.Analyses, analysis.Key(s.id)); err != nil {
		return l, err
	}
	if l.entries, err = c.items(ctx, names.Credits, s.athlete()); err != nil {
		return l, err
	}
	if l.notices, err = c.notices(ctx, s.id); err != nil {
		return l, err
	}
	if l.job, err = c.job(ctx, s.id); err != nil {
		return l, err
	}
	bill, err := c.items(ctx, names.Usage, s.id)
	if err != nil {
		return l, err
	}
	if err := attributevalue.UnmarshalListOfMaps(bill, &l.bill); err != nil {
		return l, fmt.Errorf("bill of %s: %w", s.id, err)
	}
	return l, nil
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

// job reads the pose job of an analysis; nil when there is none.
func (c *campaign) job(ctx context.Context, id string) (*posejob.Job, error) {
	if id == "" {
		return nil, nil
	}
	it, err := c.item(ctx, names.PoseJobs, analysis.Key(id))
	if err != nil || it == nil {
		return nil, err
	}
	var j posejob.Job
	if err := attributevalue.UnmarshalMap(it, &j); err != nil {
		return nil, fmt.Errorf("pose job of %s: %w", id, err)
	}
	return &j, nil
}

func (c *campaign) notices(ctx context.Context, id string) ([]outbox.Notice, error) {
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

// ids lists the analyses that a table has rows of.
func (c *campaign) ids(ctx context.Context, t names.Table) ([]string, error) {
	seen := map[string]bool{}
	for pages := dynamodb.NewScanPaginator(c.db, &dynamodb.ScanInput{TableName: &t.Name, ConsistentRead: aws.Bool(true)}); pages.HasMorePages(); {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, fmt.Errorf("scan %s: %w", t.Name, err)
		}
		for _, it := range page.Items {
			if id, ok := it["analysis_id"].(*ddb.AttributeValueMemberS); ok {
				seen[id.Value] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(seen)), nil
}

package chaosreal

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"fastbowlinglab/functions/audit"
	"fastbowlinglab/integration/local"
	"fastbowlinglab/shared/names"
)

const machineARN = local.StateMachineARN

// audit lets the audit function look at the tables, again where a fault of the
// campaign met it, as the schedule that starts it does.
func (c *campaign) audit(ctx context.Context) (rep audit.Report, err error) {
	var b []byte
	for range audits {
		if b, err = c.cloud.Tick(ctx, names.FnAudit); err == nil {
			break
		}
	}
	if err != nil {
		return rep, err
	}
	var out audit.Out
	if err := json.Unmarshal(b, &out); err != nil {
		return rep, fmt.Errorf("the audit's answer: %w", err)
	}
	return c.report(ctx, out.Key)
}

// audits is how often the audit is started at most.
const audits = 5

// report reads a report of the audit.
func (c *campaign) report(ctx context.Context, key string) (rep audit.Report, err error) {
	objects := s3.NewFromConfig(c.cloud.AWS(), func(o *s3.Options) { o.UsePathStyle = true })
	out, err := objects.GetObject(ctx, &s3.GetObjectInput{Bucket: aws.String(names.Bucket), Key: &key})
	if err != nil {
		return rep, fmt.Errorf("the audit's report: %w", err)
	}
	defer func() { _ = out.Body.Close() }() // read to its end
	if err := json.NewDecoder(out.Body).Decode(&rep); err != nil {
		return rep, fmt.Errorf("the audit's report: %w", err)
	}
	return rep, nil
}

package nightly

import (
	"context"
	"fmt"
	"time"

	ddb "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"fastbowlinglab/shared/batchrun"
	"fastbowlinglab/shared/fault"
	"fastbowlinglab/shared/metric"
	"fastbowlinglab/shared/stamp"
	"fastbowlinglab/shared/tags"
	"fastbowlinglab/shared/txn"
)

// Failed is an analysis that cannot be tagged in a version, and why.
type Failed struct {
	Day        string     `dynamodbav:"day"`
	Item       string     `dynamodbav:"item"`
	AnalysisID string     `dynamodbav:"analysis_id"`
	Version    string     `dynamodbav:"tags_version"`
	Error      fault.Name `dynamodbav:"error"`
	Detail     string     `dynamodbav:"detail"`
	By         string     `dynamodbav:"by_run"`
	At         time.Time  `dynamodbav:"written_at"`
}

// Fail records, under the run's guards, that an analysis cannot be tagged. It is
// counted for the alarm when it is first recorded; one that is recorded stays as
// it is. Errors: fault.Conceded.
func (s Rows) Fail(ctx context.Context, r batchrun.Run, day, id, version string, why error) error {
	f := Failed{Day: day, Item: tags.PartFailed + id + "#" + version, AnalysisID: id, Version: version, Error: fault.NameOf(why),
		Detail: batchrun.Detail(why), By: r.ID, At: s.now().UTC().Truncate(time.Millisecond)}
	item, err := stamp.MarshalMap(f)
	if err != nil {
		return fault.Wrap(fault.Permanent, err, "encode the failure of %s", id)
	}
	cond := "attribute_not_exists(written_at)"
	err = txn.Write(ctx, s.DB, s.Retry, append([]ddb.TransactWriteItem{{Put: &ddb.Put{TableName: &s.Table, Item: item, ConditionExpression: &cond}}},
		s.Runs.Guards(r)...))
	if _, there := txn.Guard(err); there {
		return nil
	}
	if gone := batchrun.Refused(err, r, 1); gone != nil {
		return gone
	}
	if err != nil {
		return fmt.Errorf("record that %s cannot be tagged: %w", id, err)
	}
	metric.Count(ctx, metric.TagsFailed, 1, "day", day, "analysis_id", id, "version", version, "error", string(f.Error), "detail", f.Detail)
	return nil
}

// Failures reads what cannot be tagged of a day in a version, by analysis: the run
// that found it is its By.
func (s Rows) Failures(ctx context.Context, day, version string) (map[string]Row, error) {
	return s.read(ctx, day, tags.PartFailed, version)
}

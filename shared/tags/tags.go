// Package tags holds the rows that the nightly job and backfills keep of an
// analysis that was delivered: how they look, and reading those of one analysis.
// Package nightly writes them.
package tags

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	ddb "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"fastbowlinglab/shared/paging"
	"fastbowlinglab/shared/retry"
)

// Row is an analysis's tags in one version.
type Row struct {
	Day        string    `dynamodbav:"day"`
	Item       string    `dynamodbav:"item"`
	AnalysisID string    `dynamodbav:"analysis_id"`
	Version    string    `dynamodbav:"tags_version"`
	ActionType string    `dynamodbav:"action_type"`
	Arm        string    `dynamodbav:"arm"`
	Flags      []string  `dynamodbav:"flags"`
	Author     string    `dynamodbav:"author"`
	Hash       string    `dynamodbav:"content_hash"` // SHA-256 of the tags with their author
	By         string    `dynamodbav:"by_run"`       // the run that wrote it
	At         time.Time `dynamodbav:"written_at"`
}

// Sort keys are one of these, the analysis id, "#" and the version.
const (
	PartRow  = "row#"
	PartDone = "done#" // the checkpoint
	// PartFailed is an analysis that the nightly job could not tag, and why. Where
	// there is a row of the same version, it was tagged later.
	PartFailed = "failed#"
)

// Reader is what reading an analysis's tags needs of DynamoDB.
type Reader interface {
	Query(context.Context, *dynamodb.QueryInput, ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error)
}

// Of reads an analysis's tags in every version. day is the UTC day of its end;
// without one there are none.
func Of(ctx context.Context, db Reader, table, day, analysisID string) ([]Row, error) {
	items, err := held(ctx, db, table, day, PartRow+analysisID+"#")
	if err != nil {
		return nil, err
	}
	var out []Row
	if err := attributevalue.UnmarshalListOfMaps(items, &out); err != nil {
		return nil, fmt.Errorf("decode the tags of %s: %w", analysisID, err)
	}
	return out, nil
}

// KeysOf gives the keys of an analysis's tags and checkpoints, in every version.
func KeysOf(ctx context.Context, db Reader, table, day, analysisID string) ([]map[string]ddb.AttributeValue, error) {
	var out []map[string]ddb.AttributeValue
	for _, part := range []string{PartRow, PartDone, PartFailed} {
		items, err := held(ctx, db, table, day, part+analysisID+"#")
		if err != nil {
			return nil, err
		}
		for _, it := range items {
			out = append(out, map[string]ddb.AttributeValue{"day": it["day"], "item": it["item"]})
		}
	}
	return out, nil
}

func held(ctx context.Context, db Reader, table, day, begins string) (all []map[string]ddb.AttributeValue, err error) {
	if _, err := time.Parse(time.DateOnly, day); err != nil {
		return nil, nil // it has no end, or one that no job tags
	}
	cond, yes := "#d = :day AND begins_with(#i, :begins)", true
	in := &dynamodb.QueryInput{TableName: &table, KeyConditionExpression: &cond, ConsistentRead: &yes,
		ExpressionAttributeNames:  map[string]string{"#d": "day", "#i": "item"},
		ExpressionAttributeValues: map[string]ddb.AttributeValue{":day": &ddb.AttributeValueMemberS{Value: day}, ":begins": &ddb.AttributeValueMemberS{Value: begins}}}
	for item, err := range paging.Query(ctx, db, retry.Policy{}, in) {
		if err != nil {
			return nil, fmt.Errorf("read the tags of an analysis: %w", err)
		}
		all = append(all, item)
	}
	return all, nil
}

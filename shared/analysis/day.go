package analysis

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	ddb "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/paging"
)

// Delivered lists the analyses that were delivered on a UTC day (YYYY-MM-DD),
// in the order of their ends. It reads an index, which lags behind by seconds:
// ask for days that are over.
func (s Store) Delivered(ctx context.Context, day string) ([]Row, error) {
	if _, err := time.Parse(time.DateOnly, day); err != nil {
		return nil, fmt.Errorf("list the analyses of a day: %w", err)
	}
	index, cond := names.IndexByEndDay, "ended_day = :day"
	in := &dynamodb.QueryInput{TableName: &s.Analyses, IndexName: &index, KeyConditionExpression: &cond,
		ExpressionAttributeValues: map[string]ddb.AttributeValue{":day": text(day)}}
	var rows []Row
	for item, err := range paging.Query(ctx, s.DB, s.Retry, in) {
		if err != nil {
			return nil, fmt.Errorf("list the analyses delivered on %s: %w", day, err)
		}
		r, err := decode(item)
		if err != nil {
			return nil, fmt.Errorf("list the analyses delivered on %s: %s: %w", day, idOf(item), err)
		}
		if r.Status == Ready {
			rows = append(rows, r)
		}
	}
	return rows, nil
}

// Day is the UTC day of the analysis's end, "" while it has none.
func (r Row) Day() string {
	if r.EndedDay == "" && !r.EndedAt.IsZero() { // a row of an earlier release
		return r.EndedAt.UTC().Format(time.DateOnly)
	}
	return r.EndedDay
}

package analysis

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	ddb "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"fastbowlinglab/shared/paging"
	"fastbowlinglab/shared/stamp"
)

// Scrub takes out of an analysis's row what tells who is analysed and where to
// write to. Whoever sends a notice afterwards finds no address. A row that is
// not there is no error.
func (s Store) Scrub(ctx context.Context, id string) error {
	_, err := s.change(ctx, id, "SET athlete_name = :none, swept_at = if_not_exists(swept_at, :now) REMOVE email, notes, push, consent_by.#n",
		"attribute_exists(consent_by)", map[string]string{"#n": "name"},
		map[string]ddb.AttributeValue{":none": text(""), ":now": stamp.Value(s.now())})
	if errors.Is(err, ErrMoved) { // a row of an earlier release, without consent_by
		_, err = s.change(ctx, id, "SET athlete_name = :none, swept_at = if_not_exists(swept_at, :now) REMOVE email, notes, push",
			"attribute_exists(analysis_id) AND attribute_not_exists(consent_by)", nil, map[string]ddb.AttributeValue{":none": text(""), ":now": stamp.Value(s.now())})
	}
	if err != nil && !errors.Is(err, ErrNotFound) && !errors.Is(err, ErrMoved) {
		return fmt.Errorf("scrub analysis %s: %w", id, err)
	}
	return nil
}

// Scanner is what finding old analyses needs of DynamoDB.
type Scanner interface {
	Scan(context.Context, *dynamodb.ScanInput, ...func(*dynamodb.Options)) (*dynamodb.ScanOutput, error)
}

// EndedBefore calls visit for every analysis that ended before a time and was not
// scrubbed, until visit returns an error. It reads the whole table: it is for a
// sweep that nobody waits for.
func (s Store) EndedBefore(ctx context.Context, db Scanner, t time.Time, visit func(Row) error) error {
	filter := "ended_at < :t AND attribute_not_exists(swept_at)"
	in := &dynamodb.ScanInput{TableName: &s.Analyses, FilterExpression: &filter,
		ExpressionAttributeValues: map[string]ddb.AttributeValue{":t": stamp.Value(t)}}
	for item, err := range paging.Scan(ctx, db, s.Retry, in) {
		if err != nil {
			return fmt.Errorf("look for old analyses: %w", err)
		}
		r, err := decode(item)
		if err != nil {
			return err
		}
		if err := visit(r); err != nil {
			return err
		}
	}
	return nil
}

// Package paging reads what DynamoDB gives in pages as one sequence of items.
package paging

import (
	"context"
	"iter"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	ddb "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"fastbowlinglab/shared/retry"
)

// Query gives the items of a query in order. A page is read when its first item
// is wanted, and again as p says; an error is the last thing that comes. Whoever
// wants no more than so many leaves the loop: no page is read after that.
func Query(ctx context.Context, db dynamodb.QueryAPIClient, p retry.Policy, in *dynamodb.QueryInput) iter.Seq2[map[string]ddb.AttributeValue, error] {
	return func(yield func(map[string]ddb.AttributeValue, error) bool) {
		pages := dynamodb.NewQueryPaginator(db, in)
		items(ctx, p, pages.HasMorePages, func() ([]map[string]ddb.AttributeValue, error) {
			page, err := pages.NextPage(ctx)
			if err != nil {
				return nil, err
			}
			return page.Items, nil
		}, yield)
	}
}

// Scan gives the items of a table, as Query does those of a query.
func Scan(ctx context.Context, db dynamodb.ScanAPIClient, p retry.Policy, in *dynamodb.ScanInput) iter.Seq2[map[string]ddb.AttributeValue, error] {
	return func(yield func(map[string]ddb.AttributeValue, error) bool) {
		pages := dynamodb.NewScanPaginator(db, in)
		items(ctx, p, pages.HasMorePages, func() ([]map[string]ddb.AttributeValue, error) {
			page, err := pages.NextPage(ctx)
			if err != nil {
				return nil, err
			}
			return page.Items, nil
		}, yield)
	}
}

// items yields page after page. next may be called again after an error: the
// paginators of the SDK stay at the page that failed.
func items(ctx context.Context, p retry.Policy, more func() bool, next func() ([]map[string]ddb.AttributeValue, error), yield func(map[string]ddb.AttributeValue, error) bool) {
	for more() {
		var page []map[string]ddb.AttributeValue
		err := p.Do(ctx, func() (err error) {
			page, err = next()
			return err
		})
		if err != nil {
			yield(nil, err)
			return
		}
		for _, item := range page {
			if !yield(item, nil) {
				return
			}
		}
	}
}

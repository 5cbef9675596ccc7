package paging_test

import (
	"context"
	"errors"
	"iter"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	ddb "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"fastbowlinglab/shared/paging"
	"fastbowlinglab/shared/retry"
)

var errReset = errors.New("connection reset")

// table is read in pages; fails says how often a page is refused first.
type table struct {
	pages [][]string
	fails map[int]int
	asked []int
}

func item(id string) map[string]ddb.AttributeValue {
	return map[string]ddb.AttributeValue{"id": &ddb.AttributeValueMemberS{Value: id}}
}

func idOf(item map[string]ddb.AttributeValue) string {
	v, _ := item["id"].(*ddb.AttributeValueMemberS)
	if v == nil {
		return ""
	}
	return v.Value
}

// page finds the page after a key, which is the last item of the page before.
func (t *table) page(from map[string]ddb.AttributeValue) (items []map[string]ddb.AttributeValue, last map[string]ddb.AttributeValue, err error) {
	n := 0
	for from != nil && t.pages[n][len(t.pages[n])-1] != idOf(from) {
		n++
	}
	if from != nil {
		n++
	}
	t.asked = append(t.asked, n)
	if t.fails[n] > 0 {
		t.fails[n]--
		return nil, nil, errReset
	}
	for _, id := range t.pages[n] {
		items = append(items, item(id))
	}
	if n < len(t.pages)-1 {
		last = item(t.pages[n][len(t.pages[n])-1])
	}
	return items, last, nil
}

func (t *table) Query(_ context.Context, in *dynamodb.QueryInput, _ ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error) {
	items, last, err := t.page(in.ExclusiveStartKey)
	return &dynamodb.QueryOutput{Items: items, LastEvaluatedKey: last}, err
}

func (t *table) Scan(_ context.Context, in *dynamodb.ScanInput, _ ...func(*dynamodb.Options)) (*dynamodb.ScanOutput, error) {
	items, last, err := t.page(in.ExclusiveStartKey)
	return &dynamodb.ScanOutput{Items: items, LastEvaluatedKey: last}, err
}

func TestItems(t *testing.T) {
	for _, c := range []struct {
		name  string
		fails map[int]int
		leave int // after so many items; 0: never
		want  []string
		err   error
		asked []int
	}{
		{"all", nil, 0, []string{"a", "b", "c", "d", "e"}, nil, []int{0, 1, 2}},
		{"a page that fails comes again, alone", map[int]int{1: 2}, 0, []string{"a", "b", "c", "d", "e"}, nil, []int{0, 1, 1, 1, 2}},
		{"a page that fails for good ends it", map[int]int{1: 9}, 0, []string{"a", "b"}, errReset, []int{0, 1, 1, 1}},
		{"none is read that nobody wants", nil, 2, []string{"a", "b"}, nil, []int{0}},
		{"left in the middle of a page", nil, 3, []string{"a", "b", "c"}, nil, []int{0, 1}},
	} {
		kinds := map[string]func(context.Context, *table) iter.Seq2[map[string]ddb.AttributeValue, error]{
			"Query": func(ctx context.Context, db *table) iter.Seq2[map[string]ddb.AttributeValue, error] {
				return paging.Query(ctx, db, retry.Policy{Tries: 3}, &dynamodb.QueryInput{})
			},
			"Scan": func(ctx context.Context, db *table) iter.Seq2[map[string]ddb.AttributeValue, error] {
				return paging.Scan(ctx, db, retry.Policy{Tries: 3}, &dynamodb.ScanInput{})
			},
		}
		for kind, read := range kinds {
			t.Run(kind+" "+c.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					db := &table{pages: [][]string{{"a", "b"}, {"c", "d"}, {"e"}}, fails: map[int]int{}}
					for n, f := range c.fails {
						db.fails[n] = f
					}
					var got []string
					var failed error
					for item, err := range read(t.Context(), db) {
						if failed = err; err != nil {
							continue // an error is the last thing that comes
						}
						if got = append(got, idOf(item)); len(got) == c.leave {
							break
						}
					}
					if !slices.Equal(got, c.want) || !errors.Is(failed, c.err) || !slices.Equal(db.asked, c.asked) {
						t.Errorf("items %q, %v, pages asked for %v; want %q, %v, %v", got, failed, db.asked, c.want, c.err, c.asked)
					}
				})
			})
		}
	}
}

// A page may be empty and not be the last: a filter took its items out.
func TestEmptyPage(t *testing.T) {
	db := &filtered{}
	n := 0
	for _, err := range paging.Query(t.Context(), db, retry.Policy{}, &dynamodb.QueryInput{}) {
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	if n != 1 || db.calls != 2 {
		t.Errorf("%d items of %d pages, want 1 of 2", n, db.calls)
	}
}

type filtered struct{ calls int }

func (f *filtered) Query(context.Context, *dynamodb.QueryInput, ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error) {
	if f.calls++; f.calls == 1 {
		return &dynamodb.QueryOutput{LastEvaluatedKey: item("a")}, nil
	}
	return &dynamodb.QueryOutput{Items: []map[string]ddb.AttributeValue{item("b")}}, nil
}

package stamp_test

import (
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	ddb "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"fastbowlinglab/shared/stamp"
)

// The order of the strings is the order of the times, whatever their fractions
// and zones.
func TestOrder(t *testing.T) {
	base := time.Date(2025, 12, 31, 23, 59, 59, 0, time.UTC)
	var got []string
	for _, d := range []time.Duration{0, time.Millisecond, 10 * time.Millisecond, 100 * time.Millisecond, time.Second, time.Hour} {
		got = append(got, stamp.Format(base.Add(d).In(time.FixedZone("", 19800))))
	}
	if !slices.IsSorted(got) {
		t.Errorf("%v is not in order", got)
	}
	for _, s := range got {
		if back, err := time.Parse(stamp.Layout, s); err != nil || stamp.Format(back) != s {
			t.Errorf("%s came back as %s, %v", s, back, err)
		}
	}
}

func TestMarshalMap(t *testing.T) {
	type row struct {
		At   time.Time `dynamodbav:"at"`
		Gone time.Time `dynamodbav:"gone,omitempty"`
	}
	in := row{At: time.Date(2025, 1, 2, 3, 4, 5, 600_000_000, time.UTC)}
	item, err := stamp.MarshalMap(in)
	if err != nil {
		t.Fatal(err)
	}
	if s, ok := item["at"].(*ddb.AttributeValueMemberS); !ok || s.Value != "2025-01-02T03:04:05.600Z" || len(item) != 1 {
		t.Errorf("item = %v", item)
	}
	var out row
	if err := attributevalue.UnmarshalMap(item, &out); err != nil || !out.At.Equal(in.At) {
		t.Errorf("came back as %+v, %v", out, err)
	}
}

package audit_test

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"strconv"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	ddb "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"fastbowlinglab/functions/audit"
	"fastbowlinglab/shared/names"
)

// endless is a database of n analyses that are made as they are read, each
// delivered without a report, so that every one of them is a finding. It notes the
// most memory that was in use when a page was asked for.
type endless struct {
	n    int
	most uint64
}

func (e *endless) Scan(_ context.Context, in *dynamodb.ScanInput, _ ...func(*dynamodb.Options)) (*dynamodb.ScanOutput, error) {
	out := &dynamodb.ScanOutput{}
	if *in.TableName != names.Analyses.Name {
		return out, nil
	}
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	e.most = max(e.most, m.HeapAlloc)
	from := 0
	if at, ok := in.ExclusiveStartKey["analysis_id"].(*ddb.AttributeValueMemberS); ok {
		from, _ = strconv.Atoi(at.Value)
	}
	end := min(from+int(*in.Limit), e.n)
	for i := from; i < end; i++ {
		out.Items = append(out.Items, delivered(i))
	}
	if end < e.n {
		out.LastEvaluatedKey = map[string]ddb.AttributeValue{"analysis_id": value(strconv.Itoa(end))}
	}
	return out, nil
}

func delivered(i int) map[string]ddb.AttributeValue {
	return map[string]ddb.AttributeValue{"analysis_id": value(fmt.Sprint("an-", i)), "athlete_id": value(athlete), "status": value("ready"),
		"attempt": value(1), "ended_at": value("2026-03-01T09:00:00.000Z"), "ended_by": value("deliver#x")}
}

func (e *endless) GetItem(_ context.Context, in *dynamodb.GetItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error) {
	if *in.TableName == names.Analyses.Name {
		var i int
		_, _ = fmt.Sscanf(in.Key["analysis_id"].(*ddb.AttributeValueMemberS).Value, "an-%d", &i)
		return &dynamodb.GetItemOutput{Item: delivered(i)}, nil
	}
	return &dynamodb.GetItemOutput{}, nil
}

func (e *endless) Query(context.Context, *dynamodb.QueryInput, ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error) {
	return &dynamodb.QueryOutput{}, nil
}

// nowhere drops what is stored.
type nowhere struct{ bytes int64 }

func (n *nowhere) PutObject(_ context.Context, in *s3.PutObjectInput, _ ...func(*s3.Options)) (*s3.PutObjectOutput, error) {
	var err error
	n.bytes, err = io.Copy(io.Discard, in.Body)
	return &s3.PutObjectOutput{}, err
}

// Memory and the report do not grow with the tables: 50,000 rows, all of them
// wrong, need no more than 5,000.
func TestMemoryIsBounded(t *testing.T) {
	run := func(rows int) (heap uint64, report int64) {
		db, store := &endless{n: rows}, &nowhere{}
		h := audit.New(audit.Deps{DB: db, Objects: store, Bucket: "b", Analyses: names.Analyses.Name, Credits: names.Credits.Name,
			Notices: names.Notices.Name, Effects: names.Effects.Name, Usage: names.Usage.Name})
		if _, err := h.Invoke(t.Context(), []byte(`{}`)); err != nil {
			t.Fatal(err)
		}
		return db.most, store.bytes
	}
	few, small := run(5_000)
	many, large := run(50_000)
	t.Logf("heap in use at most %.2f MB with 5,000 rows, %.2f MB with 50,000; reports of %d and %d KB", float64(few)/1e6, float64(many)/1e6, small>>10, large>>10)
	if many > few+1<<20 {
		t.Errorf("heap grew from %d to %d bytes with the tables", few, many)
	}
	if large > small+1<<10 || large > 1<<20 {
		t.Errorf("the report grew from %d to %d bytes", small, large)
	}
}

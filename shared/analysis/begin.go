package analysis

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	ddb "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"fastbowlinglab/shared/stamp"
)

// Begun is the answer of Begin. Proceed tells whether the asking execution is
// the one that goes on; Duplicate, that another one holds this attempt.
type Begun struct {
	Row       Row
	Proceed   bool
	Duplicate bool
}

// Begin marks a queued analysis as analysing, held by the named execution, and
// stores flags unless some are stored: the first run's flags are the
// analysis's. A repeat by the holder gets the same answer again.
func (s Store) Begin(ctx context.Context, id string, attempt int, execution string, flags map[string]string) (Begun, error) {
	fl, err := attributevalue.MarshalMap(flags)
	if err != nil {
		return Begun{}, fmt.Errorf("encode the flags of %s: %w", id, err)
	}
	r, err := s.change(ctx, id,
		"SET #s = :analysing, execution = :execution, started_at = if_not_exists(started_at, :now), flags = if_not_exists(flags, :flags)",
		"attempt = :attempt AND (#s = :queued OR (#s = :analysing AND execution = :execution))",
		map[string]string{"#s": "status"},
		map[string]ddb.AttributeValue{
			":analysing": text(string(Analysing)), ":queued": text(string(Queued)), ":execution": text(execution),
			":attempt": &ddb.AttributeValueMemberN{Value: strconv.Itoa(attempt)},
			":now":     stamp.Value(s.now()), ":flags": &ddb.AttributeValueMemberM{Value: fl},
		})
	switch {
	case err == nil:
		return Begun{Row: r, Proceed: true}, nil
	case errors.Is(err, ErrMoved):
		return Begun{Row: r, Duplicate: r.Status == Analysing && r.Attempt == attempt && r.Execution != execution}, nil
	}
	return Begun{}, fmt.Errorf("begin analysis %s attempt %d: %w", id, attempt, err)
}

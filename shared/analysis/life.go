package analysis

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	ddb "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"fastbowlinglab/shared/awserr"
	"fastbowlinglab/shared/credit"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/retry"
	"fastbowlinglab/shared/stamp"
	"fastbowlinglab/shared/txn"
)

// DB is what a Store needs of DynamoDB.
type DB interface {
	Getter
	txn.DB
	Query(context.Context, *dynamodb.QueryInput, ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error)
	UpdateItem(context.Context, *dynamodb.UpdateItemInput, ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error)
}

// Store moves an analysis through its life, up to its end.
type Store struct {
	DB       DB
	Analyses string // table
	Credits  string // table; needed by Create alone
	Now      func() time.Time
	Retry    retry.Policy
}

func (s Store) now() time.Time {
	if s.Now != nil {
		return s.Now()
	}
	return time.Now()
}

// Errors of a Store.
var (
	// ErrKeyReused says that the client key was used for another submission.
	ErrKeyReused = errors.New("idempotency key used before for another submission")
	// ErrNoCredit says that the athlete has no credit left.
	ErrNoCredit = errors.New("no credit left")
	// ErrEnded says that the analysis has its end.
	ErrEnded = errors.New("analysis has ended")
	// ErrMoved says that the analysis is not, or no longer, in the state that
	// the change starts from.
	ErrMoved = errors.New("analysis is in another state")
)

// Get reads an analysis with a strongly consistent read; ErrNotFound if there
// is none.
func (s Store) Get(ctx context.Context, id string) (Row, error) {
	var r Row
	err := s.Retry.Do(ctx, func() (err error) {
		r, err = Get(ctx, s.DB, s.Analyses, id)
		if errors.Is(err, ErrNotFound) {
			return nil
		}
		return err
	})
	if err == nil && r.AnalysisID == "" {
		return Row{}, fmt.Errorf("read analysis %s: %w", id, ErrNotFound)
	}
	return r, err
}

// Create reserves a credit for sub, which must be clean, and stores the
// analysis: both or neither. The id follows from athlete and client key, so
// that asking again is safe: if the analysis exists it is returned with
// created false, whatever else the transaction complained of. Errors:
// ErrKeyReused, ErrNoCredit.
func (s Store) Create(ctx context.Context, athleteID, clientKey string, sub Submission) (r Row, created bool, err error) {
	now := s.now().UTC().Truncate(time.Millisecond)
	r = Row{
		AnalysisID: ID(athleteID, clientKey), AthleteID: athleteID, RequestHash: sub.Hash(),
		Status: Reserved, Attempt: 1, AthleteName: sub.AthleteName, Email: sub.Email, TimeZone: sub.TimeZone,
		Notes: sub.Notes, Consent: sub.Consent, Push: sub.Push, CreatedAt: now, Open: OpenMark, Deadline: now.Add(names.ReservedDeadline),
		ConsentBy: &Consent{Role: sub.ConsentRole, Name: sub.ConsentName, UnderAge: sub.UnderAge, At: now},
	}
	if r.ConsentBy.Role == "" {
		r.ConsentBy.Role = ConsentSelf
	}
	for i, c := range sub.Clips {
		c.Key = names.ClipKey(r.AnalysisID, i)
		r.Clips = append(r.Clips, c)
	}
	return s.reserve(ctx, r)
}

// reserve stores a new row and takes the price of its analysis: both or neither.
// A row that is there already is returned, unless it answers another request.
func (s Store) reserve(ctx context.Context, r Row) (_ Row, created bool, err error) {
	item, err := stamp.MarshalMap(r)
	if err != nil {
		return Row{}, false, fmt.Errorf("encode analysis %s: %w", r.AnalysisID, err)
	}
	fresh := "attribute_not_exists(analysis_id)"
	items := append([]ddb.TransactWriteItem{{Put: &ddb.Put{TableName: &s.Analyses, Item: item, ConditionExpression: &fresh,
		ReturnValuesOnConditionCheckFailure: ddb.ReturnValuesOnConditionCheckFailureAllOld}}},
		credit.Reserve(s.Credits, r.AthleteID, r.AnalysisID, r.CreatedAt)...)
	err = txn.Write(ctx, s.DB, s.Retry, items)
	if err == nil {
		return r, true, nil
	}
	if old, stood := txn.Guard(err); stood {
		stored, err := decode(old)
		if err != nil {
			return Row{}, false, fmt.Errorf("create analysis %s: %w", r.AnalysisID, err)
		}
		if stored.RequestHash != r.RequestHash {
			return Row{}, false, ErrKeyReused
		}
		return stored, false, nil
	}
	if txn.Failed(err, 1) {
		return Row{}, false, ErrNoCredit
	}
	return Row{}, false, fmt.Errorf("create analysis %s: %w", r.AnalysisID, err)
}

// change updates the row under a condition and returns it as it is afterwards.
// When the condition fails it returns the row as it stands, and ErrMoved.
func (s Store) change(ctx context.Context, id, set, cond string, names map[string]string, values map[string]ddb.AttributeValue) (Row, error) {
	var out *dynamodb.UpdateItemOutput
	err := s.Retry.Do(ctx, func() (err error) {
		out, err = s.DB.UpdateItem(ctx, &dynamodb.UpdateItemInput{
			TableName: &s.Analyses, Key: Key(id), UpdateExpression: &set, ConditionExpression: &cond,
			ExpressionAttributeNames: names, ExpressionAttributeValues: values,
			ReturnValues:                        ddb.ReturnValueAllNew,
			ReturnValuesOnConditionCheckFailure: ddb.ReturnValuesOnConditionCheckFailureAllOld,
		})
		return err
	})
	if err == nil {
		return decode(out.Attributes)
	}
	if awserr.KindOf(err) != awserr.Condition {
		return Row{}, err
	}
	old := awserr.Winner(err)
	if old == nil {
		return Row{}, ErrNotFound
	}
	r, err := decode(old)
	if err != nil {
		return Row{}, err
	}
	return r, ErrMoved
}

// Decode reads a row from an item of the analyses table.
func Decode(item map[string]ddb.AttributeValue) (Row, error) { return decode(item) }

func decode(item map[string]ddb.AttributeValue) (Row, error) {
	var r Row
	if err := attributevalue.UnmarshalMap(item, &r); err != nil {
		return Row{}, fmt.Errorf("decode an analysis: %w", err)
	}
	return r, nil
}

func text(v string) ddb.AttributeValue { return &ddb.AttributeValueMemberS{Value: v} }

package credit

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	ddb "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"fastbowlinglab/shared/paging"
	"fastbowlinglab/shared/retry"
	"fastbowlinglab/shared/stamp"
	"fastbowlinglab/shared/txn"
)

// ErrKeyReused says that the key has been used for another request.
var ErrKeyReused = errors.New("idempotency key used before for another request")

// DB is what a Store needs of DynamoDB.
type DB interface {
	Query(context.Context, *dynamodb.QueryInput, ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error)
	TransactWriteItems(context.Context, *dynamodb.TransactWriteItemsInput, ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error)
}

// Store reads the ledger and enters what does not belong to an analysis.
type Store struct {
	DB      DB
	Credits string // table
	Effects string // table of the operators' idempotency keys
	Now     func() time.Time
	Retry   retry.Policy
}

// maxEntries bounds what Ledger reads. An athlete has two to three entries for
// an analysis, so this is years of them.
const maxEntries = 5000

// Ledger is an athlete's balance and entries, newest first. More is set when
// older entries were left out.
type Ledger struct {
	Balance int64
	Entries []Entry
	More    bool
}

// Sum adds the entries up; it equals Balance unless More is set.
func (l Ledger) Sum() int64 {
	var n int64
	for _, e := range l.Entries {
		n += e.Credits
	}
	return n
}

// Read gives an athlete's ledger with strongly consistent reads. Someone who
// never had a credit has an empty one.
func (s Store) Read(ctx context.Context, athleteID string) (Ledger, error) {
	var l Ledger
	yes, cond := true, "athlete_id = :athlete"
	in := &dynamodb.QueryInput{TableName: &s.Credits, KeyConditionExpression: &cond, ConsistentRead: &yes,
		ExpressionAttributeValues: map[string]ddb.AttributeValue{":athlete": text(athleteID)}}
	for item, err := range paging.Query(ctx, s.DB, s.Retry, in) {
		if err != nil {
			return Ledger{}, fmt.Errorf("read the ledger of %s: %w", athleteID, err)
		}
		if l.More = len(l.Entries) == maxEntries; l.More {
			break
		}
		if err := l.add(item); err != nil {
			return Ledger{}, fmt.Errorf("read the ledger of %s: %w", athleteID, err)
		}
	}
	slices.SortFunc(l.Entries, func(a, b Entry) int {
		return cmp.Or(b.At.Compare(a.At), cmp.Compare(a.Entry, b.Entry))
	})
	return l, nil
}

// GivenBack counts an athlete's refunds since a time, of which the reason counts.
func (s Store) GivenBack(ctx context.Context, athleteID string, since time.Time, counts func(reason string) bool) (n int, err error) {
	yes, cond, filter := true, "athlete_id = :athlete AND begins_with(entry, :refund)", "#at >= :since"
	in := &dynamodb.QueryInput{TableName: &s.Credits, KeyConditionExpression: &cond, FilterExpression: &filter, ConsistentRead: &yes,
		ExpressionAttributeNames: map[string]string{"#at": "at"},
		ExpressionAttributeValues: map[string]ddb.AttributeValue{":athlete": text(athleteID), ":refund": text(name(KindRefund, "")),
			":since": stamp.Value(since)}}
	for item, err := range paging.Query(ctx, s.DB, s.Retry, in) {
		if err != nil {
			return 0, fmt.Errorf("count the refunds of %s: %w", athleteID, err)
		}
		var e Entry
		if err := attributevalue.UnmarshalMap(item, &e); err != nil {
			return 0, fmt.Errorf("decode an entry: %w", err)
		}
		if counts(e.Reason) {
			n++
		}
	}
	return n, nil
}

func (l *Ledger) add(item map[string]ddb.AttributeValue) error {
	var e struct {
		Entry
		Balance int64 `dynamodbav:"balance"`
	}
	if err := attributevalue.UnmarshalMap(item, &e); err != nil {
		return fmt.Errorf("decode an entry: %w", err)
	}
	if e.Entry.Entry == balanceEntry {
		l.Balance = e.Balance
		return nil
	}
	l.Entries = append(l.Entries, e.Entry)
	return nil
}

// Grant is what an operator gives an athlete. Operator and Key name it: the
// same two with another request are refused, whoever the athlete is.
type Grant struct {
	AthleteID string
	Credits   int64
	Reason    string
	Operator  string
	Key       string
}

// cause names the grant; it is bounded however long the operator's key is.
func (g Grant) cause() string {
	sum := sha256.Sum256([]byte(g.Operator + "\x00" + g.Key))
	return hex.EncodeToString(sum[:16])
}

// markKey is the key of the row that remembers the grant.
func (g Grant) markKey() string { return "grant#" + g.cause() }

func (g Grant) hash() string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %d %q", g.AthleteID, g.Credits, g.Reason))
	return hex.EncodeToString(sum[:])
}

// Enter enters a grant once; entering it again changes nothing and succeeds. It
// returns ErrKeyReused when its key was used for another grant.
func (s Store) Enter(ctx context.Context, g Grant) (Entry, error) {
	if g.AthleteID == "" || g.Operator == "" || g.Key == "" || g.Credits <= 0 {
		return Entry{}, fmt.Errorf("grant of %d credits to %q: needs athlete, operator, key and a positive number", g.Credits, g.AthleteID)
	}
	e := Entry{AthleteID: g.AthleteID, Entry: name(KindGrant, g.cause()), Kind: KindGrant, Credits: g.Credits,
		Reason: g.Reason, By: g.Operator, At: s.now().UTC().Truncate(time.Millisecond)}
	mark := struct {
		Effect string    `dynamodbav:"effect"`
		Hash   string    `dynamodbav:"hash"`
		At     time.Time `dynamodbav:"at"`
	}{g.markKey(), g.hash(), e.At}
	item, err := stamp.MarshalMap(mark)
	if err != nil {
		return Entry{}, fmt.Errorf("encode a grant: %w", err)
	}
	fresh := "attribute_not_exists(effect)"
	items := append([]ddb.TransactWriteItem{{Put: &ddb.Put{TableName: &s.Effects, Item: item, ConditionExpression: &fresh,
		ReturnValuesOnConditionCheckFailure: ddb.ReturnValuesOnConditionCheckFailureAllOld}}},
		change(s.Credits, e, g.cause())...)
	err = txn.Write(ctx, s.DB, s.Retry, items)
	if err == nil {
		return e, nil
	}
	old, stood := txn.Guard(err)
	if !stood {
		return Entry{}, fmt.Errorf("grant %d credits to %s: %w", g.Credits, g.AthleteID, err)
	}
	if err := attributevalue.UnmarshalMap(old, &mark); err != nil {
		return Entry{}, fmt.Errorf("decode a grant's key: %w", err)
	}
	if mark.Hash != g.hash() {
		return Entry{}, ErrKeyReused
	}
	e.At = mark.At
	return e, nil
}

func (s Store) now() time.Time {
	if s.Now != nil {
		return s.Now()
	}
	return time.Now()
}

func text(v string) ddb.AttributeValue { return &ddb.AttributeValueMemberS{Value: v} }

func number(n int64) ddb.AttributeValue {
	return &ddb.AttributeValueMemberN{Value: strconv.FormatInt(n, 10)}
}

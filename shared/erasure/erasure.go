// Package erasure keeps the deletions that athletes ask for: one row each, from
// the request to the proof. While a deletion is open its row tells whom it is
// about and the random pseudonym under which the ledger goes on; when it is done
// both are removed, and what stays is a digest of the athlete id, the dates and
// what was removed. Whoever knows an athlete id can show that it was erased;
// nobody can lead a pseudonym back to it.
package erasure

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	ddb "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"fastbowlinglab/shared/awserr"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/retry"
	"fastbowlinglab/shared/stamp"
)

// State is where a deletion is.
type State string

// The states.
const (
	None State = ""
	Open State = "open"
	Done State = "done"
)

// PseudonymPrefix starts every pseudonym; no athlete id begins so.
const PseudonymPrefix = "erased-"

const openMark = "1"

// Erasure is the item of the erasures table.
type Erasure struct {
	ID          string    `dynamodbav:"erasure"`
	State       State     `dynamodbav:"state"`
	Open        string    `dynamodbav:"open,omitempty"`                   // the sparse index
	AthleteID   string    `dynamodbav:"athlete_id,omitempty"`             // while open
	Pseudonym   string    `dynamodbav:"pseudonym,omitempty"`              // while open
	AnalysisIDs []string  `dynamodbav:"analysis_ids,stringset,omitempty"` // while open: "id@day of its end"; whose rows are gone, and objects may yet come
	LastEnd     time.Time `dynamodbav:"last_end,omitempty"`               // while open: of what the deletion found open and ended
	RequestedAt time.Time `dynamodbav:"requested_at"`
	FinishedAt  time.Time `dynamodbav:"finished_at,omitempty"`
	Removed
}

// Removed counts what was removed. A crash between an effect and its count makes
// a count too small, never too large.
type Removed struct {
	Analyses int64 `dynamodbav:"analyses" json:"analyses"`
	Objects  int64 `dynamodbav:"objects" json:"objects"` // all versions of all of them
	Rows     int64 `dynamodbav:"rows" json:"rows"`       // of the other tables; see Rules
	Entries  int64 `dynamodbav:"entries" json:"entries"` // of the ledger: kept, under the pseudonym
}

// IsZero reports whether nothing was removed.
func (r Removed) IsZero() bool { return r == Removed{} }

// DB is what a Store needs of DynamoDB.
type DB interface {
	GetItem(context.Context, *dynamodb.GetItemInput, ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error)
	PutItem(context.Context, *dynamodb.PutItemInput, ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error)
	UpdateItem(context.Context, *dynamodb.UpdateItemInput, ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error)
	Query(context.Context, *dynamodb.QueryInput, ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error)
}

// Store keeps erasures.
type Store struct {
	DB    DB
	Table string
	Now   func() time.Time
	Retry retry.Policy
}

// ID is the key of an athlete's erasure.
func ID(athleteID string) string {
	sum := sha256.Sum256([]byte("erasure\x00" + athleteID))
	return hex.EncodeToString(sum[:])
}

// Ask records that an athlete is to be erased. Asked again, the first request
// stands and is returned.
func (s Store) Ask(ctx context.Context, athleteID string) (Erasure, error) {
	e := Erasure{ID: ID(athleteID), State: Open, Open: openMark, AthleteID: athleteID,
		Pseudonym: PseudonymPrefix + strings.ToLower(rand.Text()), RequestedAt: s.now().UTC().Truncate(time.Millisecond)}
	item, err := stamp.MarshalMap(e)
	if err != nil {
		return Erasure{}, fmt.Errorf("encode an erasure: %w", err)
	}
	fresh := "attribute_not_exists(erasure)"
	err = s.Retry.Do(ctx, func() error {
		_, err := s.DB.PutItem(ctx, &dynamodb.PutItemInput{TableName: &s.Table, Item: item, ConditionExpression: &fresh,
			ReturnValuesOnConditionCheckFailure: ddb.ReturnValuesOnConditionCheckFailureAllOld})
		return err
	})
	if awserr.KindOf(err) == awserr.Condition { // it was asked before, or our own answer was lost
		return decode(awserr.Winner(err))
	}
	if err != nil {
		return Erasure{}, fmt.Errorf("record an erasure: %w", err)
	}
	return e, nil
}

// Look reads an athlete's erasure; its State is None when there is none.
func (s Store) Look(ctx context.Context, athleteID string) (Erasure, error) {
	return s.Get(ctx, ID(athleteID))
}

// Get reads an erasure by its key.
func (s Store) Get(ctx context.Context, id string) (Erasure, error) {
	yes := true
	var out *dynamodb.GetItemOutput
	err := s.Retry.Do(ctx, func() (err error) {
		out, err = s.DB.GetItem(ctx, &dynamodb.GetItemInput{TableName: &s.Table, Key: key(id), ConsistentRead: &yes})
		return err
	})
	if err != nil || out.Item == nil {
		if err != nil {
			err = fmt.Errorf("read an erasure: %w", err)
		}
		return Erasure{}, err
	}
	return decode(out.Item)
}

// ListOpen gives the open erasures, the oldest first, a page's worth.
func (s Store) ListOpen(ctx context.Context) ([]Erasure, error) {
	cond, index := "#o = :mark", names.IndexOpen
	var out *dynamodb.QueryOutput
	err := s.Retry.Do(ctx, func() (err error) {
		out, err = s.DB.Query(ctx, &dynamodb.QueryInput{TableName: &s.Table, IndexName: &index, KeyConditionExpression: &cond,
			ExpressionAttributeNames: map[string]string{"#o": "open"}, ExpressionAttributeValues: map[string]ddb.AttributeValue{":mark": text(openMark)}})
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list open erasures: %w", err)
	}
	var all []Erasure
	for _, it := range out.Items {
		e, err := decode(it)
		if err != nil {
			return nil, err
		}
		all = append(all, e)
	}
	return all, nil
}

// Count adds to what was removed.
func (s Store) Count(ctx context.Context, id string, r Removed) error {
	if r.IsZero() {
		return nil
	}
	add := "ADD analyses :a, objects :o, #r :r, entries :e"
	return s.update(ctx, id, add, "attribute_exists(erasure)", map[string]string{"#r": "rows"}, map[string]ddb.AttributeValue{
		":a": number(r.Analyses), ":o": number(r.Objects), ":r": number(r.Rows), ":e": number(r.Entries)})
}

// Settled reports whether nobody can be at work on the athlete's analyses any more,
// nor an upload be on its way: long enough ago the last of them ended and the deletion
// was asked for.
func (e Erasure) Settled(now time.Time) bool {
	since := e.RequestedAt
	if e.LastEnd.After(since) {
		since = e.LastEnd
	}
	return now.Sub(since) >= names.ErasureSettle
}

// Held is an analysis whose traces are to be removed.
type Held struct {
	ID  string
	Day string // UTC day of its end, under which tags are kept
}

// Held lists the analyses that were remembered.
func (e Erasure) Held() []Held {
	days := map[string]string{}
	for _, v := range e.AnalysisIDs {
		id, day, _ := strings.Cut(v, "@") // one noted by an earlier release has no day
		days[id] = max(days[id], day)
	}
	var out []Held
	for _, id := range slices.Sorted(maps.Keys(days)) {
		out = append(out, Held{id, days[id]})
	}
	return out
}

// Remember notes an analysis of the athlete's, which ended then (zero: nobody
// knows), before its row is removed.
func (s Store) Remember(ctx context.Context, id string, h Held, ended time.Time) error {
	if !ended.IsZero() {
		err := s.update(ctx, id, "SET last_end = :at", "#s = :open AND (attribute_not_exists(last_end) OR last_end < :at)", map[string]string{"#s": "state"},
			map[string]ddb.AttributeValue{":at": stamp.Value(ended), ":open": text(string(Open))})
		if err != nil && awserr.KindOf(err) != awserr.Condition { // another one ended later
			return err
		}
	}
	return s.update(ctx, id, "ADD analysis_ids :one", "#s = :open", map[string]string{"#s": "state"}, map[string]ddb.AttributeValue{
		":one": &ddb.AttributeValueMemberSS{Value: []string{h.ID + "@" + h.Day}}, ":open": text(string(Open))})
}

// Clear forgets an analysis of which nothing is left.
func (s Store) Clear(ctx context.Context, e Erasure, h Held) error {
	var marks []string
	for _, v := range e.AnalysisIDs {
		if id, _, _ := strings.Cut(v, "@"); id == h.ID {
			marks = append(marks, v)
		}
	}
	if len(marks) == 0 {
		return nil
	}
	return s.update(ctx, e.ID, "DELETE analysis_ids :marks", "attribute_exists(erasure)", nil,
		map[string]ddb.AttributeValue{":marks": &ddb.AttributeValueMemberSS{Value: marks}})
}

// Finish ends an open erasure: from now on its row is the proof. Finished again
// it stays as it is.
func (s Store) Finish(ctx context.Context, id string) error {
	set := "SET #s = :done, finished_at = :now REMOVE #o, athlete_id, pseudonym, analysis_ids, last_end"
	err := s.update(ctx, id, set, "#s = :open", map[string]string{"#s": "state", "#o": "open"}, map[string]ddb.AttributeValue{
		":done": text(string(Done)), ":open": text(string(Open)), ":now": stamp.Value(s.now())})
	if awserr.KindOf(err) == awserr.Condition {
		return nil
	}
	return err
}

func (s Store) update(ctx context.Context, id, set, cond string, n map[string]string, v map[string]ddb.AttributeValue) error {
	err := s.Retry.Do(ctx, func() error {
		_, err := s.DB.UpdateItem(ctx, &dynamodb.UpdateItemInput{TableName: &s.Table, Key: key(id), UpdateExpression: &set,
			ConditionExpression: &cond, ExpressionAttributeNames: n, ExpressionAttributeValues: v})
		return err
	})
	if err != nil {
		return fmt.Errorf("update erasure %s: %w", id, err)
	}
	return nil
}

func decode(item map[string]ddb.AttributeValue) (Erasure, error) {
	var e Erasure
	if item == nil {
		return e, errors.New("decode an erasure: there is none")
	}
	if err := attributevalue.UnmarshalMap(item, &e); err != nil {
		return e, fmt.Errorf("decode an erasure: %w", err)
	}
	return e, nil
}

func (s Store) now() time.Time {
	if s.Now != nil {
		return s.Now()
	}
	return time.Now()
}

func key(id string) map[string]ddb.AttributeValue {
	return map[string]ddb.AttributeValue{"erasure": text(id)}
}

func text(v string) ddb.AttributeValue { return &ddb.AttributeValueMemberS{Value: v} }

func number(n int64) ddb.AttributeValue {
	return &ddb.AttributeValueMemberN{Value: strconv.FormatInt(n, 10)}
}

package credit

import (
	"context"
	"errors"
	"fmt"
	"strings"

	ddb "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"fastbowlinglab/shared/awserr"
	"fastbowlinglab/shared/stamp"
	"fastbowlinglab/shared/txn"
)

// perMove bounds the entries of one transaction: each is deleted and put, and a
// purchase moves its payment too; DynamoDB takes 100 items.
const perMove = 30

// Pseudonymise moves a ledger to a pseudonym, entry by entry with its part of
// the balance, so that at any time the entries of either explain its balance and
// all balances together stay what they were. Analysis ids and words are left
// behind. It returns how many entries it moved; an interrupted move is finished
// by moving again. While it lasts a balance alone may look negative: nobody can
// spend from it.
func (s Store) Pseudonymise(ctx context.Context, athleteID, pseudonym string) (moved int64, err error) {
	if athleteID == "" || pseudonym == "" || athleteID == pseudonym {
		return 0, errors.New("credit: a ledger moves from an athlete to a pseudonym")
	}
	for range maxRounds {
		l, err := s.Read(ctx, athleteID)
		if err != nil {
			return moved, err
		}
		if len(l.Entries) == 0 {
			return moved, nil
		}
		part := l.Entries[max(0, len(l.Entries)-perMove):] // the oldest first
		err = txn.Write(ctx, s.DB, s.Retry, s.move(athleteID, pseudonym, part))
		switch {
		case err == nil:
			moved += int64(len(part))
		case awserr.KindOf(err) == awserr.Condition: // another one moved some of them: look again
		default:
			return moved, fmt.Errorf("move the ledger to its pseudonym: %w", err)
		}
	}
	return moved, fmt.Errorf("move the ledger to its pseudonym: not done in %d rounds", maxRounds)
}

// Erased names an analysis under a pseudonym: the same in every table, and no way
// back for who does not know both.
func Erased(pseudonym, analysisID string) string { return "erased-" + digest(pseudonym, analysisID) }

func (s Store) move(from, to string, part []Entry) []ddb.TransactWriteItem {
	var sum int64
	var items []ddb.TransactWriteItem
	there, fresh := "attribute_exists(entry)", "attribute_not_exists(entry)"
	for _, e := range part {
		sum += e.Credits
		kind, cause, _ := strings.Cut(e.Entry, "#")
		moved := e
		moved.AthleteID, moved.Reason = to, ""
		moved.By, _, _ = strings.Cut(e.By, "#") // what follows names an execution, or the athlete
		if e.AnalysisID != "" {
			cause = Erased(to, e.AnalysisID)
			moved.AnalysisID = cause
		}
		moved.Entry = kind + "#" + cause
		item, err := stamp.MarshalMap(moved)
		if err != nil {
			panic("credit: encode entry: " + err.Error()) // as in change
		}
		items = append(items,
			ddb.TransactWriteItem{Delete: &ddb.Delete{TableName: &s.Credits, Key: key(from, e.Entry), ConditionExpression: &there}},
			ddb.TransactWriteItem{Put: &ddb.Put{TableName: &s.Credits, Item: item, ConditionExpression: &fresh}})
		if e.Kind == KindPurchase {
			items = append(items, s.movePayment(cause, to))
		}
	}
	return append(items, moveBalance(s.Credits, from, -sum), moveBalance(s.Credits, to, sum))
}

// movePayment hands a payment to the pseudonym; a later refund of it acts there.
// The version moves, so that an event at work beside it looks again.
func (s Store) movePayment(cause, to string) ddb.TransactWriteItem {
	set := "SET athlete_id = :to, erased = :yes ADD version :one"
	there := "attribute_exists(effect)"
	return ddb.TransactWriteItem{Update: &ddb.Update{TableName: &s.Effects, UpdateExpression: &set, ConditionExpression: &there,
		Key: map[string]ddb.AttributeValue{"effect": text(PaymentKey(cause))},
		ExpressionAttributeValues: map[string]ddb.AttributeValue{":to": text(to), ":one": number(1),
			":yes": &ddb.AttributeValueMemberBOOL{Value: true}}}}
}

func moveBalance(table, athleteID string, n int64) ddb.TransactWriteItem {
	add := "ADD balance :n SET kind = :kind"
	return ddb.TransactWriteItem{Update: &ddb.Update{TableName: &table, Key: key(athleteID, balanceEntry), UpdateExpression: &add,
		ExpressionAttributeValues: map[string]ddb.AttributeValue{":n": number(n), ":kind": text(balanceEntry)}}}
}

// DropEmpty removes the balance row of a ledger that has no entries.
func (s Store) DropEmpty(ctx context.Context, athleteID string) error {
	zero := "balance = :zero OR attribute_not_exists(balance)"
	err := txn.Write(ctx, s.DB, s.Retry, []ddb.TransactWriteItem{{Delete: &ddb.Delete{TableName: &s.Credits,
		Key: key(athleteID, balanceEntry), ConditionExpression: &zero,
		ExpressionAttributeValues: map[string]ddb.AttributeValue{":zero": number(0)}}}})
	if err != nil {
		return fmt.Errorf("drop an empty balance: %w", err)
	}
	return nil
}

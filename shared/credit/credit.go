// Package credit is the ledger: for each athlete one balance row and
// append-only entries, each named by what caused it. Credits are whole numbers.
// A balance and the entry that explains it change in one transaction, so the
// entries always add up to the balance; a balance never goes below zero; a
// cause is entered once.
package credit

import (
	"time"

	ddb "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"fastbowlinglab/shared/stamp"
)

// Kind says why a balance changed.
type Kind string

// The kinds. Grants and purchases add, reservations and revocations take, a
// refund gives a reservation back.
const (
	KindGrant    Kind = "grant"
	KindPurchase Kind = "purchase"
	KindReserve  Kind = "reserve"
	KindRefund   Kind = "refund"
	KindRevoke   Kind = "revoke"
)

// PerAnalysis is the price of one analysis.
const PerAnalysis = 1

// balanceEntry is the sort key of the balance row; no entry's name equals it.
const balanceEntry = "balance"

// Entry is one line of the ledger. Its sort key, kind#cause, is what makes a
// second one for the same cause impossible.
type Entry struct {
	AthleteID  string    `dynamodbav:"athlete_id" json:"-"`
	Entry      string    `dynamodbav:"entry" json:"entry"`
	Kind       Kind      `dynamodbav:"kind" json:"kind"`
	Credits    int64     `dynamodbav:"credits" json:"credits"` // signed change of the balance
	AnalysisID string    `dynamodbav:"analysis_id,omitempty" json:"analysis_id,omitempty"`
	Reason     string    `dynamodbav:"reason,omitempty" json:"reason,omitempty"`
	By         string    `dynamodbav:"by,omitempty" json:"-"` // operator, or program, that made it
	At         time.Time `dynamodbav:"at" json:"at"`
}

// name is the sort key of an entry.
func name(k Kind, cause string) string { return string(k) + "#" + cause }

// Key is the primary key of the refund, reservation and so on with this cause.
func Key(athleteID string, k Kind, cause string) map[string]ddb.AttributeValue {
	return key(athleteID, name(k, cause))
}

func key(athleteID, entry string) map[string]ddb.AttributeValue {
	return map[string]ddb.AttributeValue{"athlete_id": text(athleteID), "entry": text(entry)}
}

// Reserve is the part of a transaction that takes the price of an analysis:
// first the balance, which must suffice, then the entry.
func Reserve(table, athleteID, analysisID string, at time.Time) []ddb.TransactWriteItem {
	return change(table, Entry{AthleteID: athleteID, Kind: KindReserve, Credits: -PerAnalysis,
		AnalysisID: analysisID, At: at}, analysisID)
}

// Refund is the part of a transaction that gives it back: first the balance,
// then the entry, which must not exist yet.
func Refund(table, athleteID, analysisID, reason, by string, at time.Time) []ddb.TransactWriteItem {
	return change(table, Entry{AthleteID: athleteID, Kind: KindRefund, Credits: PerAnalysis,
		AnalysisID: analysisID, Reason: reason, By: by, At: at}, analysisID)
}

// change moves the balance by e.Credits and enters e under its cause.
func change(table string, e Entry, cause string) []ddb.TransactWriteItem {
	e.Entry = name(e.Kind, cause)
	item, err := stamp.MarshalMap(e)
	if err != nil {
		panic("credit: encode entry: " + err.Error()) // a struct of strings, a number and a time always encodes
	}
	fresh := "attribute_not_exists(entry)"
	put := ddb.TransactWriteItem{Put: &ddb.Put{TableName: &table, Item: item, ConditionExpression: &fresh,
		ReturnValuesOnConditionCheckFailure: ddb.ReturnValuesOnConditionCheckFailureAllOld}}

	add := "ADD balance :n SET kind = :kind"
	upd := &ddb.Update{TableName: &table, Key: key(e.AthleteID, balanceEntry), UpdateExpression: &add,
		ExpressionAttributeValues: map[string]ddb.AttributeValue{":n": number(e.Credits), ":kind": text(balanceEntry)}}
	if e.Credits < 0 {
		enough := "balance >= :price"
		upd.ConditionExpression = &enough
		upd.ExpressionAttributeValues[":price"] = number(-e.Credits)
	}
	return []ddb.TransactWriteItem{{Update: upd}, put}
}

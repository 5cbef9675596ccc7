// Package outbox is the rows of what an athlete is told, one row for each
// analysis, kind and channel, written in the transaction that ends the analysis
// or adds a revision, and sent afterwards, by package notice, which says how a
// row's state goes on.
//
// An analysis without an address has one notice too, on the channel "none": it
// says that nobody had to be told, and is never sent.
package outbox

import (
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	ddb "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/stamp"
)

// Channel is a way to reach an athlete.
type Channel string

// The channels.
const (
	Email Channel = "email"
	Push  Channel = "push" // an event for the app
	None  Channel = "none"
)

// State is where a notice is in its life.
type State string

// The states.
const (
	Owed    State = "owed"
	Claimed State = "claimed"
	Sent    State = "sent"
	Refused State = "refused" // the service will not send it, however often it is asked
	Unknown State = "unknown" // it may have been sent
	NotDue  State = "none"    // there is nobody to tell
)

// UnsentMark is the value of the unsent attribute of every owed or claimed
// notice: the sparse index of the sweep.
const UnsentMark = "1"

// Notice is the item of the notices table. It holds no address and no name.
type Notice struct {
	AnalysisID string    `dynamodbav:"analysis_id"`
	ID         string    `dynamodbav:"notice"` // kind#channel
	Kind       string    `dynamodbav:"kind"`   // the end, or the revision, it tells of
	Channel    Channel   `dynamodbav:"channel"`
	State      State     `dynamodbav:"state"`
	Unsent     string    `dynamodbav:"unsent,omitempty"`
	CreatedAt  time.Time `dynamodbav:"created_at"`
	Owner      string    `dynamodbav:"owner,omitempty"`
	Until      time.Time `dynamodbav:"until,omitempty"`
	Tries      int       `dynamodbav:"tries,omitempty"`
	SentAt     time.Time `dynamodbav:"sent_at,omitempty"`
	MessageID  string    `dynamodbav:"message_id,omitempty"`
	Detail     string    `dynamodbav:"detail,omitempty"`
}

// All are the notices of an end: one by mail, or one that says that nobody had
// to be told, and one for the app if the analysis asks for it.
func All(r analysis.Row, end analysis.Status, at time.Time) []Notice {
	out := []Notice{For(r, end, at)}
	if r.Push {
		n := Notice{AnalysisID: r.AnalysisID, Kind: string(end), Channel: Push, State: Owed, Unsent: UnsentMark, CreatedAt: at}
		n.ID = n.Kind + "#" + string(n.Channel)
		out = append(out, n)
	}
	return out
}

// For is the notice of an end by mail.
func For(r analysis.Row, end analysis.Status, at time.Time) Notice {
	n := Notice{AnalysisID: r.AnalysisID, Kind: string(end), Channel: Email, State: Owed, Unsent: UnsentMark, CreatedAt: at}
	if r.Email == "" {
		n.Channel, n.State, n.Unsent = None, NotDue, ""
	}
	n.ID = n.Kind + "#" + string(n.Channel)
	return n
}

// Put is the part of a transaction that stores n; it must not exist yet.
func Put(table string, n Notice) ddb.TransactWriteItem {
	item, err := stamp.MarshalMap(n)
	if err != nil {
		panic("outbox: encode: " + err.Error()) // strings, times and a number always encode
	}
	fresh := "attribute_not_exists(notice)"
	return ddb.TransactWriteItem{Put: &ddb.Put{TableName: &table, Item: item, ConditionExpression: &fresh}}
}

// Decode reads a notice from an item.
func Decode(item map[string]ddb.AttributeValue) (Notice, error) {
	var n Notice
	if err := attributevalue.UnmarshalMap(item, &n); err != nil {
		return Notice{}, fmt.Errorf("decode a notice: %w", err)
	}
	return n, nil
}

// Key is the primary key of a notice.
func Key(analysisID, id string) map[string]ddb.AttributeValue {
	return map[string]ddb.AttributeValue{"analysis_id": text(analysisID), "notice": text(id)}
}

func text(v string) ddb.AttributeValue { return &ddb.AttributeValueMemberS{Value: v} }

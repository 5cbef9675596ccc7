// Package notice sends what athletes are told: the rows of package outbox, each at
// most once.
//
//	owed -> claimed -> sent | refused | unknown, and claimed -> owed
//
// The mail service has no idempotency key, so a mail that may have left is never
// sent again: a claim that ran out, or a request whose answer was lost, makes the
// notice unknown, which is counted and alarmed. The status API shows the end in
// any case. A claim goes back to owed only when the service said that it sent
// nothing.
package notice

import (
	ddb "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"fastbowlinglab/shared/outbox"
)

// The rows, by the names that senders know them by. A program that only writes
// them uses package outbox, which knows no mail service.
type (
	Notice  = outbox.Notice
	Channel = outbox.Channel
	State   = outbox.State
)

// Channels and states of outbox.
const (
	Email   = outbox.Email
	Push    = outbox.Push
	None    = outbox.None
	Owed    = outbox.Owed
	Claimed = outbox.Claimed
	Sent    = outbox.Sent
	Refused = outbox.Refused
	Unknown = outbox.Unknown
	NotDue  = outbox.NotDue
)

// Functions of outbox.
var (
	All    = outbox.All
	For    = outbox.For
	Put    = outbox.Put
	Decode = outbox.Decode
	Key    = outbox.Key
)

func text(v string) ddb.AttributeValue { return &ddb.AttributeValueMemberS{Value: v} }

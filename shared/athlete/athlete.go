// Package athlete keeps what an athlete chose, and the addresses that no mail
// may go to. It holds no address in clear: a suppression is a digest.
package athlete

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	ddb "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"fastbowlinglab/shared/awserr"
	"fastbowlinglab/shared/fault"
	"fastbowlinglab/shared/retry"
	"fastbowlinglab/shared/stamp"
)

// DB is what a Store needs of DynamoDB.
type DB interface {
	GetItem(context.Context, *dynamodb.GetItemInput, ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error)
	PutItem(context.Context, *dynamodb.PutItemInput, ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error)
	DeleteItem(context.Context, *dynamodb.DeleteItemInput, ...func(*dynamodb.Options)) (*dynamodb.DeleteItemOutput, error)
}

// Store keeps choices and suppressions.
type Store struct {
	DB           DB
	Athletes     string // tables
	Suppressions string
	Now          func() time.Time
	Retry        retry.Policy
}

// Channels are the ways on which an athlete lets us tell of an end. Somebody who
// never chose gets both, as far as each analysis asks for them.
type Channels struct {
	Email bool `json:"email"`
	Push  bool `json:"push"`
}

// choice is the item of the athletes table.
type choice struct {
	AthleteID string    `dynamodbav:"athlete_id"`
	NoEmail   bool      `dynamodbav:"no_email"`
	NoPush    bool      `dynamodbav:"no_push"`
	At        time.Time `dynamodbav:"at"`
	Version   int64     `dynamodbav:"version"`
}

func (c choice) channels() Channels { return Channels{Email: !c.NoEmail, Push: !c.NoPush} }

// ErrChanged says that an athlete's choice is no longer the one that was seen.
var ErrChanged = errors.New("the channels were chosen anew meanwhile")

// Channels reads an athlete's choice.
func (s Store) Channels(ctx context.Context, athleteID string) (Channels, error) {
	c, _, err := s.Chosen(ctx, athleteID)
	return c, err
}

// Chosen reads an athlete's choice and its version, 0 for one that was never made.
func (s Store) Chosen(ctx context.Context, athleteID string) (Channels, int64, error) {
	var c choice
	if err := s.get(ctx, s.Athletes, "athlete_id", athleteID, &c); err != nil {
		return Channels{}, 0, fmt.Errorf("read an athlete's channels: %w", err)
	}
	return c.channels(), c.Version, nil
}

// Choose stores a choice that was made while looking at version seen. Whoever looked
// at an older one, in another tab or by a request that was long on its way, gets
// ErrChanged: else it would bring back mail that was declined since. The same choice
// again is no other one.
func (s Store) Choose(ctx context.Context, athleteID string, c Channels, seen int64) error {
	item, err := stamp.MarshalMap(choice{athleteID, !c.Email, !c.Push, s.now(), seen + 1})
	if err != nil {
		return fmt.Errorf("encode an athlete's channels: %w", err)
	}
	in := &dynamodb.PutItemInput{TableName: &s.Athletes, Item: item,
		ReturnValuesOnConditionCheckFailure: ddb.ReturnValuesOnConditionCheckFailureAllOld}
	cond := "attribute_not_exists(version)"
	if seen != 0 {
		cond = "version = :seen"
		in.ExpressionAttributeValues = map[string]ddb.AttributeValue{":seen": &ddb.AttributeValueMemberN{Value: strconv.FormatInt(seen, 10)}}
	}
	in.ConditionExpression = &cond
	err = s.put(ctx, in)
	if awserr.KindOf(err) != awserr.Condition {
		return err
	}
	var stands choice
	if err := attributevalue.UnmarshalMap(awserr.Winner(err), &stands); err != nil {
		return fmt.Errorf("decode an athlete's channels: %w", err)
	}
	if stands.Version == seen+1 && stands.channels() == c { // ours, its answer lost, or the other tab's
		return nil
	}
	return ErrChanged
}

// declines bounds how often a decline looks again after another choice came between.
const declines = 5

// Decline takes away the channels that c has not, and gives none: it is for a choice
// that does not say which one it was made of, as apps of before there were versions
// make it. Somebody who wants no mail is heard by whatever app they have, and a tab or
// a request that is late brings nothing back. Unless c is what stands afterwards, it
// gives ErrChanged; what was declined is off all the same. An error of fault.Transient
// says that other choices kept coming between: nothing was declined.
func (s Store) Decline(ctx context.Context, athleteID string, c Channels) error {
	for range declines {
		now, version, err := s.Chosen(ctx, athleteID)
		if err != nil {
			return err
		}
		less := Channels{Email: now.Email && c.Email, Push: now.Push && c.Push}
		if less != now {
			if err := s.Choose(ctx, athleteID, less, version); errors.Is(err, ErrChanged) {
				continue
			} else if err != nil {
				return err
			}
		}
		if less != c {
			return ErrChanged
		}
		return nil
	}
	return fault.New(fault.Transient, "decline channels: another choice came between, %d times", declines)
}

// Forget removes an athlete's choice. Suppressions stay: they hold nobody's
// address, and they keep us from writing to somebody who complained.
func (s Store) Forget(ctx context.Context, athleteID string) error {
	err := s.Retry.Do(ctx, func() error {
		_, err := s.DB.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: &s.Athletes,
			Key: map[string]ddb.AttributeValue{"athlete_id": &ddb.AttributeValueMemberS{Value: athleteID}}})
		return err
	})
	if err != nil {
		return fmt.Errorf("forget an athlete's channels: %w", err)
	}
	return nil
}

// Causes of a suppression.
const (
	Bounced    = "bounce"    // for good: there is no such mailbox
	Complained = "complaint" // its owner called our mail spam
)

type suppression struct {
	Address string    `dynamodbav:"address"` // digest
	Cause   string    `dynamodbav:"cause"`
	At      time.Time `dynamodbav:"at"`
}

// Suppress keeps further mail from an address. Doing it again changes nothing
// that matters.
func (s Store) Suppress(ctx context.Context, address, cause string) error {
	item, err := stamp.MarshalMap(suppression{digest(address), cause, s.now()})
	if err != nil {
		return fmt.Errorf("encode a suppression: %w", err)
	}
	return s.put(ctx, &dynamodb.PutItemInput{TableName: &s.Suppressions, Item: item})
}

// Suppressed tells why no mail may go to an address; "" if it may.
func (s Store) Suppressed(ctx context.Context, address string) (cause string, err error) {
	var row suppression
	if err := s.get(ctx, s.Suppressions, "address", digest(address), &row); err != nil {
		return "", fmt.Errorf("read a suppression: %w", err)
	}
	return row.Cause, nil
}

// digest names an address. Mailboxes differ in case by the letter of the
// standard and nowhere in practice.
func digest(address string) string {
	sum := sha256.Sum256([]byte("address\x00" + strings.ToLower(strings.TrimSpace(address))))
	return hex.EncodeToString(sum[:])
}

func (s Store) get(ctx context.Context, table, key, value string, into any) error {
	yes := true
	var out *dynamodb.GetItemOutput
	err := s.Retry.Do(ctx, func() (err error) {
		out, err = s.DB.GetItem(ctx, &dynamodb.GetItemInput{TableName: &table, ConsistentRead: &yes,
			Key: map[string]ddb.AttributeValue{key: &ddb.AttributeValueMemberS{Value: value}}})
		return err
	})
	if err != nil || out.Item == nil {
		return err
	}
	return attributevalue.UnmarshalMap(out.Item, into)
}

func (s Store) put(ctx context.Context, in *dynamodb.PutItemInput) error {
	err := s.Retry.Do(ctx, func() error {
		_, err := s.DB.PutItem(ctx, in)
		return err
	})
	if err != nil {
		return fmt.Errorf("write %s: %w", *in.TableName, err)
	}
	return nil
}

func (s Store) now() time.Time {
	if s.Now != nil {
		return s.Now()
	}
	return time.Now()
}

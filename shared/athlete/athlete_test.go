package athlete_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	ddb "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"fastbowlinglab/shared/athlete"
	"fastbowlinglab/shared/dynamotest"
	"fastbowlinglab/shared/fault"
	"fastbowlinglab/shared/names"
)

func TestChannels(t *testing.T) {
	s := athlete.Store{DB: dynamotest.New(t), Athletes: names.Athletes.Name, Suppressions: names.Suppressions.Name}
	want := func(c athlete.Channels) {
		t.Helper()
		if got, err := s.Channels(t.Context(), "a"); err != nil || got != c {
			t.Errorf("channels %+v, %v; want %+v", got, err, c)
		}
	}
	want(athlete.Channels{Email: true, Push: true})
	for seen, c := range []athlete.Channels{{}, {Email: true}, {Push: true}} {
		for range 2 { // the second answers a request whose answer was lost
			if err := s.Choose(t.Context(), "a", c, int64(seen)); err != nil {
				t.Fatal(err)
			}
		}
		want(c)
	}
	for range 2 {
		if err := s.Forget(t.Context(), "a"); err != nil {
			t.Fatal(err)
		}
	}
	want(athlete.Channels{Email: true, Push: true})
}

// A choice is made of what was seen: a tab that shows an older one, and a request
// that was long on its way, change nothing.
func TestAChoiceIsNotTakenBackByAnOlderOne(t *testing.T) {
	s := athlete.Store{DB: dynamotest.New(t), Athletes: names.Athletes.Name}
	no := athlete.Channels{Push: true} // no mail any more
	if err := s.Choose(t.Context(), "a", no, 0); err != nil {
		t.Fatal(err)
	}
	for _, seen := range []int64{0, 2} {
		if err := s.Choose(t.Context(), "a", athlete.Channels{Email: true}, seen); !errors.Is(err, athlete.ErrChanged) {
			t.Errorf("chosen at version %d: %v, want ErrChanged", seen, err)
		}
	}
	if c, version, err := s.Chosen(t.Context(), "a"); err != nil || c != no || version != 1 {
		t.Errorf("%+v at version %d, %v; want %+v at 1", c, version, err, no)
	}
	var wg sync.WaitGroup
	var won atomic.Int64
	for i := range 20 { // tabs that all see version 1, half of them with each wish
		wg.Go(func() {
			if s.Choose(t.Context(), "a", athlete.Channels{Email: i%2 == 0}, 1) == nil {
				won.Add(1)
			}
		})
	}
	wg.Wait()
	if _, version, err := s.Chosen(t.Context(), "a"); err != nil || version != 2 || won.Load() != 10 {
		t.Errorf("version %d, %d were told that theirs stands, %v; want 2 and the 10 who wanted the same", version, won.Load(), err)
	}
}

// A choice that names no version only declines: whatever it saw, it brings nothing
// back, and what it declines is off. A repeat is told the same.
func TestADeclineGivesNothing(t *testing.T) {
	s := athlete.Store{DB: dynamotest.New(t), Athletes: names.Athletes.Name}
	all, mail, push, none := athlete.Channels{Email: true, Push: true}, athlete.Channels{Email: true}, athlete.Channels{Push: true}, athlete.Channels{}
	version := int64(0)
	for _, tc := range []struct {
		stands, asks, after athlete.Channels
		err                 error
	}{
		{all, all, all, nil}, {all, push, push, nil}, {all, mail, mail, nil}, {all, none, none, nil},
		{push, all, push, athlete.ErrChanged}, {push, mail, none, athlete.ErrChanged}, {push, push, push, nil}, {push, none, none, nil},
		{none, push, none, athlete.ErrChanged}, {none, none, none, nil},
	} {
		if err := s.Choose(t.Context(), "a", tc.stands, version); err != nil {
			t.Fatal(err)
		}
		for _, time := range []string{"first", "again"} {
			if err := s.Decline(t.Context(), "a", tc.asks); !errors.Is(err, tc.err) {
				t.Errorf("%+v of %+v, %s: %v, want %v", tc.asks, tc.stands, time, err, tc.err)
			}
			got, v, err := s.Chosen(t.Context(), "a")
			if err != nil || got != tc.after {
				t.Errorf("%+v of %+v, %s: %+v, %v; want %+v", tc.asks, tc.stands, time, got, err, tc.after)
			}
			version = v
		}
	}
}

// Old apps decline while new ones choose: each decline is heard, and its channel stays
// off but for a choice that saw it.
func TestDeclinesAtOnce(t *testing.T) {
	s := athlete.Store{DB: dynamotest.New(t), Athletes: names.Athletes.Name}
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() { // half want no mail, half no push
			if err := s.Decline(t.Context(), "a", athlete.Channels{Email: i%2 == 0, Push: i%2 == 1}); err != nil && !errors.Is(err, athlete.ErrChanged) {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if c, _, err := s.Chosen(t.Context(), "a"); err != nil || c != (athlete.Channels{}) {
		t.Errorf("%+v, %v; want none", c, err)
	}
}

// A row of the release before has no version: it is taken as the first.
func TestAChoiceWithoutAVersion(t *testing.T) {
	db := dynamotest.New(t)
	s := athlete.Store{DB: db, Athletes: names.Athletes.Name}
	name := names.Athletes.Name
	if _, err := db.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &name, Item: map[string]ddb.AttributeValue{
		"athlete_id": &ddb.AttributeValueMemberS{Value: "a"}, "no_email": &ddb.AttributeValueMemberBOOL{Value: true}}}); err != nil {
		t.Fatal(err)
	}
	if c, version, err := s.Chosen(t.Context(), "a"); err != nil || c.Email || version != 0 {
		t.Fatalf("%+v at version %d, %v", c, version, err)
	}
	if err := s.Choose(t.Context(), "a", athlete.Channels{Email: true}, 0); err != nil {
		t.Fatal(err)
	}
	if c, version, err := s.Chosen(t.Context(), "a"); err != nil || !c.Email || version != 1 {
		t.Errorf("%+v at version %d, %v", c, version, err)
	}
}

// meddling lets another choice come between each read and its write.
type meddling struct {
	athlete.DB
	other athlete.Store
}

func (m meddling) PutItem(ctx context.Context, in *dynamodb.PutItemInput, opt ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error) {
	_, version, err := m.other.Chosen(ctx, "a")
	if err == nil {
		err = m.other.Choose(ctx, "a", athlete.Channels{Email: true, Push: true}, version)
	}
	if err != nil {
		return nil, err
	}
	return m.DB.PutItem(ctx, in, opt...)
}

// Who cannot be heard is not told that they were.
func TestADeclineThatIsNotHeard(t *testing.T) {
	s := athlete.Store{DB: dynamotest.New(t), Athletes: names.Athletes.Name}
	late := s
	late.DB = meddling{s.DB, s}
	if err := late.Decline(t.Context(), "a", athlete.Channels{Push: true}); errors.Is(err, athlete.ErrChanged) || fault.NameOf(err) != fault.Transient {
		t.Errorf("%v, want an error that asks for another try", err)
	}
	if c, _, err := s.Chosen(t.Context(), "a"); err != nil || !c.Email {
		t.Errorf("%+v, %v", c, err)
	}
}

// What the runbook has an operator write by hand is a choice like any other.
func TestAChoiceByHand(t *testing.T) {
	db := dynamotest.New(t)
	s := athlete.Store{DB: db, Athletes: names.Athletes.Name}
	name, set := names.Athletes.Name, "SET no_email = :yes ADD version :one"
	for want := range int64(2) {
		if _, err := db.UpdateItem(t.Context(), &dynamodb.UpdateItemInput{TableName: &name, UpdateExpression: &set,
			Key:                       map[string]ddb.AttributeValue{"athlete_id": &ddb.AttributeValueMemberS{Value: "a"}},
			ExpressionAttributeValues: map[string]ddb.AttributeValue{":yes": &ddb.AttributeValueMemberBOOL{Value: true}, ":one": &ddb.AttributeValueMemberN{Value: "1"}}}); err != nil {
			t.Fatal(err)
		}
		if c, version, err := s.Chosen(t.Context(), "a"); err != nil || c != (athlete.Channels{Push: true}) || version != want*2+1 {
			t.Errorf("%+v at version %d, %v", c, version, err)
		}
		if err := s.Choose(t.Context(), "a", athlete.Channels{Email: true, Push: true}, want*2+1); err != nil {
			t.Error(err)
		}
	}
}

func TestSuppressions(t *testing.T) {
	db := dynamotest.New(t)
	s := athlete.Store{DB: db, Athletes: names.Athletes.Name, Suppressions: names.Suppressions.Name}
	for range 2 {
		if err := s.Suppress(t.Context(), "Zoe@Example.com", athlete.Complained); err != nil {
			t.Fatal(err)
		}
	}
	for address, want := range map[string]string{"zoe@example.com": athlete.Complained, " ZOE@example.com ": athlete.Complained, "new@example.com": ""} {
		if got, err := s.Suppressed(t.Context(), address); err != nil || got != want {
			t.Errorf("%q: %q, %v; want %q", address, got, err, want)
		}
	}
	name := names.Suppressions.Name
	out, err := db.Scan(t.Context(), &dynamodb.ScanInput{TableName: &name})
	if err != nil || len(out.Items) != 1 {
		t.Fatalf("%d rows, %v", len(out.Items), err)
	}
}

package athlete_test

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"fastbowlinglab/shared/athlete"
	"fastbowlinglab/shared/dynamotest"
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
	for _, c := range []athlete.Channels{{}, {Email: true}, {Push: true}} {
		if err := s.Choose(t.Context(), "a", c); err != nil {
			t.Fatal(err)
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

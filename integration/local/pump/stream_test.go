package pump_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	ddb "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"fastbowlinglab/integration/local/dynoxide"
	"fastbowlinglab/integration/local/endpoint"
	"fastbowlinglab/integration/local/pump"
)

// function is the Lambda function of a test: it answers by its rule and keeps
// the ids of each batch.
type function struct {
	mu      sync.Mutex
	rule    func(ids []string) (out, functionError string, err error)
	batches [][]string
	last    events.DynamoDBEvent
}

func (f *function) Invoke(_ context.Context, _ string, payload []byte) ([]byte, string, error) {
	var in events.DynamoDBEvent
	if err := json.Unmarshal(payload, &in); err != nil {
		return nil, "", err
	}
	var ids []string
	for _, r := range in.Records {
		ids = append(ids, r.Change.NewImage["id"].String())
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.batches, f.last = append(f.batches, ids), in
	out, fnErr, err := f.rule(ids)
	for i, r := range in.Records { // rules speak of ids, answers of sequence numbers
		out = strings.ReplaceAll(out, "<"+ids[i]+">", r.Change.SequenceNumber)
	}
	return []byte(out), fnErr, err
}

func (f *function) seen() [][]string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.batches)
}

func fine([]string) (string, string, error) { return `{"batchItemFailures":[]}`, "", nil }

// failing answers that some ids failed, for a number of times each.
func failing(times map[string]int) func([]string) (string, string, error) {
	return func(ids []string) (string, string, error) {
		var items []string
		for _, id := range ids {
			if times[id] > 0 {
				times[id]--
				items = append(items, `{"itemIdentifier":"<`+id+`>"}`)
			}
		}
		return `{"batchItemFailures":[` + strings.Join(items, ",") + `]}`, "", nil
	}
}

type table struct {
	t  *testing.T
	db *dynoxide.DB
	c  *dynamodb.Client
}

func newTable(t *testing.T) table {
	t.Helper()
	bin, err := filepath.Abs("../../../node_modules/@dynoxide/linux-x64/dynoxide")
	check(t, err)
	if _, err := os.Stat(bin); err != nil {
		t.Skip("dynoxide is not installed (npm install)")
	}
	db, err := dynoxide.Start(t.Context(), dynoxide.Config{Path: bin})
	check(t, err)
	t.Cleanup(db.Close)
	c := dynamodb.New(dynamodb.Options{Region: "us-east-1", BaseEndpoint: aws.String("http://" + db.Addr),
		Credentials: credentials.NewStaticCredentialsProvider("local", "local", "")})
	_, err = c.CreateTable(t.Context(), &dynamodb.CreateTableInput{TableName: aws.String("things"), BillingMode: ddb.BillingModePayPerRequest,
		AttributeDefinitions: []ddb.AttributeDefinition{{AttributeName: aws.String("id"), AttributeType: ddb.ScalarAttributeTypeS}},
		KeySchema:            []ddb.KeySchemaElement{{AttributeName: aws.String("id"), KeyType: ddb.KeyTypeHash}},
		StreamSpecification:  &ddb.StreamSpecification{StreamEnabled: aws.Bool(true), StreamViewType: ddb.StreamViewTypeNewImage}})
	check(t, err)
	return table{t, db, c}
}

func (tb table) put(ids ...string) {
	tb.t.Helper()
	for _, id := range ids {
		_, err := tb.c.PutItem(tb.t.Context(), &dynamodb.PutItemInput{TableName: aws.String("things"),
			Item: map[string]ddb.AttributeValue{"id": &ddb.AttributeValueMemberS{Value: id}, "n": &ddb.AttributeValueMemberN{Value: "1.50"},
				"list": &ddb.AttributeValueMemberL{Value: []ddb.AttributeValue{&ddb.AttributeValueMemberBOOL{Value: true}}}}})
		check(tb.t, err)
	}
}

// pump starts a pump; stop ends it and waits.
func (tb table) pump(f *function, change ...func(*pump.Stream)) (stop func()) {
	s := pump.Stream{Table: "things", Attempts: 3, Backoff: time.Millisecond, Common: pump.Common{Function: "fn", Invoker: f,
		Service: tb.db, Region: "us-east-1", Poll: time.Millisecond, Log: slog.New(slog.DiscardHandler)}}
	for _, c := range change {
		c(&s)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); s.Run(ctx) }()
	stop = func() { cancel(); <-done }
	tb.t.Cleanup(stop)
	return stop
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func waitFor(t *testing.T, what string, ok func() bool) {
	t.Helper()
	deadline := time.After(10 * time.Second)
	for !ok() {
		select {
		case <-deadline:
			t.Fatalf("waited in vain for %s", what)
		case <-time.After(time.Millisecond):
		}
	}
}

func flat(bs [][]string) []string { return slices.Concat(bs...) }

func has(f *function, id string) func() bool {
	return func() bool { return slices.Contains(flat(f.seen()), id) }
}

func TestRecordsArriveInOrderInTheShapeOfLambda(t *testing.T) {
	tb := newTable(t)
	var want []string
	for i := range 25 {
		want = append(want, fmt.Sprintf("r%02d", i))
	}
	tb.put(want...)
	f := &function{rule: fine}
	tb.pump(f)
	waitFor(t, "the last", has(f, "r24"))
	if got := flat(f.seen()); !slices.Equal(got, want) {
		t.Errorf("order %v", got)
	}
	for _, b := range f.seen() {
		if len(b) > 10 {
			t.Errorf("a batch of %d", len(b))
		}
	}
	r := f.last.Records[0]
	if r.EventSource != "aws:dynamodb" || r.EventName != "INSERT" || !strings.Contains(r.EventSourceArn, "things/stream/") ||
		r.Change.StreamViewType != "NEW_IMAGE" || r.Change.NewImage["n"].Number() != "1.5" && r.Change.NewImage["n"].Number() != "1.50" ||
		!r.Change.NewImage["list"].List()[0].Boolean() || r.Change.Keys["id"].String() == "" {
		t.Errorf("record %+v", r)
	}
}

func TestAPartialFailureComesAgainFromTheFirstThatFailed(t *testing.T) {
	tb := newTable(t)
	tb.put("a", "b", "c", "d")
	f := &function{rule: failing(map[string]int{"c": 1})}
	tb.pump(f)
	waitFor(t, "the second try", func() bool { return len(f.seen()) >= 2 })
	if got := f.seen(); !slices.Equal(got[0], []string{"a", "b", "c", "d"}) || !slices.Equal(got[1], []string{"c", "d"}) {
		t.Errorf("batches %v", got)
	}
}

func TestAFailedFunctionGetsTheWholeBatchAgain(t *testing.T) {
	for name, bad := range map[string]struct {
		out, fnErr string
		err        error
	}{
		"FunctionError":  {`{"errorType":"Transient"}`, "Unhandled", nil},
		"Throttled":      {"", "", errors.New("TooManyRequestsException")},
		"UnknownItem":    {`{"batchItemFailures":[{"itemIdentifier":"nobody's"}]}`, "", nil},
		"EmptyItem":      {`{"batchItemFailures":[{"itemIdentifier":""}]}`, "", nil},
		"BrokenResponse": {`{"batchItemFailures":`, "", nil},
	} {
		t.Run(name, func(t *testing.T) {
			tb := newTable(t)
			tb.put("a", "b")
			n := 0
			f := &function{rule: func(ids []string) (string, string, error) {
				if n++; n == 1 {
					return bad.out, bad.fnErr, bad.err
				}
				return fine(ids)
			}}
			tb.pump(f)
			waitFor(t, "the second try", func() bool { return len(f.seen()) >= 2 })
			if got := f.seen(); !slices.Equal(got[1], []string{"a", "b"}) {
				t.Errorf("batches %v", got)
			}
		})
	}
}

func TestAPoisonRecordIsDroppedAndTheOthersGoOn(t *testing.T) {
	tb := newTable(t)
	tb.put("a", "poison", "c")
	f := &function{rule: failing(map[string]int{"poison": 1000})}
	var log bytes.Buffer
	stop := tb.pump(f, func(s *pump.Stream) { s.Log = slog.New(slog.NewJSONHandler(&log, nil)) })
	waitFor(t, "what comes after", func() bool {
		b := f.seen()
		return len(b) > 1 && slices.Equal(b[len(b)-1], []string{"c"})
	})
	stop()
	n := 0
	for _, id := range flat(f.seen()) {
		if id == "poison" {
			n++
		}
	}
	// Its first try is the whole batch's; then Attempts more on its own account.
	if n < 3 || n > 4 {
		t.Errorf("the poison record was tried %d times, want 3 or 4", n)
	}
	if !strings.Contains(log.String(), "stream record dropped") {
		t.Error("dropped in silence")
	}
	if strings.Contains(log.String(), "NewImage") {
		t.Error("the log holds the record")
	}
}

func TestItGoesOnWhereItWas(t *testing.T) {
	tb := newTable(t)
	file := filepath.Join(t.TempDir(), "positions", "fn.json")
	keep := func(s *pump.Stream) { s.Positions = file }
	tb.put("a", "b")
	f := &function{rule: fine}
	stop := tb.pump(f, keep)
	waitFor(t, "b", has(f, "b"))
	stop()
	tb.put("c")
	g := &function{rule: fine}
	tb.pump(g, keep)
	waitFor(t, "c", has(g, "c"))
	if got := flat(g.seen()); !slices.Equal(got, []string{"c"}) {
		t.Errorf("after a restart it read %v", got)
	}
	for _, content := range []string{"torn", "null", `{"shard":{}}`} {
		check(t, os.WriteFile(file, []byte(content), 0o644))
		h := &function{rule: fine}
		stop := tb.pump(h, keep)
		waitFor(t, "all of it", has(h, "c"))
		stop()
		if got := flat(h.seen()); !slices.Equal(got, []string{"a", "b", "c"}) {
			t.Errorf("with %q for its place it read %v: nothing may be skipped", content, got)
		}
	}
}

func TestDeliberateDuplicates(t *testing.T) {
	tb := newTable(t)
	tb.put("a")
	f := &function{rule: fine}
	tb.pump(f, func(s *pump.Stream) { s.Duplicate = func() bool { return true } })
	waitFor(t, "it, twice", func() bool { return len(f.seen()) == 2 })
	tb.put("b")
	waitFor(t, "the next", has(f, "b"))
}

// The stream breaks off for a while: errors of the service are waited out.
func TestAnOutageIsWaitedOut(t *testing.T) {
	tb := newTable(t)
	var mu sync.Mutex
	down := 5
	flaky := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		bad := down > 0
		down--
		mu.Unlock()
		if bad {
			endpoint.WriteError(w, endpoint.Parse(r), http.StatusInternalServerError, "InternalServerError", "down")
			return
		}
		tb.db.ServeHTTP(w, r)
	})
	f := &function{rule: fine}
	tb.put("a")
	tb.pump(f, func(s *pump.Stream) { s.Service = flaky })
	waitFor(t, "a", has(f, "a"))
}

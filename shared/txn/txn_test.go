package txn_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	ddb "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"fastbowlinglab/shared/awserr"
	"fastbowlinglab/shared/retry"
	"fastbowlinglab/shared/txn"
)

// script answers with one error after another, then with success.
type script struct {
	errs   []error
	tokens map[string]bool
	calls  int
}

func (s *script) TransactWriteItems(_ context.Context, in *dynamodb.TransactWriteItemsInput, _ ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error) {
	if s.tokens == nil {
		s.tokens = map[string]bool{}
	}
	s.tokens[*in.ClientRequestToken] = true
	if s.calls++; s.calls <= len(s.errs) {
		return nil, s.errs[s.calls-1]
	}
	return &dynamodb.TransactWriteItemsOutput{}, nil
}

func cancelled(codes ...string) error {
	e := &ddb.TransactionCanceledException{}
	for _, c := range codes {
		r := ddb.CancellationReason{Code: &c}
		if c == "ConditionalCheckFailed" {
			r.Item = map[string]ddb.AttributeValue{"k": &ddb.AttributeValueMemberS{Value: "stood"}}
		}
		e.CancellationReasons = append(e.CancellationReasons, r)
	}
	return e
}

var quick = retry.Policy{Tries: 4, Base: time.Nanosecond}

// Field case 10: reasons are told apart.
func TestWrite(t *testing.T) {
	const none, cond, conflict, throttle, bad = "None", "ConditionalCheckFailed", "TransactionConflict", "ThrottlingError", "ValidationError"
	for _, tc := range []struct {
		name  string
		errs  []error
		calls int
		kind  awserr.Kind
		guard bool
	}{
		{"success", nil, 1, awserr.None, false},
		{"conflict twice", []error{cancelled(none, conflict), cancelled(conflict, none)}, 3, awserr.None, false},
		{"throttle", []error{cancelled(throttle, none)}, 2, awserr.None, false},
		{"no answer", []error{errors.New("reset")}, 2, awserr.None, false},
		{"guard", []error{cancelled(cond, none)}, 1, awserr.Condition, true},
		{"guard beside a conflict decides", []error{cancelled(cond, conflict)}, 1, awserr.Mixed, true},
		{"other condition", []error{cancelled(none, cond)}, 1, awserr.Condition, false},
		{"other condition beside a conflict is asked again", []error{cancelled(conflict, cond)}, 2, awserr.None, false},
		{"invalid", []error{cancelled(bad, none)}, 1, awserr.Invalid, false},
		{"conflict for ever is bounded", []error{cancelled(conflict), cancelled(conflict), cancelled(conflict), cancelled(conflict), nil}, 4, awserr.Conflict, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := &script{errs: tc.errs}
			err := txn.Write(t.Context(), s, quick, nil)
			old, stood := txn.Guard(err)
			if awserr.KindOf(err) != tc.kind || s.calls != tc.calls || stood != tc.guard || (old != nil) != tc.guard {
				t.Errorf("%v after %d calls, guard %t %v; want %s after %d, guard %t", err, s.calls, stood, old, tc.kind, tc.calls, tc.guard)
			}
			if len(s.tokens) != 1 || s.tokens[""] {
				t.Errorf("client tokens %v, want one for all tries", s.tokens)
			}
			s.errs = nil
			if err := txn.Write(t.Context(), s, quick, nil); err != nil || len(s.tokens) != 2 {
				t.Errorf("%v, client tokens %v; want another for another transaction", err, s.tokens)
			}
		})
	}
}

// The payloads of the field cases mean what this package takes them for.
func TestFieldCasePayloads(t *testing.T) {
	for file, want := range map[string]awserr.Kind{
		"d2_txn_conflict.json": awserr.Conflict, "d3_txn_conflict_and_condition.json": awserr.Mixed, "d4_txn_throttle.json": awserr.Throttle,
	} {
		b, err := os.ReadFile(filepath.Join("..", "..", "..", "shared", "cases", "payloads", file))
		if err != nil {
			t.Skipf("field cases are not here: %v", err)
		}
		var p struct {
			CancellationReasons []ddb.CancellationReason
		}
		if err := json.Unmarshal(b, &p); err != nil {
			t.Fatal(err)
		}
		if got := awserr.KindOf(&ddb.TransactionCanceledException{CancellationReasons: p.CancellationReasons}); got != want {
			t.Errorf("%s is %s, want %s", file, got, want)
		}
	}
}

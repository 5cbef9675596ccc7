// Package awserr is the one place where the error shapes of AWS are read. A
// caller asks what an error means, never what it is called.
package awserr

import (
	"errors"
	"net"
	"net/http"
	"strings"

	ddb "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// Kind is what an AWS error means to a caller.
type Kind int

// The kinds.
const (
	None      Kind = iota
	Condition      // a condition was not met: somebody else was first
	Conflict       // another transaction is at work on the same item: try again
	Throttle       // too many requests: try again later
	NotFound       // the resource does not exist
	Invalid        // the request is wrong: trying again cannot help
	Mixed          // a cancelled transaction with a condition and a conflict or throttle: undecided, read before deciding
	Other          // anything else; the request may or may not have been carried out
)

func (k Kind) String() string {
	return [...]string{"none", "condition", "conflict", "throttle", "not found", "invalid", "mixed", "other"}[k]
}

// Retryable reports whether the same request may be sent again: nothing was
// decided against it.
func (k Kind) Retryable() bool { return k == Conflict || k == Throttle || k == Mixed || k == Other }

// codes maps AWS error codes; spelling and case differ between services, so
// codes are compared in lower case and without the "Exception" ending.
var codes = map[string]Kind{
	"conditionalcheckfailed":          Condition,
	"preconditionfailed":              Condition,
	"transactionconflict":             Conflict,
	"transactioninprogress":           Conflict,
	"conditionalrequestconflict":      Conflict,
	"executionalreadyexists":          Condition,
	"throttling":                      Throttle,
	"throttled":                       Throttle,
	"throttlingerror":                 Throttle,
	"toomanyrequests":                 Throttle,
	"requestlimitexceeded":            Throttle,
	"provisionedthroughputexceeded":   Throttle,
	"requestthrottled":                Throttle, // SQS
	"slowdown":                        Throttle,
	"serviceunavailable":              Throttle,
	"resourcenotfound":                NotFound,
	"nosuchkey":                       NotFound,
	"nosuchversion":                   NotFound,
	"notfound":                        NotFound,
	"parameternotfound":               NotFound,
	"taskdoesnotexist":                NotFound,
	"tasktimedout":                    NotFound,
	"executiondoesnotexist":           NotFound,
	"validation":                      Invalid,
	"validationerror":                 Invalid,
	"itemcollectionsizelimitexceeded": Invalid,
	"invalidparametervalue":           Invalid,
	"invalidtoken":                    Invalid,
	"accessdenied":                    Invalid,
	"idempotentparametermismatch":     Invalid,
	"invalidinput":                    Invalid,
	"invalidoutput":                   Invalid,
	"invalidrange":                    Invalid,
	"servicenotfound":                 NotFound,
	"clusternotfound":                 NotFound,
	"messagerejected":                 Invalid,
}

func kindOfCode(code string) Kind {
	c := strings.TrimSuffix(strings.ToLower(code), "exception")
	if k, ok := codes[c]; ok {
		return k
	}
	return Other
}

// KindOf says what err means; None for nil.
func KindOf(err error) Kind {
	if err == nil {
		return None
	}
	var tx *ddb.TransactionCanceledException
	if errors.As(err, &tx) {
		return kindOfReasons(tx.CancellationReasons)
	}
	var api smithy.APIError
	if errors.As(err, &api) {
		k := kindOfCode(api.ErrorCode())
		if k == Other && Refused(err) { // a code nobody listed, with the status of a wrong request
			return Invalid
		}
		return k
	}
	return Other
}

// Refused reports whether the service itself answered that it did not carry the
// request out: a status of 400 to 499. After any other error of a request that
// was sent, nobody knows.
func Refused(err error) bool {
	var resp *smithyhttp.ResponseError
	if !errors.As(err, &resp) {
		return false
	}
	code := resp.HTTPStatusCode()
	return code >= 400 && code <= 499 && code != http.StatusRequestTimeout
}

// NotSent reports whether err shows that the request never reached the service:
// it was refused, or no connection could be made.
func NotSent(err error) bool {
	var op *net.OpError
	return Refused(err) || errors.As(err, &op) && op.Op == "dial"
}

// kindOfReasons folds the reasons of a cancelled transaction into one kind.
func kindOfReasons(rs []ddb.CancellationReason) Kind {
	var cond, retry bool
	kind := Other
	for _, r := range rs {
		if r.Code == nil || *r.Code == "" || *r.Code == "None" {
			continue
		}
		k := kindOfCode(*r.Code)
		switch k {
		case Condition:
			cond = true
		case Invalid:
			return Invalid
		default:
			retry = true
		}
		kind = k
	}
	if cond && retry {
		return Mixed
	}
	return kind
}

// Reason is one operation's part in a cancelled transaction.
type Reason struct {
	Kind Kind
	Item map[string]ddb.AttributeValue // the item as it was, when ALL_OLD was asked for
}

// Reasons gives the parts of a cancelled transaction in the order of its
// operations, or nil when err is not one.
func Reasons(err error) []Reason {
	var tx *ddb.TransactionCanceledException
	if !errors.As(err, &tx) {
		return nil
	}
	out := make([]Reason, len(tx.CancellationReasons))
	for i, r := range tx.CancellationReasons {
		out[i].Item = r.Item
		if r.Code != nil && *r.Code != "" && *r.Code != "None" {
			out[i].Kind = kindOfCode(*r.Code)
		}
	}
	return out
}

// Is reports whether err carries the given AWS error code.
func Is(err error, code string) bool {
	var api smithy.APIError
	return errors.As(err, &api) && api.ErrorCode() == code
}

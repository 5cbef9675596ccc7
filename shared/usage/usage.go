// Package usage keeps what every model call consumed, and prices it when it is
// read: a corrected price re-prices history.
package usage

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"fastbowlinglab/shared/retry"
	"fastbowlinglab/shared/stamp"
)

// Tokens of one call by class; nil means that the provider did not say, which
// is not 0. The classes do not overlap: Input is without what was read from or
// written to the cache.
type Tokens struct {
	Input      *int64 `dynamodbav:"input_tokens" json:"input"`
	Output     *int64 `dynamodbav:"output_tokens" json:"output"`
	CacheRead  *int64 `dynamodbav:"cache_read_tokens" json:"cache_read"`
	CacheWrite *int64 `dynamodbav:"cache_write_tokens" json:"cache_write"`
}

// Count is a known number of tokens.
func Count(n int64) *int64 { return &n }

// None is what a call consumed that is known to have done nothing.
func None() Tokens {
	return Tokens{Input: Count(0), Output: Count(0), CacheRead: Count(0), CacheWrite: Count(0)}
}

// Call is one call of a model, whatever came of it.
type Call struct {
	AnalysisID    string        `dynamodbav:"analysis_id"`
	Attempt       int           `dynamodbav:"attempt"`
	Task          string        `dynamodbav:"task"`  // precheck, findings, coaching
	Fence         int64         `dynamodbav:"fence"` // of the effect's claim: which try this was
	Provider      string        `dynamodbav:"provider"`
	Model         string        `dynamodbav:"model"` // id as sent to the provider
	PromptVersion string        `dynamodbav:"prompt_version"`
	At            time.Time     `dynamodbav:"at"` // when it was sent; prices go by this
	Duration      time.Duration `dynamodbav:"duration_ns"`
	Outcome       string        `dynamodbav:"outcome"`             // "sent", "ok" or the name of an error
	Detail        string        `dynamodbav:"detail,omitempty"`    // a code that says more of the outcome
	Throttled     int           `dynamodbav:"throttled,omitempty"` // requests that the provider throttled meanwhile
	Tokens
}

// Putter is what recording needs of DynamoDB.
type Putter interface {
	PutItem(context.Context, *dynamodb.PutItemInput, ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error)
}

// Record stores a call. Its key is analysis, task, attempt and fence, so that
// recording it again replaces it: record it as "sent", tokens unknown, before
// the request leaves, and again when the answer is there. A call whose answer
// never came is then still counted.
func Record(ctx context.Context, db Putter, table string, c Call) error {
	if c.AnalysisID == "" || c.Task == "" || c.Model == "" || c.At.IsZero() {
		return fmt.Errorf("record usage: analysis, task, model and time are needed, got %q %q %q %s",
			c.AnalysisID, c.Task, c.Model, c.At)
	}
	item, err := stamp.MarshalMap(row{c, callKey(c), c.At.UTC().Format(time.DateOnly)})
	if err != nil {
		return fmt.Errorf("record usage of %s %s: %w", c.AnalysisID, c.Task, err)
	}
	err = retry.Policy{}.Do(ctx, func() error {
		_, err := db.PutItem(ctx, &dynamodb.PutItemInput{TableName: &table, Item: item})
		return err
	})
	if err != nil {
		return fmt.Errorf("record usage of %s %s: %w", c.AnalysisID, c.Task, err)
	}
	return nil
}

// row is a Call as stored: with its sort key and the day of the by-day index.
type row struct {
	Call
	Key string `dynamodbav:"call"`
	Day string `dynamodbav:"day"`
}

func callKey(c Call) string { return fmt.Sprintf("%s#%d#%d", c.Task, c.Attempt, c.Fence) }

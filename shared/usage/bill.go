package usage

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	ddb "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/paging"
	"fastbowlinglab/shared/retry"
)

// Querier is what reading needs of DynamoDB.
type Querier interface {
	Query(context.Context, *dynamodb.QueryInput, ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error)
}

// Store reads calls and prices.
type Store struct {
	DB     Querier
	Usage  string // tables
	Prices string
	Retry  retry.Policy
}

// maxCalls bounds a bill.
const maxCalls = 10_000

// Bill is a list of calls with what they cost. TotalUSD adds up the lines whose
// cost is known; Unpriced counts the others, so that the total is complete only
// when it is 0. Groups add the lines up by task and model. More is set when there
// are calls beyond the limit.
type Bill struct {
	Lines    []Line  `json:"calls"`
	Groups   []Group `json:"groups"`
	TotalUSD string  `json:"total_usd"`
	Unpriced int     `json:"unpriced"`
	More     bool    `json:"more,omitempty"`
	NoPrice  int     `json:"-"` // those of Unpriced that a row in the table of prices would price
}

// Group is the sum over the calls of one task by one model, as it was called.
// Tokens of a class are null if those of one call are not known.
type Group struct {
	Task     string `json:"task"`
	Model    string `json:"model"`
	Calls    int    `json:"calls"`
	Tokens   Tokens `json:"tokens"`
	TotalUSD string `json:"total_usd"`
	Unpriced int    `json:"unpriced"`
}

// Line is one call. CostUSD is a decimal string, null if the cost is not known;
// Error then says why.
type Line struct {
	AnalysisID    string    `json:"analysis_id"`
	Attempt       int       `json:"attempt"`
	Task          string    `json:"task"`
	Try           int64     `json:"try"`
	Provider      string    `json:"provider"`
	Model         string    `json:"model"`
	PromptVersion string    `json:"prompt_version"`
	At            time.Time `json:"at"`
	DurationMS    int64     `json:"duration_ms"`
	Outcome       string    `json:"outcome"`
	Detail        string    `json:"detail,omitempty"`
	Throttled     int       `json:"throttled,omitempty"`
	Tokens        Tokens    `json:"tokens"`
	CostUSD       *string   `json:"cost_usd"`
	Error         string    `json:"error,omitempty"`
}

// Query says which calls: those of an analysis or, if that is "", of a UTC day
// (YYYY-MM-DD); of these, "" for all, one task's, and one model's, in whichever
// region.
type Query struct{ AnalysisID, Day, Task, Model string }

func (q Query) takes(c Call) bool {
	return (q.Task == "" || q.Task == c.Task) && (q.Model == "" || baseModel(q.Model) == baseModel(c.Model))
}

// Bill prices the calls of an analysis or, if analysisID is "", of a day.
func (s Store) Bill(ctx context.Context, analysisID, day string) (Bill, error) {
	return s.Query(ctx, Query{AnalysisID: analysisID, Day: day})
}

// Query prices calls, whatever came of them, at the prices of their days as
// known now.
func (s Store) Query(ctx context.Context, q Query) (Bill, error) {
	calls, more, err := s.calls(ctx, q.AnalysisID, q.Day)
	if err != nil {
		return Bill{}, err
	}
	calls = slices.DeleteFunc(calls, func(c Call) bool { return !q.takes(c) })
	slices.SortStableFunc(calls, func(a, b Call) int { return a.At.Compare(b.At) })
	b := Bill{Lines: make([]Line, 0, len(calls)), Groups: []Group{}, More: more}
	var all sum
	groups := map[[2]string]*sum{}
	prices := map[string][]Price{}
	for _, c := range calls {
		l := Line{AnalysisID: c.AnalysisID, Attempt: c.Attempt, Task: c.Task, Try: c.Fence, Provider: c.Provider, Model: c.Model,
			PromptVersion: c.PromptVersion, At: c.At, DurationMS: c.Duration.Milliseconds(), Outcome: c.Outcome, Detail: c.Detail,
			Throttled: c.Throttled, Tokens: c.Tokens}
		model := baseModel(c.Model)
		if _, known := prices[model]; !known {
			if prices[model], err = s.prices(ctx, model); err != nil {
				return Bill{}, err
			}
		}
		cost, err := costOf(c, prices[model])
		if err != nil {
			l.Error = err.Error()
			if errors.Is(err, errNoPrice) {
				b.NoPrice++
			}
		} else {
			d := Dollars(cost)
			l.CostUSD = &d
		}
		key := [2]string{c.Task, c.Model}
		if groups[key] == nil {
			groups[key] = &sum{}
		}
		all.add(c.Tokens, cost)
		groups[key].add(c.Tokens, cost)
		b.Lines = append(b.Lines, l)
	}
	b.TotalUSD, b.Unpriced = all.total(), all.unpriced
	for _, k := range slices.SortedFunc(maps.Keys(groups), func(a, b [2]string) int { return slices.Compare(a[:], b[:]) }) {
		g := groups[k]
		b.Groups = append(b.Groups, Group{k[0], k[1], g.calls, g.tokens, g.total(), g.unpriced})
	}
	return b, nil
}

func costOf(c Call, ps []Price) (*big.Rat, error) {
	p, ok := priceAt(ps, c.At)
	if !ok {
		return nil, fmt.Errorf("%s %w on %s", baseModel(c.Model), errNoPrice, c.At.UTC().Format(time.DateOnly))
	}
	return p.Cost(c.Tokens)
}

func (s Store) calls(ctx context.Context, analysisID, day string) (calls []Call, more bool, err error) {
	in := &dynamodb.QueryInput{TableName: &s.Usage}
	cond, key, index := "analysis_id = :key", analysisID, names.IndexByDay
	if analysisID == "" {
		cond, key = "#day = :key", day
		in.IndexName, in.ExpressionAttributeNames = &index, map[string]string{"#day": "day"}
	}
	in.KeyConditionExpression = &cond
	in.ExpressionAttributeValues = map[string]ddb.AttributeValue{":key": &ddb.AttributeValueMemberS{Value: key}}
	for item, err := range paging.Query(ctx, s.DB, s.Retry, in) {
		if err != nil {
			return nil, false, fmt.Errorf("read the model calls of %s: %w", key, err)
		}
		if len(calls) == maxCalls {
			return calls, true, nil
		}
		var c Call
		if err := attributevalue.UnmarshalMap(item, &c); err != nil {
			return nil, false, fmt.Errorf("decode a model call of %s: %w", key, err)
		}
		calls = append(calls, c)
	}
	return calls, false, nil
}

// prices gives every price of a model, the table's over the shipped.
func (s Store) prices(ctx context.Context, model string) ([]Price, error) {
	cond := "model = :model"
	in := &dynamodb.QueryInput{TableName: &s.Prices, KeyConditionExpression: &cond,
		ExpressionAttributeValues: map[string]ddb.AttributeValue{":model": &ddb.AttributeValueMemberS{Value: model}}}
	var table []Price
	for item, err := range paging.Query(ctx, s.DB, s.Retry, in) {
		if err != nil {
			return nil, fmt.Errorf("read the prices of %s: %w", model, err)
		}
		var p Price
		if err := attributevalue.UnmarshalMap(item, &p); err != nil {
			return nil, fmt.Errorf("decode the prices of %s: %w", model, err)
		}
		table = append(table, p)
	}
	var shipped []Price
	for _, p := range Shipped() {
		if p.Model == model {
			shipped = append(shipped, p)
		}
	}
	return merge(shipped, table), nil
}

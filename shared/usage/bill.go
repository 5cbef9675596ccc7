package usage

import (
	"context"
	"fmt"
	"math/big"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	ddb "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"fastbowlinglab/shared/names"
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
// when it is 0. More is set when there are calls beyond the limit.
type Bill struct {
	Lines    []Line `json:"calls"`
	TotalUSD string `json:"total_usd"`
	Unpriced int    `json:"unpriced"`
	More     bool   `json:"more,omitempty"`
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
	Tokens        Tokens    `json:"tokens"`
	CostUSD       *string   `json:"cost_usd"`
	Error         string    `json:"error,omitempty"`
}

// Bill prices the calls of an analysis or, if analysisID is "", of a UTC day
// (YYYY-MM-DD), whatever came of them.
func (s Store) Bill(ctx context.Context, analysisID, day string) (Bill, error) {
	calls, more, err := s.calls(ctx, analysisID, day)
	if err != nil {
		return Bill{}, err
	}
	slices.SortStableFunc(calls, func(a, b Call) int { return a.At.Compare(b.At) })
	b := Bill{Lines: make([]Line, 0, len(calls)), More: more}
	total := new(big.Rat)
	prices := map[string][]Price{}
	for _, c := range calls {
		l := Line{AnalysisID: c.AnalysisID, Attempt: c.Attempt, Task: c.Task, Try: c.Fence, Provider: c.Provider, Model: c.Model,
			PromptVersion: c.PromptVersion, At: c.At, DurationMS: c.Duration.Milliseconds(), Outcome: c.Outcome, Tokens: c.Tokens}
		model := baseModel(c.Model)
		if _, known := prices[model]; !known {
			if prices[model], err = s.prices(ctx, model); err != nil {
				return Bill{}, err
			}
		}
		cost, err := costOf(c, prices[model])
		if err != nil {
			l.Error = err.Error()
			b.Unpriced++
		} else {
			d := Dollars(cost)
			l.CostUSD = &d
			total.Add(total, cost)
		}
		b.Lines = append(b.Lines, l)
	}
	b.TotalUSD = Dollars(total)
	return b, nil
}

func costOf(c Call, ps []Price) (*big.Rat, error) {
	p, ok := priceAt(ps, c.At)
	if !ok {
		return nil, fmt.Errorf("%s has no price on %s", baseModel(c.Model), c.At.UTC().Format(time.DateOnly))
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
	for {
		out, err := s.query(ctx, in)
		if err != nil {
			return nil, false, fmt.Errorf("read the model calls of %s: %w", key, err)
		}
		for _, it := range out.Items {
			var c Call
			if err := attributevalue.UnmarshalMap(it, &c); err != nil {
				return nil, false, fmt.Errorf("decode a model call of %s: %w", key, err)
			}
			calls = append(calls, c)
		}
		if in.ExclusiveStartKey = out.LastEvaluatedKey; in.ExclusiveStartKey == nil {
			return calls, false, nil
		}
		if len(calls) >= maxCalls {
			return calls, true, nil
		}
	}
}

// prices gives every price of a model, the table's over the shipped.
func (s Store) prices(ctx context.Context, model string) ([]Price, error) {
	cond := "model = :model"
	out, err := s.query(ctx, &dynamodb.QueryInput{TableName: &s.Prices, KeyConditionExpression: &cond,
		ExpressionAttributeValues: map[string]ddb.AttributeValue{":model": &ddb.AttributeValueMemberS{Value: model}}})
	if err != nil {
		return nil, fmt.Errorf("read the prices of %s: %w", model, err)
	}
	var table []Price
	if err := attributevalue.UnmarshalListOfMaps(out.Items, &table); err != nil {
		return nil, fmt.Errorf("decode the prices of %s: %w", model, err)
	}
	var shipped []Price
	for _, p := range Shipped() {
		if p.Model == model {
			shipped = append(shipped, p)
		}
	}
	return merge(shipped, table), nil
}

func (s Store) query(ctx context.Context, in *dynamodb.QueryInput) (out *dynamodb.QueryOutput, err error) {
	err = s.Retry.Do(ctx, func() error {
		out, err = s.DB.Query(ctx, in)
		return err
	})
	return out, err
}

package main

import (
	"context"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"fastbowlinglab/shared/posejob"
)

// unfenced is a database in which whoever has once claimed a job may write on: the
// fence is taken out of the condition of an owner's writes.
type unfenced struct{ posejob.DB }

const fenced, open = "#attempt = :attempt AND #fence = :fence AND #state = :claimed", "#attempt = :attempt AND #state = :claimed"

func (u unfenced) UpdateItem(ctx context.Context, in *dynamodb.UpdateItemInput, opt ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error) {
	if c := in.ConditionExpression; c != nil && strings.Contains(*c, fenced) {
		out := *in
		cond := strings.Replace(*c, fenced, open, 1)
		out.ConditionExpression = &cond
		out.ExpressionAttributeNames = without(in.ExpressionAttributeNames, "#fence", cond, *in.UpdateExpression)
		out.ExpressionAttributeValues = without(in.ExpressionAttributeValues, ":fence", cond, *in.UpdateExpression)
		in = &out
	}
	return u.DB.UpdateItem(ctx, in, opt...)
}

// without drops a placeholder that no expression uses any more, which the database
// would refuse.
func without[V any](all map[string]V, placeholder string, expressions ...string) map[string]V {
	kept := map[string]V{}
	used := strings.Contains(strings.Join(expressions, " "), placeholder)
	for k, v := range all {
		if k != placeholder || used {
			kept[k] = v
		}
	}
	return kept
}

// Package fleet starts and stops the service of workers so that none is paid for
// without work and no work is left without a worker.
//
// Starting and stopping race: the reconciler sees nothing to do, a run begins
// and finds a worker running, and the reconciler stops it. The fleet's sequence
// number settles it. Wake raises it before it looks at the service; ScaleIn reads
// it before it looks for work and again, strongly, after it has stopped the
// service. If it has changed, or work has appeared, the service is started
// again. Whichever order the two come in, one of them sees the other.
package fleet

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	ddb "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/ecs"

	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/retry"
)

// DB is what a Fleet needs of DynamoDB.
type DB interface {
	GetItem(context.Context, *dynamodb.GetItemInput, ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error)
	UpdateItem(context.Context, *dynamodb.UpdateItemInput, ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error)
}

// Services is what a Fleet needs of ECS.
type Services interface {
	DescribeServices(context.Context, *ecs.DescribeServicesInput, ...func(*ecs.Options)) (*ecs.DescribeServicesOutput, error)
	UpdateService(context.Context, *ecs.UpdateServiceInput, ...func(*ecs.Options)) (*ecs.UpdateServiceOutput, error)
}

// Fleet is the service of workers.
type Fleet struct {
	DB      DB
	ECS     Services
	Effects string // table
	Cluster string
	Service string
	Retry   retry.Policy
}

// Wake raises the sequence number and asks for one worker if none is wanted. A
// larger fleet is left as it is. It returns the number it raised to.
func (f Fleet) Wake(ctx context.Context) (int64, error) {
	var out *dynamodb.UpdateItemOutput
	add := "ADD seq :one"
	err := f.Retry.Do(ctx, func() (err error) { // once more than needed does no harm
		out, err = f.DB.UpdateItem(ctx, &dynamodb.UpdateItemInput{
			TableName: &f.Effects, Key: key(), UpdateExpression: &add, ReturnValues: ddb.ReturnValueUpdatedNew,
			ExpressionAttributeValues: map[string]ddb.AttributeValue{":one": number(1)},
		})
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("raise the fleet's sequence number: %w", err)
	}
	var st state
	if err := attributevalue.UnmarshalMap(out.Attributes, &st); err != nil {
		return 0, fmt.Errorf("decode the fleet's sequence number: %w", err)
	}
	return st.Seq, f.atLeastOne(ctx)
}

func (f Fleet) atLeastOne(ctx context.Context) error {
	n, err := f.desired(ctx)
	if err != nil || n > 0 {
		return err
	}
	return f.set(ctx, 1)
}

// Work tells whether there is anything for a worker to do, or may be soon.
type Work func(ctx context.Context) (bool, error)

// Action is what ScaleIn did.
type Action string

// The actions.
const (
	Kept    Action = "kept"    // there is work, or the fleet is at zero
	Idle    Action = "idle"    // no work for the first time: it stays one more round
	Stopped Action = "stopped" // no work for a whole round
	Reopen  Action = "reopened"
	Started Action = "started" // work without a worker: a wake was lost
)

// ScaleIn stops the service when there has been no work for a round: twice in a
// row, with no wake between. It starts it if there is work and nobody at it.
func (f Fleet) ScaleIn(ctx context.Context, work Work) (Action, error) {
	before, err := f.read(ctx)
	if err != nil {
		return "", err
	}
	busy, err := work(ctx)
	if err != nil {
		return "", err
	}
	n, err := f.desired(ctx)
	if err != nil {
		return "", err
	}
	switch {
	case busy && n == 0:
		return Started, f.set(ctx, 1)
	case busy:
		return Kept, f.markIdle(ctx, -1)
	case n == 0:
		return Kept, nil
	case before.IdleSeq == nil || *before.IdleSeq != before.Seq:
		return Idle, f.markIdle(ctx, before.Seq)
	}
	if err := f.set(ctx, 0); err != nil {
		return "", err
	}
	after, err := f.read(ctx)
	if err == nil {
		busy, err = work(ctx)
	}
	if err != nil || busy || after.Seq != before.Seq { // in doubt, a worker too many
		return Reopen, errors.Join(err, f.atLeastOne(ctx))
	}
	return Stopped, nil
}

// state is the fleet's row. IdleSeq is the number at which a round last found no
// work; -1 or absent if it found some.
type state struct {
	Seq     int64  `dynamodbav:"seq"`
	IdleSeq *int64 `dynamodbav:"idle_seq"`
}

func (f Fleet) read(ctx context.Context) (state, error) {
	var st state
	yes := true
	err := f.Retry.Do(ctx, func() error {
		out, err := f.DB.GetItem(ctx, &dynamodb.GetItemInput{TableName: &f.Effects, Key: key(), ConsistentRead: &yes})
		if err != nil {
			return err
		}
		return attributevalue.UnmarshalMap(out.Item, &st)
	})
	if err != nil {
		return state{}, fmt.Errorf("read the fleet's sequence number: %w", err)
	}
	return st, nil
}

func (f Fleet) markIdle(ctx context.Context, seq int64) error {
	set := "SET idle_seq = :seq"
	err := f.Retry.Do(ctx, func() error {
		_, err := f.DB.UpdateItem(ctx, &dynamodb.UpdateItemInput{TableName: &f.Effects, Key: key(), UpdateExpression: &set,
			ExpressionAttributeValues: map[string]ddb.AttributeValue{":seq": number(seq)}})
		return err
	})
	if err != nil {
		return fmt.Errorf("mark the fleet as idle: %w", err)
	}
	return nil
}

func (f Fleet) desired(ctx context.Context) (int32, error) {
	var out *ecs.DescribeServicesOutput
	err := f.Retry.Do(ctx, func() (err error) {
		out, err = f.ECS.DescribeServices(ctx, &ecs.DescribeServicesInput{Cluster: &f.Cluster, Services: []string{f.Service}})
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("describe service %s: %w", f.Service, err)
	}
	if len(out.Services) != 1 {
		return 0, fmt.Errorf("describe service %s in cluster %s: there is none", f.Service, f.Cluster)
	}
	return out.Services[0].DesiredCount, nil
}

func (f Fleet) set(ctx context.Context, n int32) error {
	ctx, cancel := context.WithTimeout(ctx, 15*time.Second)
	defer cancel()
	err := f.Retry.Do(ctx, func() error {
		_, err := f.ECS.UpdateService(ctx, &ecs.UpdateServiceInput{Cluster: &f.Cluster, Service: &f.Service, DesiredCount: &n})
		return err
	})
	if err != nil {
		return fmt.Errorf("set service %s to %d workers: %w", f.Service, n, err)
	}
	return nil
}

func key() map[string]ddb.AttributeValue {
	return map[string]ddb.AttributeValue{"effect": &ddb.AttributeValueMemberS{Value: names.FleetSeq}}
}

func number(n int64) ddb.AttributeValue {
	return &ddb.AttributeValueMemberN{Value: strconv.FormatInt(n, 10)}
}

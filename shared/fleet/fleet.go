// Package fleet keeps as many pose workers as there is work for: none is paid for
// without work, no work is left without a worker.
//
// Starting and stopping race: the reconciler sees nothing to do, a run begins
// and finds a worker running, and the reconciler stops it. The fleet's sequence
// number settles it. Wake raises it before it looks at the service; Scale reads
// it before it looks for work and again, strongly, after it has stopped the
// service. If it has changed, or work has appeared, the service is started
// again. Whichever order the two come in, one of them sees the other.
//
// What ECS says of a service may be older than what it was asked for a moment ago. So
// after a scale-in nobody believes it that there are workers enough: Scale, when it
// starts the service again, and the first wake that comes later, which knows of it by
// the fleet's row, ask for them anew.
//
// Two wakes at once may leave the lower of their two counts, never none; the next
// round corrects it.
package fleet

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
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

	PerWorker int // jobs that a worker runs at once; default names.PassesPerWorker
	Max       int // workers; default names.MaxWorkers

	// NoSecondRead is a fault switch for tests: what comes while the service is
	// being stopped is not looked for.
	NoSecondRead bool
}

// Work counts the jobs that a worker has, or may soon have, in hands. It may stop
// counting at Enough.
type Work func(ctx context.Context) (int, error)

// Enough is the number of jobs that keeps the largest fleet busy.
func (f Fleet) Enough() int { return f.most() * f.perWorker() }

func (f Fleet) most() int {
	if f.Max > 0 {
		return f.Max
	}
	return names.MaxWorkers
}

func (f Fleet) perWorker() int {
	if f.PerWorker > 0 {
		return f.PerWorker
	}
	return names.PassesPerWorker
}

// workers is how many workers so many jobs want.
func (f Fleet) workers(jobs int) int32 {
	return int32(min((max(jobs, 0)+f.perWorker()-1)/f.perWorker(), f.most()))
}

// Wake raises the sequence number and asks for as many workers as the work wants,
// one at least. A larger fleet is left as it is. It returns the number it raised
// to. Work that cannot be counted is no reason to wake nobody.
func (f Fleet) Wake(ctx context.Context, work Work) (int64, error) {
	var out *dynamodb.UpdateItemOutput
	add := "ADD seq :one"
	err := f.Retry.Do(ctx, func() (err error) { // once more than needed does no harm
		out, err = f.DB.UpdateItem(ctx, &dynamodb.UpdateItemInput{
			TableName: &f.Effects, Key: key(), UpdateExpression: &add, ReturnValues: ddb.ReturnValueAllNew,
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
	jobs := 1
	if work != nil {
		n, err := work(ctx)
		if err != nil {
			slog.WarnContext(ctx, "the work was not counted; asking for one worker", "detail", err.Error())
		}
		jobs = max(jobs, n)
	}
	if !st.Shrunk {
		return st.Seq, f.atLeast(ctx, f.workers(jobs))
	}
	if err := f.again(ctx, f.workers(jobs)); err != nil {
		return st.Seq, err
	}
	return st.Seq, f.update(ctx, "note that the fleet was woken", "REMOVE shrunk", nil)
}

// atLeast asks for so many workers where there are fewer.
func (f Fleet) atLeast(ctx context.Context, want int32) error {
	n, err := f.desired(ctx)
	if err != nil || n >= want {
		return err
	}
	return f.set(ctx, want)
}

// again asks for so many workers, whatever the service is said to have: that may be
// what it had before it was shrunk.
func (f Fleet) again(ctx context.Context, want int32) error {
	n, err := f.desired(ctx)
	if err != nil {
		return err
	}
	return f.set(ctx, max(n, want))
}

// Action is what Scale did.
type Action string

// The actions.
const (
	Kept    Action = "kept"    // as many as the work wants
	Idle    Action = "idle"    // more than it wants, for the first time: they stay one more round
	Shrunk  Action = "shrunk"  // more than it wanted for a whole round
	Stopped Action = "stopped" // no work for a whole round
	Reopen  Action = "reopened"
	Grown   Action = "grown"   // less than it wants
	Started Action = "started" // work without a worker: a wake was lost
)

// Scale brings the service to what the work wants. More workers are asked for at
// once; fewer only when the round before found too many as well and, if none is
// to stay, no wake came between.
func (f Fleet) Scale(ctx context.Context, work Work) (Action, error) {
	before, err := f.read(ctx)
	if err != nil {
		return "", err
	}
	jobs, err := work(ctx)
	if err != nil {
		return "", err
	}
	n, err := f.desired(ctx)
	if err != nil {
		return "", err
	}
	want := f.workers(jobs)
	switch {
	case want > n && n == 0:
		return Started, f.set(ctx, want)
	case want > n:
		return Grown, errors.Join(f.markIdle(ctx, -1), f.set(ctx, want))
	case want == n && n > 0:
		return Kept, f.markIdle(ctx, -1)
	case n == 0:
		return Kept, nil
	case !before.idled(want):
		return Idle, f.markIdle(ctx, before.Seq)
	}
	return f.shrink(ctx, want, before.Seq, work)
}

// shrink asks for fewer workers and looks again for what came meanwhile: in
// doubt, a worker too many.
func (f Fleet) shrink(ctx context.Context, want int32, seq int64, work Work) (Action, error) {
	if err := f.markShrunk(ctx); err != nil {
		return "", err
	}
	if err := f.set(ctx, want); err != nil {
		return "", err
	}
	done := Shrunk
	if want == 0 {
		done = Stopped
	}
	if f.NoSecondRead {
		return done, nil
	}
	after, err := f.read(ctx)
	jobs := 0
	if err == nil {
		jobs, err = work(ctx)
	}
	more := f.workers(jobs)
	if want == 0 && (err != nil || after.Seq != seq) {
		more = max(more, 1)
	}
	if more > want {
		return Reopen, errors.Join(err, f.again(ctx, more))
	}
	return done, err
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

package fleet_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	ddb "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/ecs"

	"fastbowlinglab/shared/fleet"
)

// ordered lets the calls of several functions through in an order that is chosen.
type ordered struct {
	row     map[string]ddb.AttributeValue
	service *service
	arrived chan int // who stands at a call; who has ended, as its complement
	turns   []chan struct{}
}

// actor is one function's way to the row and the service.
type actor struct {
	*ordered
	id int
}

func (a actor) turn() {
	a.arrived <- a.id
	<-a.turns[a.id]
}

func (a actor) GetItem(context.Context, *dynamodb.GetItemInput, ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error) {
	a.turn()
	return &dynamodb.GetItemOutput{Item: a.copy()}, nil
}

func (a actor) copy() map[string]ddb.AttributeValue {
	out := map[string]ddb.AttributeValue{}
	for k, v := range a.row {
		out[k] = v
	}
	return out
}

// UpdateItem knows the fleet's own expressions.
func (a actor) UpdateItem(_ context.Context, in *dynamodb.UpdateItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error) {
	a.turn()
	switch verb, rest, _ := strings.Cut(*in.UpdateExpression, " "); verb {
	case "ADD":
		a.row["seq"] = number(read(a.row["seq"]) + 1)
	case "REMOVE":
		delete(a.row, rest)
	case "SET":
		for _, part := range strings.Split(rest, ", ") {
			name, value, _ := strings.Cut(part, " = ")
			a.row[name] = in.ExpressionAttributeValues[value]
		}
	}
	return &dynamodb.UpdateItemOutput{Attributes: a.copy()}, nil
}

func (a actor) DescribeServices(ctx context.Context, in *ecs.DescribeServicesInput, _ ...func(*ecs.Options)) (*ecs.DescribeServicesOutput, error) {
	a.turn()
	return a.service.DescribeServices(ctx, in)
}

func (a actor) UpdateService(ctx context.Context, in *ecs.UpdateServiceInput, _ ...func(*ecs.Options)) (*ecs.UpdateServiceOutput, error) {
	a.turn()
	return a.service.UpdateService(ctx, in)
}

func number(n int) ddb.AttributeValue { return &ddb.AttributeValueMemberN{Value: strconv.Itoa(n)} }

func read(v ddb.AttributeValue) int {
	n, _ := strconv.Atoi(v.(*ddb.AttributeValueMemberN).Value) // our own
	return n
}

// run has functions make their calls in an order; pick chooses among those that stand at
// one.
func (o *ordered) run(t *testing.T, pick func(standing []int) int, fns ...func(actor) error) {
	t.Helper()
	o.arrived, o.turns = make(chan int), make([]chan struct{}, len(fns))
	for i, fn := range fns {
		o.turns[i] = make(chan struct{})
		go func() {
			if err := fn(actor{o, i}); err != nil {
				t.Error(err)
			}
			o.arrived <- ^i
		}()
	}
	var standing []int
	for moving := len(fns); ; moving = 1 {
		for range moving {
			if id := <-o.arrived; id >= 0 {
				standing = append(standing, id)
			}
		}
		if len(standing) == 0 {
			return
		}
		slices.Sort(standing) // who came first is by chance
		n := pick(standing)
		id := standing[n]
		standing = append(standing[:n], standing[n+1:]...)
		o.turns[id] <- struct{}{}
	}
}

// orders are ways in which the calls of wakes and of a round of the reconciler, which is to
// stop the last worker, come between each other: all of them with one wake, many with two.
// What ECS says may be one update old, and the work that the wakes are for not be seen yet.
func orders(t *testing.T, guard func(*fleet.Fleet)) (asleep, tried int) {
	t.Helper()
	once := func(pick func([]int) int, wakes int, stale, shrunk bool) {
		o := &ordered{service: &service{desired: 1, before: 1, stale: stale},
			row: map[string]ddb.AttributeValue{"seq": number(7), "idle_seq": number(7)}}
		if shrunk {
			o.row["shrunk"] = &ddb.AttributeValueMemberBOOL{Value: true}
		}
		var fns []func(actor) error
		for n := range wakes + 1 {
			fns = append(fns, func(a actor) (err error) {
				f := fleet.Fleet{DB: a, ECS: a, Effects: "e", Cluster: "c", Service: "s"}
				guard(&f)
				if n == 0 {
					_, err = f.Scale(context.Background(), is(0))
				} else {
					_, err = f.Wake(context.Background(), is(0))
				}
				return err
			})
		}
		o.run(t, pick, fns...)
		if tried++; o.service.desired < 1 {
			asleep++
		}
	}
	for _, state := range [][2]bool{{false, false}, {false, true}, {true, false}, {true, true}} {
		for choices := []int{}; choices != nil; { // depth first, by the choices made
			var width []int
			once(func(standing []int) int {
				if n := len(width); n == len(choices) {
					choices = append(choices, 0)
				}
				width = append(width, len(standing))
				return choices[len(width)-1]
			}, 1, state[0], state[1])
			choices = next(choices, width)
		}
		r := rand.New(rand.NewPCG(1, 2))
		for range 1500 {
			once(func(standing []int) int { return r.IntN(len(standing)) }, 2, state[0], state[1])
		}
	}
	return asleep, tried
}

// next gives the choices that come after, nil behind the last.
func next(choices, width []int) []int {
	for n := len(choices) - 1; n >= 0; n-- {
		if choices[n]++; choices[n] < width[n] {
			return choices[:n+1]
		}
	}
	return nil
}

// forgetful is a row that does not say that the fleet was shrunk.
type forgetful struct{ fleet.DB }

func (d forgetful) UpdateItem(ctx context.Context, in *dynamodb.UpdateItemInput, opt ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error) {
	out, err := d.DB.UpdateItem(ctx, in, opt...)
	if err == nil {
		delete(out.Attributes, "shrunk")
	}
	return out, err
}

// However the calls of wakes and of rounds come between each other, a fleet that was woken
// is awake. Without the second read, or by what ECS says after a scale-in, it is not.
func TestWokenInWhateverOrder(t *testing.T) {
	asleep, tried := orders(t, func(*fleet.Fleet) {})
	t.Logf("%d orders", tried)
	if asleep > 0 || tried < 6000 {
		t.Errorf("no worker after %d of %d orders", asleep, tried)
	}
	for what, guard := range map[string]func(*fleet.Fleet){
		"without the second read":        func(f *fleet.Fleet) { f.NoSecondRead = true },
		"believing ECS after a scale-in": func(f *fleet.Fleet) { f.DB = forgetful{f.DB} },
	} {
		if asleep, _ := orders(t, guard); asleep == 0 {
			t.Errorf("%s too: these orders show nothing", what)
		}
	}
}

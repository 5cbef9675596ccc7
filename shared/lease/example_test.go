package lease_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"fastbowlinglab/shared/internal/memtable"
	"fastbowlinglab/shared/lease"
)

// One holder at a time; the others learn who has it and until when. After its
// end and the skew it may be taken over, and the old holder finds that it has
// lost it.
func Example() {
	now := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	store := lease.Store{DB: &memtable.Table{}, Table: "leases", Now: func() time.Time { return now }}
	ctx := context.Background()
	first, err := store.Acquire(ctx, "import", "host-a", time.Minute)
	fmt.Println(first.Owner, "has fence", first.Fence, "until", first.Until.Format(time.TimeOnly), err)

	_, err = store.Acquire(ctx, "import", "host-b", time.Minute)
	var held *lease.Held
	if errors.As(err, &held) {
		fmt.Println("held by", held.Owner, "and free at", held.Until.Format(time.TimeOnly), "unless renewed")
	}

	now = now.Add(90 * time.Second) // host-a is paused
	second, err := store.Acquire(ctx, "import", "host-b", time.Minute)
	fmt.Println(second.Owner, "has fence", second.Fence, err)
	_, err = store.Renew(ctx, first, time.Minute)
	fmt.Println("host-a:", errors.Is(err, lease.ErrLost))
	// Output:
	// host-a has fence 1 until 09:01:00 <nil>
	// held by host-a and free at 09:01:15 unless renewed
	// host-b has fence 2 <nil>
	// host-a: true
}

// Keep renews while the work goes on and gives the lease back.
func ExampleStore_Keep() {
	store := lease.Store{DB: &memtable.Table{}, Table: "leases"}
	ctx := context.Background()
	l, err := store.Acquire(ctx, "import", "host-a", time.Minute)
	if err != nil {
		fmt.Println(err)
		return
	}
	err = store.Keep(ctx, l, time.Minute, func(ctx context.Context, l lease.Lease) error {
		fmt.Println("working under fence", l.Fence) // ctx ends if the lease is lost
		return nil
	})
	who, lookErr := store.Who(ctx, "import")
	fmt.Println(err, who == nil, lookErr)
	// Output:
	// working under fence 1
	// <nil> true <nil>
}

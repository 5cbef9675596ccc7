package budget_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"fastbowlinglab/shared/budget"
	"fastbowlinglab/shared/internal/memtable"
)

// Two at once, then two a second, for all callers together; whoever cannot have
// room in time is told so at once.
func ExampleStore_Reserve() {
	now := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	store := budget.Store{DB: &memtable.Table{}, Table: "budgets", Now: func() time.Time { return now }}
	limit := budget.Limit{Rate: 2, Burst: 2}
	for range 5 {
		due, err := store.Reserve(context.Background(), "source", limit, 1, time.Second)
		var none *budget.Exhausted
		if errors.As(err, &none) {
			fmt.Println("no room before", none.At.Sub(now))
			continue
		}
		fmt.Println("due in", due.Sub(now), err)
	}
	// Output:
	// due in 0s <nil>
	// due in 0s <nil>
	// due in 500ms <nil>
	// due in 1s <nil>
	// no room before 1.5s
}

// What difference of clocks a limit of the service bears.
func ExampleLimit_MaxSkew() {
	fmt.Println(budget.Limit{Rate: 9, Burst: 1}.MaxSkew(10, time.Second))
	fmt.Println(budget.Limit{Rate: 10, Burst: 2}.MaxSkew(10, time.Second) > 0)
	// Output:
	// 111.12ms
	// false
}

package usage_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"fastbowlinglab/shared/dynamotest"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/usage"
)

// Calls that are moved, by two at once and after an answer that was lost, are all
// there under the other id, once, and the day costs what it did.
func TestMove(t *testing.T) {
	server := dynamotest.Start(t)
	db := server.Client()
	at := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	for i := range 12 {
		err := usage.Record(t.Context(), db, names.Usage.Name, usage.Call{AnalysisID: "an-1", Attempt: 1, Task: fmt.Sprint("task", i%3), Fence: int64(i + 1),
			Provider: "rules", Model: "m", At: at, Outcome: "ok", Tokens: usage.Tokens{Input: usage.Count(2), Output: usage.Count(1)}})
		if err != nil {
			t.Fatal(err)
		}
	}
	if labels, err := usage.Labels(t.Context(), db, names.Usage.Name, "an-1"); err != nil || len(labels) != 3 || !labels["task2"] {
		t.Errorf("labels %v, %v", labels, err)
	}
	lossy := server.Faulty(&dynamotest.Faults{Next: dynamotest.First(2, "TransactWriteItems", dynamotest.Lost)})
	var wg sync.WaitGroup
	var moved atomic.Int64
	for _, c := range []usage.Mover{lossy, db, db, db} {
		wg.Go(func() {
			n, err := usage.Move(context.Background(), c, names.Usage.Name, "an-1", "erased-x")
			if moved.Add(n); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if n := moved.Load(); n > 12 { // one whose answer was lost counts for nobody
		t.Errorf("%d calls were moved, there were 12", n)
	}
	s := usage.Store{DB: db, Usage: names.Usage.Name, Prices: names.Prices.Name}
	for q, want := range map[usage.Query]int{{AnalysisID: "an-1"}: 0, {AnalysisID: "erased-x"}: 12, {Day: "2026-03-04"}: 12} {
		bill, err := s.Query(t.Context(), q)
		if err != nil || len(bill.Lines) != want {
			t.Errorf("%+v: %d calls, want %d, %v", q, len(bill.Lines), want, err)
		}
	}
}

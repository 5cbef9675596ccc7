package dynamotest

import (
	"errors"
	"net/http"
	"strings"
	"sync"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

// Fault is what happens to one request.
type Fault int

// The faults.
const (
	OK      Fault = iota
	NotDone       // refused before it reached the database
	Lost          // carried out; its answer never arrives
)

// ErrInjected is the error of a request that a fault hit.
var ErrInjected = errors.New("dynamotest: connection reset (injected)")

// Faults decides, for each request of a client, what happens to it. Next is
// called with the operation's name, such as "TransactWriteItems".
type Faults struct {
	Next func(operation string) Fault

	mu    sync.Mutex
	calls map[string]int
}

// First makes a Next that does f to the first n requests of one operation.
func First(n int, operation string, f Fault) func(string) Fault {
	var mu sync.Mutex
	return func(op string) Fault {
		mu.Lock()
		defer mu.Unlock()
		if op != operation || n <= 0 {
			return OK
		}
		n--
		return f
	}
}

// Calls tells how many requests of an operation were sent.
func (f *Faults) Calls(operation string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.calls[operation]
}

// Faulty makes a client whose requests pass through f.
func (s *Server) Faulty(f *Faults) *dynamodb.Client {
	return s.Client(func(o *dynamodb.Options) { o.HTTPClient = f })
}

// Do implements the SDK's HTTP client.
func (f *Faults) Do(r *http.Request) (*http.Response, error) {
	_, op, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	f.mu.Lock()
	if f.calls == nil {
		f.calls = map[string]int{}
	}
	f.calls[op]++
	f.mu.Unlock()
	fault := OK
	if f.Next != nil {
		fault = f.Next(op)
	}
	if fault == NotDone {
		return nil, ErrInjected
	}
	resp, err := http.DefaultClient.Do(r)
	if fault == Lost && err == nil {
		resp.Body.Close()
		return nil, ErrInjected
	}
	return resp, err
}

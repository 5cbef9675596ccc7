// Package dispatch is what probe and postjob share: the answer that leads to a
// durable wait, and the call through the workers' load balancer.
package dispatch

import (
	"context"
	"fmt"
	"io"
	"math"
	"net/http"
	"strings"
	"time"

	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/retry"
	"fastbowlinglab/shared/stamp"
)

// Waits between two rounds: they begin short, since a worker takes about three
// minutes to start, and grow, so that the rounds that a definition allows last
// for half a day of a fleet that is full.
const (
	firstWait = 5 * time.Second
	growth    = 1.15
	longest   = 10 * time.Minute
	spread    = 0.25 // of a wait, at random on top of it: runs that began together part
)

// Wait is how long to wait after so many rounds; never less than least.
func Wait(round int, least time.Duration) time.Duration {
	d := float64(firstWait) * math.Pow(growth, float64(min(max(round, 0), 1000)))
	return max(time.Duration(min(d, float64(longest))), least)
}

// Waiting is the answer that leads to a wait, of Wait at least and a quarter more at
// most. A hundred runs of one upload would otherwise ask in the same second, round for
// round, and all but one in vain.
func Waiting(now time.Time, round int, least time.Duration) names.DispatchOut {
	d := Wait(round, least)
	d += time.Duration(spread * retry.DefaultRand() * float64(d))
	return names.DispatchOut{State: names.DispatchWaiting, Until: stamp.Format(now.Add(d))}
}

// Caller calls the pose workers through their balancer.
type Caller struct {
	Client *http.Client
	URL    string // base URL
}

// maxAnswer bounds what is read of an answer.
const maxAnswer = 16 << 10

// Call makes one request under names.PoseCallTimeout. An error means that nobody
// knows whether a worker got it.
func (c Caller) Call(ctx context.Context, method, path, body string) (*http.Response, []byte, error) {
	ctx, cancel := context.WithTimeout(ctx, names.PoseCallTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, strings.TrimSuffix(c.URL, "/")+path, strings.NewReader(body))
	if err != nil {
		return nil, nil, fmt.Errorf("%s %s: %w", method, path, err)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	res, err := c.Client.Do(req)
	if err != nil {
		return nil, nil, fmt.Errorf("%s %s: %w", method, path, err)
	}
	defer res.Body.Close()
	got, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	if err != nil {
		return nil, nil, fmt.Errorf("%s %s: read the answer: %w", method, path, err)
	}
	return res, got, nil
}

package poseworker

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"fastbowlinglab/shared/callback"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/retry"
)

// Callback tells the result of a job that came over HTTP to the public API.
// errNotTaken means that the result is another's to give by now; any other
// error, that nobody knows whether it was taken.
type Callback interface {
	Send(ctx context.Context, c names.PoseCallback) error
}

// errNotTaken says that the API refused the result: the fence has moved on.
var errNotTaken = errors.New("the result was refused: the job has another owner")

// Keys gives the keys of signatures, the current one first.
type Keys interface {
	Keys(ctx context.Context) ([][]byte, error)
}

// SignedCallback sends results as messages signed by package callback.
type SignedCallback struct {
	URL    string // base URL of the HTTP API
	Client *http.Client
	Keys   Keys
}

// Bounds of a callback: all tries together end well before the lease does.
const (
	callbackTries = 4
	callbackTime  = 4 * time.Second // one try
	callbackBase  = 300 * time.Millisecond
)

// Send implements Callback. Every try bears the same id and a signature of its
// own time.
func (s SignedCallback) Send(ctx context.Context, c names.PoseCallback) error {
	body, err := json.Marshal(c)
	if err != nil {
		return fmt.Errorf("encode the callback: %w", err)
	}
	id := fmt.Sprintf("%s-%d-%d", c.AnalysisID, c.Attempt, c.Fence)
	for try := 0; ; try++ {
		err = s.try(ctx, id, body)
		if err == nil || errors.Is(err, errNotTaken) || try+1 == callbackTries || ctx.Err() != nil {
			return err
		}
		sleep(ctx, time.Duration((0.5+retry.DefaultRand()/2)*float64(callbackBase<<(2*try))))
	}
}

func (s SignedCallback) try(ctx context.Context, id string, body []byte) error {
	ctx, cancel := context.WithTimeout(ctx, callbackTime)
	defer cancel()
	keys, err := s.Keys.Keys(ctx)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimSuffix(s.URL, "/")+names.PoseCallbackPath, bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("callback: %w", err)
	}
	now := time.Now()
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set(callback.HeaderID, id)
	req.Header.Set(callback.HeaderTimestamp, strconv.FormatInt(now.Unix(), 10))
	req.Header.Set(callback.HeaderSignature, callback.Sign(keys[0], id, now, body))
	res, err := s.Client.Do(req)
	if err != nil {
		return fmt.Errorf("callback: %w", err)
	}
	defer res.Body.Close()
	text, _ := io.ReadAll(io.LimitReader(res.Body, 1<<10)) // for the message only
	switch res.StatusCode {
	case http.StatusOK:
		return nil
	case http.StatusConflict:
		return errNotTaken
	}
	return fmt.Errorf("callback: the API answered %d: %s", res.StatusCode, text)
}

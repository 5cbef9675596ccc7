package poseworker

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"

	"fastbowlinglab/shared/names"
)

// TaskProtection asks ECS not to stop this task in a scale-in while it works.
// https://docs.aws.amazon.com/AmazonECS/latest/developerguide/task-scale-in-protection-endpoint.html
type TaskProtection struct {
	AgentURI string // ECS_AGENT_URI
	Client   *http.Client
}

// Protect implements Protector. Protection ends by itself when a job could run
// no longer, so that a hung task is not protected for ever.
func (p TaskProtection) Protect(ctx context.Context, working bool) error {
	state := map[string]any{"ProtectionEnabled": working}
	if working {
		state["ExpiresInMinutes"] = int(names.PoseTimeout / time.Minute)
	}
	body, err := json.Marshal(state)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPut, p.AgentURI+"/task-protection/v1/state", bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("task protection: %w", err)
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := p.Client.Do(req)
	if err != nil {
		return fmt.Errorf("task protection: %w", err)
	}
	defer res.Body.Close()
	text, _ := io.ReadAll(io.LimitReader(res.Body, 1<<10)) // for the message only
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("task protection: the agent answered %d: %s", res.StatusCode, text)
	}
	return nil
}

// Tries to tell the container service, and the wait before the second one, which
// doubles. A protection that is not taken back keeps an idle task running until it
// ends by itself.
const (
	protectTries = 6
	protectWait  = time.Second
)

// protect tells the container service whether this worker has work, as it is when its
// turn comes: a job that begins and one that ends may not undo each other's word. A job
// that begins says so again, since protection ends by itself. Best effort.
func (w *Worker) protect(begins bool) {
	if w.d.Protect == nil {
		return
	}
	for try := range protectTries {
		working, err := w.tell(begins)
		if err == nil {
			return
		}
		w.d.Log.Warn("task protection was not changed", "working", working, "error", err.Error())
		select {
		case <-time.After(protectWait << try):
		case <-w.stopping: // a task that is being stopped needs none
			return
		}
	}
}

// tell says what is to be said, once.
func (w *Worker) tell(begins bool) (working bool, err error) {
	w.telling.Lock()
	defer w.telling.Unlock()
	working = w.slots.Busy() > 0
	if working == w.protected && !(begins && working) {
		return working, nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), w.d.Timers.Call)
	defer cancel()
	err = w.d.Protect.Protect(ctx, working)
	w.protected = working || err != nil // not known is not unprotected
	return working, err
}

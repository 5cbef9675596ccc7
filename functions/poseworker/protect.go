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

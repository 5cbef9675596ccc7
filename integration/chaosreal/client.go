package chaosreal

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"time"

	"fastbowlinglab/shared/retry"
)

// client is an athlete's or operator's app: it asks again until it is told.
type client struct {
	api   string
	token string
}

const (
	tries    = 20
	tryAgain = time.Second
)

// call asks until the answer is a success or final, and decodes it into out.
func (c client) call(ctx context.Context, method, path, key string, in, out any) error {
	body, err := json.Marshal(in)
	if err != nil {
		return err
	}
	var last error
	for range tries {
		status, answer, err := c.once(ctx, method, path, key, body)
		switch {
		case err != nil:
			last = err
		case status/100 == 2:
			if out == nil {
				return nil
			}
			return json.Unmarshal(answer, out)
		case status < 500 && status != http.StatusTooManyRequests:
			return fmt.Errorf("%s %s: %d %s", method, path, status, answer)
		default:
			last = fmt.Errorf("%s %s: %d %s", method, path, status, answer)
		}
		if err := retry.Sleep(ctx, tryAgain); err != nil {
			return err
		}
	}
	return last
}

func (c client) once(ctx context.Context, method, path, key string, body []byte) (int, []byte, error) {
	req, err := http.NewRequestWithContext(ctx, method, c.api+path, bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	req.Header.Set("Authorization", "Bearer "+c.token)
	req.Header.Set("Content-Type", "application/json")
	if key != "" {
		req.Header.Set("Idempotency-Key", key)
	}
	return do(req)
}

func do(req *http.Request) (int, []byte, error) {
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer func() { _ = resp.Body.Close() }() // read to its end
	b, err := io.ReadAll(resp.Body)
	return resp.StatusCode, b, err
}

// created is the answer of POST /v1/analyses.
type created struct {
	AnalysisID string `json:"analysis_id"`
	Uploads    []struct {
		URL    string            `json:"url"`
		Fields map[string]string `json:"fields"`
	} `json:"uploads"`
}

// submit reserves, uploads and confirms one clip, and gives the analysis's id.
func (c client) submit(ctx context.Context, key, email string, clip []byte, reserved func(id string)) error {
	in := map[string]any{
		"athlete": map[string]any{"name": "C. Athlete"}, "email": email, "time_zone": "UTC", "consent": true,
		"clips": []any{map[string]any{"name": "clip.mp4", "type": "video/mp4", "size_bytes": len(clip)}},
	}
	var made created
	if err := c.call(ctx, http.MethodPost, "/v1/analyses", key, in, &made); err != nil {
		return fmt.Errorf("create: %w", err)
	}
	reserved(made.AnalysisID)
	if len(made.Uploads) == 0 {
		return fmt.Errorf("create: no upload for the clip")
	}
	if err := upload(ctx, made.Uploads[0].URL, made.Uploads[0].Fields, clip); err != nil {
		return fmt.Errorf("upload: %w", err)
	}
	if err := c.call(ctx, http.MethodPost, "/v1/analyses/"+made.AnalysisID+"/confirm", "", struct{}{}, nil); err != nil {
		return fmt.Errorf("confirm: %w", err)
	}
	return nil
}

// upload sends a clip through a presigned POST.
func upload(ctx context.Context, url string, fields map[string]string, clip []byte) error {
	var form bytes.Buffer
	m := multipart.NewWriter(&form)
	for k, v := range fields {
		_ = m.WriteField(k, v) // into memory
	}
	f, err := m.CreateFormFile("file", "clip")
	if err != nil {
		return err
	}
	_, _ = f.Write(clip) // into memory
	_ = m.Close()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, &form)
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", m.FormDataContentType())
	status, answer, err := do(req)
	if err == nil && status/100 != 2 {
		err = fmt.Errorf("%d %s", status, answer)
	}
	return err
}

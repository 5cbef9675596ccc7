package demo

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"mime/multipart"
	"net/http"
	"os"
	"slices"
	"time"

	"fastbowlinglab/shared/retry"
)

// sendClip posts a clip to storage. The same key may be posted again, so a lost
// answer is repaired by sending once more. sent is told how many bytes are out.
func (c *client) sendClip(ctx context.Context, u upload, clip Clip, sent func(int64)) error {
	for try := 1; ; try++ {
		again, err := c.postClip(ctx, u, clip, sent)
		if err == nil || !again || try == c.tries {
			return err
		}
		if retry.Sleep(ctx, c.wait<<(try-1)) != nil {
			return err
		}
	}
}

func (c *client) postClip(ctx context.Context, u upload, clip Clip, sent func(int64)) (again bool, err error) {
	f, err := os.Open(clip.Path)
	if err != nil {
		return false, fmt.Errorf("upload: %w", err)
	}
	defer f.Close()
	head, tail, contentType, err := form(u, clip)
	if err != nil {
		return false, fmt.Errorf("upload: %w", err)
	}
	body := &counted{r: io.LimitReader(f, clip.Size), limit: clip.Size, sent: sent}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, u.URL, io.MultiReader(bytes.NewReader(head), body, bytes.NewReader(tail)))
	if err != nil {
		return false, fmt.Errorf("upload: %w", err)
	}
	req.ContentLength = int64(len(head)) + clip.Size + int64(len(tail)) // storage takes no chunked body
	req.Header.Set("Content-Type", contentType)
	// A clip takes as long as it takes; the caller's context is the limit.
	res, err := (&http.Client{Transport: c.http.Transport}).Do(req)
	if body.short {
		return false, fmt.Errorf("upload: %s became shorter while it was sent", clip.Path)
	}
	if err != nil {
		return ctx.Err() == nil, fmt.Errorf("upload of %s: %w", clip.Name, withoutURL(err))
	}
	defer res.Body.Close()
	answer, _ := io.ReadAll(io.LimitReader(res.Body, 2<<10)) // only for the message
	if res.StatusCode >= 300 {
		return res.StatusCode >= 500, fmt.Errorf("upload of %s: storage answered %d: %s", clip.Name, res.StatusCode, bytes.TrimSpace(answer))
	}
	return false, nil
}

// form makes what stands before and after the file in the multipart body: the
// presigned fields first, the file last, as S3 wants it.
func form(u upload, clip Clip) (head, tail []byte, contentType string, err error) {
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for _, k := range slices.Sorted(maps.Keys(u.Fields)) {
		if err := w.WriteField(k, u.Fields[k]); err != nil {
			return nil, nil, "", err
		}
	}
	if _, err := w.CreateFormFile("file", "clip"); err != nil { // our own name: theirs may hold anything
		return nil, nil, "", err
	}
	n := b.Len()
	if err := w.Close(); err != nil {
		return nil, nil, "", err
	}
	return b.Bytes()[:n], b.Bytes()[n:], w.FormDataContentType(), nil
}

// counted tells how much of a file has been read, and whether it ended early.
type counted struct {
	r           io.Reader
	n, limit    int64
	sent        func(int64)
	short       bool
	lastMessage time.Time
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	if err == io.EOF && c.n < c.limit {
		c.short, err = true, io.ErrUnexpectedEOF // so that what follows is not sent either
	}
	if c.sent != nil && (err == io.EOF || time.Since(c.lastMessage) > 100*time.Millisecond) {
		c.lastMessage = time.Now()
		c.sent(c.n)
	}
	return n, err
}

package demo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/retry"
)

// Config says what to run, and against what.
type Config struct {
	API      string                 // base URL of the HTTP API
	Athlete  func(sub string) Token // tokens of an athlete
	Operator Token                  // nil: credit and cost are not this user's to touch
	Cloud    *Cloud                 // nil: no notices, no time by stage
	Clip     string                 // path of the clip
	Key      string                 // makes another submission of the same clip; may be empty
	Dir      string                 // state folder, for requests under way and results
	Screen   *Screen                // what people see
	Poll     time.Duration          // between two looks at the analysis; default 200 ms

	retryWait time.Duration // before a second try; default 200 ms
}

// job is one run of the demo.
type job struct {
	Config
	api     *client
	clip    Clip
	key     string
	athlete string
	token   Token
	started time.Time
	sum     Summary
}

// Run takes a clip to its end and returns what is to be said about it. With an
// error the summary holds what was known by then.
func Run(ctx context.Context, cfg Config) (Summary, error) {
	if cfg.Poll <= 0 {
		cfg.Poll = 200 * time.Millisecond
	}
	clip, err := OpenClip(cfg.Clip)
	if err != nil {
		return Summary{}, err
	}
	j := &job{Config: cfg, api: newClient(cfg.API), clip: clip, key: submissionKey(clip, cfg.Key), started: time.Now()}
	if cfg.retryWait > 0 {
		j.api.wait = cfg.retryWait
	}
	j.athlete = "athlete-" + j.key[len("demo-"):][:8]
	j.token = cfg.Athlete(j.athlete)
	j.sum.Clip = clip.Name
	err = j.run(ctx)
	if j.sum.Seconds == 0 { // no end was seen
		j.sum.Seconds = time.Since(j.started).Seconds()
	}
	return j.sum, err
}

func (j *job) run(ctx context.Context) error {
	j.Screen.title(j.clip)
	uploaded, err := j.submit(ctx)
	if err != nil {
		return err
	}
	v, err := j.follow(ctx, uploaded)
	if err != nil {
		return err
	}
	j.sum.Seconds = time.Since(j.started).Seconds()
	j.sum.Status, j.sum.Reason, j.sum.Message = v.Status, v.Reason, v.Message
	return j.collect(ctx, v, uploaded)
}

// submit creates the analysis, or finds the one there is, and brings it as far
// as the queue. It gives the time that this took.
func (j *job) submit(ctx context.Context) (time.Duration, error) {
	start := time.Now()
	body, err := j.request()
	if err != nil {
		return 0, err
	}
	a, err := j.create(ctx, body)
	if err != nil {
		return 0, err
	}
	j.sum.AnalysisID, j.sum.Status = a.AnalysisID, a.Status
	if st := analysis.Status(a.Status); st != analysis.Reserved {
		goes := "goes on"
		if st.Ended() {
			j.sum.Replayed, goes = true, "has its end"
		}
		j.Screen.note("this clip and key are known: analysis %s %s, and nothing is charged again", a.AnalysisID, goes)
		return 0, nil
	}
	if err := j.upload(ctx, a); err != nil {
		return 0, err
	}
	return time.Since(start), j.confirm(ctx)
}

// request gives the body of the create request. It is kept before it is sent: a
// key stands for one body, whatever the file is called the next time.
func (j *job) request() (json.RawMessage, error) {
	path := filepath.Join(j.Dir, "requests", j.key+".json")
	b, err := os.ReadFile(path)
	if err == nil && json.Valid(b) {
		return b, nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read the kept request: %w", err)
	}
	b, err = json.Marshal(createRequest{
		Athlete: person{"Demo Athlete"}, Email: "athlete@fastbowlinglab.example", TimeZone: "UTC", Consent: true,
		Clips: []clipRequest{{j.clip.Name, j.clip.Type, j.clip.Size}},
	})
	if err != nil {
		return nil, fmt.Errorf("encode the request: %w", err)
	}
	return b, writeFile(path, b)
}

// create asks for the analysis; an athlete without credit is granted one.
func (j *job) create(ctx context.Context, body json.RawMessage) (created, error) {
	ask := call{method: http.MethodPost, path: "/v1/analyses", token: j.token, key: j.key, in: body}
	var a created
	err := j.api.do(ctx, ask, &a)
	if isStatus(err, http.StatusPaymentRequired) && j.Operator != nil {
		if err := j.grant(ctx); err != nil {
			return a, err
		}
		err = j.api.do(ctx, ask, &a)
	}
	return a, err
}

// grant gives the athlete one credit, once for each submission.
func (j *job) grant(ctx context.Context) error {
	return j.api.do(ctx, call{method: http.MethodPost, path: "/v1/operator/grants", token: j.Operator, key: j.key + "-grant",
		in: map[string]any{"athlete_id": j.athlete, "credits": 1, "reason": "demo"}}, nil)
}

func (j *job) upload(ctx context.Context, a created) error {
	if len(a.Uploads) == 0 { // an answer of before, without the posts
		if err := j.renewUploads(ctx, &a); err != nil {
			return err
		}
	}
	if len(a.Uploads) != 1 {
		return fmt.Errorf("upload: the API gave %d uploads for one clip", len(a.Uploads))
	}
	since := time.Now()
	return j.api.sendClip(ctx, a.Uploads[0], j.clip, func(n int64) {
		f := 1.0
		if j.clip.Size > 0 {
			f = float64(n) / float64(j.clip.Size)
		}
		j.Screen.show(rowsOfUpload(f, time.Since(since)))
	})
}

func (j *job) renewUploads(ctx context.Context, a *created) error {
	return j.api.do(ctx, call{method: http.MethodPost, path: j.path("/uploads"), token: j.token}, a)
}

func (j *job) path(tail string) string { return "/v1/analyses/" + j.sum.AnalysisID + tail }

// confirm says that the clip is there. When the answer is lost for good, the
// analysis itself says whether it came through.
func (j *job) confirm(ctx context.Context) error {
	err := j.api.do(ctx, call{method: http.MethodPost, path: j.path("/confirm"), token: j.token}, nil)
	if err == nil {
		return nil
	}
	if v, e := j.look(ctx); e == nil && v.Status != string(analysis.Reserved) {
		return nil
	}
	return err
}

func (j *job) look(ctx context.Context) (view, error) {
	var v view
	err := j.api.do(ctx, call{method: http.MethodGet, path: j.path(""), token: j.token}, &v)
	return v, err
}

// writeFile puts a file in place whole.
func writeFile(path string, b []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), ".new-")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name())
	_, err = tmp.Write(b)
	if err := errors.Join(err, tmp.Close()); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), path)
}

// download fetches a presigned link into a file.
func (c *client) download(ctx context.Context, url, path string) error {
	name := filepath.Base(path)
	for try := 1; ; try++ {
		b, again, err := c.fetch(ctx, url)
		if err == nil {
			return writeFile(path, b)
		}
		err = fmt.Errorf("download of %s: %w", name, withoutURL(err))
		if !again || try == c.tries || retry.Sleep(ctx, c.wait<<(try-1)) != nil {
			return err
		}
	}
}

const maxReport = 128 << 20

func (c *client) fetch(ctx context.Context, url string) (b []byte, again bool, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, false, err
	}
	res, err := c.http.Do(req)
	if err != nil {
		return nil, ctx.Err() == nil, err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return nil, res.StatusCode >= 500, fmt.Errorf("storage answered %d", res.StatusCode)
	}
	b, err = io.ReadAll(io.LimitReader(res.Body, maxReport+1))
	switch {
	case err != nil:
		return nil, ctx.Err() == nil, err
	case len(b) == 0:
		return nil, false, errors.New("the file is empty")
	case len(b) > maxReport:
		return nil, false, fmt.Errorf("the file is over %d bytes", maxReport)
	}
	return b, false, nil
}

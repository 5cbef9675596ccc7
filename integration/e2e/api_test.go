package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sfn"

	"fastbowlinglab/integration/local"
	"fastbowlinglab/integration/web"
	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/credit"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/outbox"
	"fastbowlinglab/shared/reason"
	"fastbowlinglab/shared/usage"
)

const athlete = "athlete-e2e"

// answer is an HTTP answer, read whole.
type answer struct {
	status int
	body   []byte
	header http.Header
}

// call calls the HTTP API.
func (w *world) call(method, path, token, key string, body any) answer {
	w.t.Helper()
	var b []byte
	if body != nil {
		var err error
		if b, err = json.Marshal(body); err != nil {
			w.t.Fatal(err)
		}
	}
	req, err := http.NewRequest(method, w.API+path, bytes.NewReader(b))
	if err != nil {
		w.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set("Content-Type", "application/json")
	if key != "" {
		req.Header.Set("Idempotency-Key", key)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		w.t.Error(err)
		return answer{}
	}
	defer resp.Body.Close()
	out, err := io.ReadAll(resp.Body)
	if err != nil {
		w.t.Error(err)
	}
	return answer{resp.StatusCode, out, resp.Header}
}

// created is the answer of POST /v1/analyses.
type created struct {
	AnalysisID string `json:"analysis_id"`
	Uploads    []struct {
		URL    string            `json:"url"`
		Fields map[string]string `json:"fields"`
	} `json:"uploads"`
}

func (w *world) tokens() (a, op string) {
	w.t.Helper()
	a, err := w.AthleteToken(athlete, time.Hour)
	if err != nil {
		w.t.Fatal(err)
	}
	if op, err = w.OperatorToken("operator", time.Hour); err != nil {
		w.t.Fatal(err)
	}
	return a, op
}

func (w *world) grant(op string, credits int) {
	w.t.Helper()
	got := w.call("POST", "/v1/operator/grants", op, fmt.Sprint("grant-", credits), map[string]any{
		"athlete_id": athlete, "credits": credits, "reason": "test"})
	if got.status/100 != 2 {
		w.t.Fatalf("grant: %d %s", got.status, got.body)
	}
}

func submission(size int64) map[string]any {
	return map[string]any{
		"athlete": map[string]any{"name": "E. Athlete"}, "email": "e@example.com", "time_zone": "Asia/Colombo", "consent": true,
		"clips": []any{map[string]any{"name": "bowler.mp4", "type": "video/mp4", "size_bytes": size}},
	}
}

// upload sends a file through a presigned POST.
func (w *world) upload(c created, path string) {
	w.t.Helper()
	body, err := os.ReadFile(path)
	if err != nil {
		w.t.Fatal(err)
	}
	var form bytes.Buffer
	m := multipart.NewWriter(&form)
	for k, v := range c.Uploads[0].Fields {
		_ = m.WriteField(k, v) // into memory
	}
	f, _ := m.CreateFormFile("file", "clip")
	_, _ = f.Write(body)
	_ = m.Close()
	resp, err := http.Post(c.Uploads[0].URL, m.FormDataContentType(), &form)
	if err != nil {
		w.t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode/100 != 2 {
		b, _ := io.ReadAll(resp.Body)
		w.t.Fatalf("upload: %d %s", resp.StatusCode, b)
	}
}

// whole is an answer as answers are compared: status, the headers that mean
// something, and the body, in which a form's signature stands for nothing but the
// moment at which it was made.
func (a answer) whole(t testing.TB) string {
	t.Helper()
	var body map[string]any
	if err := json.Unmarshal(a.body, &body); err != nil {
		t.Fatalf("%d %s: %v", a.status, a.body, err)
	}
	ups, _ := body["uploads"].([]any)
	for _, u := range ups {
		form := u.(map[string]any)
		delete(form, "expires_at")
		fields := form["fields"].(map[string]any)
		for _, k := range []string{"X-Amz-Date", "X-Amz-Signature", "X-Amz-Credential", "policy"} {
			if fields[k] == nil {
				t.Fatalf("a form without %s: %v", k, form)
			}
			delete(fields, k)
		}
	}
	b, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	var headers []string
	for _, k := range []string{"Content-Type", "Cache-Control", "Retry-After", "ETag", "Location"} {
		headers = append(headers, a.header.Get(k))
	}
	return fmt.Sprintf("%d %q %s", a.status, headers, b)
}

// alike asserts that all answers are the same.
func alike(t testing.TB, what string, answers []answer) {
	t.Helper()
	for i, a := range answers {
		if first, this := answers[0].whole(t), a.whole(t); this != first {
			t.Errorf("%s %d: %s\nthe first: %s", what, i, this, first)
		}
	}
}

// 20 parallel creates with one key, then 20 parallel confirms: one analysis, one
// credit, the same answer; one execution, one report, one notice.
func TestParallelCreatesAndConfirms(t *testing.T) {
	w := start(t)
	token, op := w.tokens()
	w.grant(op, 3)
	clip := sample(t, "bowler.mp4")
	st, err := os.Stat(clip)
	if err != nil {
		t.Fatal(err)
	}
	answers := make([]answer, 20)
	parallel(20, func(i int) { answers[i] = w.call("POST", "/v1/analyses", token, "one-key", submission(st.Size())) })
	var c created
	if err := json.Unmarshal(answers[0].body, &c); err != nil || answers[0].status != http.StatusCreated {
		t.Fatalf("create: %d %s, %v", answers[0].status, answers[0].body, err)
	}
	alike(t, "create", answers)
	w.upload(c, clip)
	parallel(20, func(i int) { answers[i] = w.call("POST", "/v1/analyses/"+c.AnalysisID+"/confirm", token, "", nil) })
	if answers[0].status != http.StatusAccepted {
		t.Errorf("confirm: %d %s", answers[0].status, answers[0].body)
	}
	alike(t, "confirm", answers)
	eventually(t, 4*time.Minute, "the end", func() bool { return w.row(c.AnalysisID).Status.Ended() })
	w.settled(c.AnalysisID, analysis.Ready, "", 2)
	alike(t, "confirm after the end", []answer{answers[0], w.call("POST", "/v1/analyses/"+c.AnalysisID+"/confirm", token, "", nil)})

	execs, err := sfn.NewFromConfig(w.AWS()).ListExecutions(context.Background(), &sfn.ListExecutionsInput{StateMachineArn: aws.String(local.StateMachineARN)})
	if err != nil || len(execs.Executions) != 1 {
		t.Errorf("%d executions (%v), want 1", len(execs.Executions), err)
	}
	bill, err := usage.Store{DB: w.db, Usage: names.Usage.Name, Prices: names.Prices.Name}.Bill(context.Background(), c.AnalysisID, "")
	if err != nil {
		t.Fatal(err)
	}
	oneCallEach(t, bill, "precheck", "findings", "coaching")
}

// settled asserts the end, the ledger and the notice of an analysis of athlete.
func (w *world) settled(id string, status analysis.Status, why reason.Code, balance int64) {
	w.t.Helper()
	r := w.row(id)
	if r.Status != status || r.Reason != string(why) {
		w.t.Errorf("end = %s %q, want %s %q", r.Status, r.Reason, status, why)
	}
	l, err := credit.Store{DB: w.db, Credits: names.Credits.Name}.Read(context.Background(), athlete)
	if err != nil {
		w.t.Fatal(err)
	}
	if l.Balance != balance || l.Sum() != balance {
		w.t.Errorf("balance %d, entries add up to %d, want %d", l.Balance, l.Sum(), balance)
	}
	eventually(w.t, 20*time.Second, "the notice to be sent", func() bool {
		ns, err := outbox.List(context.Background(), w.db, names.Notices.Name, id)
		return err == nil && len(ns) == 1 && ns[0].State == outbox.Sent
	})
	mails, err := w.Mails(context.Background())
	if err != nil || len(mails) != 1 {
		w.t.Errorf("%d mails (%v), want 1", len(mails), err)
		return
	}
	link := names.AppLink(w.API+web.Path, id)
	if !strings.Contains(mails[0].Text, link+"\r\n") {
		w.t.Errorf("the mail does not lead to %s: %s", link, mails[0].Text)
	}
	if resp, err := http.Get(link); err != nil || resp.StatusCode != http.StatusOK { // as a browser would, without a token
		w.t.Errorf("the mail's link: %v", err)
	} else {
		resp.Body.Close()
	}
}

// begin submits the sample and confirms it.
func (w *world) begin(token string) string {
	w.t.Helper()
	clip := sample(w.t, "bowler.mp4")
	st, err := os.Stat(clip)
	if err != nil {
		w.t.Fatal(err)
	}
	var c created
	if err := json.Unmarshal(w.call("POST", "/v1/analyses", token, "begin", submission(st.Size())).body, &c); err != nil {
		w.t.Fatal(err)
	}
	w.upload(c, clip)
	if a := w.call("POST", "/v1/analyses/"+c.AnalysisID+"/confirm", token, "", nil); a.status != http.StatusAccepted {
		w.t.Fatalf("confirm: %d %s", a.status, a.body)
	}
	return c.AnalysisID
}

// An execution that an operator stops with the real CLI: failed, refunded once,
// one notice.
func TestExecutionStoppedByTheCLI(t *testing.T) {
	cli, err := exec.LookPath("aws")
	if err != nil {
		t.Skip("the AWS CLI is not installed")
	}
	w := start(t)
	token, op := w.tokens()
	w.grant(op, 1)
	id := w.begin(token)
	eventually(t, time.Minute, "a claim by a worker", func() bool { return w.job(id).Fence > 0 })
	arn, err := analysis.ExecutionARN(local.StateMachineARN, analysis.ExecutionName(id, 1))
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(cli, "--endpoint-url", w.Endpoint, "--region", local.Region, "stepfunctions", "stop-execution", "--execution-arn", arn)
	cmd.Env = append(os.Environ(), "AWS_ACCESS_KEY_ID="+local.AccessKey, "AWS_SECRET_ACCESS_KEY="+local.SecretKey)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Skipf("the AWS CLI does not run here: %v: %s", err, out)
	}
	eventually(t, time.Minute, "the end", func() bool { return w.row(id).Status.Ended() })
	w.settled(id, analysis.Failed, reason.Stopped, 1)
}

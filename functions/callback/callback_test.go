package callback_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"fastbowlinglab/functions/callback"
	"fastbowlinglab/functions/internal/posetest"
	signed "fastbowlinglab/shared/callback"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/posejob"
)

var current, previous = []byte("the current key of ours"), []byte("the key before that one")

type keys struct{ err error }

func (k keys) Keys(context.Context) ([][]byte, error) { return [][]byte{current, previous}, k.err }

type world struct {
	*posetest.World
	deps callback.Deps
	job  posejob.Job
}

// claimed is a world in which a worker owns the job.
func claimed(t *testing.T) *world {
	p := posetest.New(t, 1)
	if _, err := p.Jobs.Enqueue(t.Context(), names.TokenIn{Run: p.Run}); err != nil {
		t.Fatal(err)
	}
	job, err := p.Jobs.Claim(t.Context(), p.Run.AnalysisID, posejob.Claimant{Name: "w", Engine: "e", Model: "m"})
	if err != nil {
		t.Fatal(err)
	}
	return &world{World: p, job: job, deps: callback.Deps{Jobs: p.Jobs, Tokens: p.Answerer(), Keys: keys{},
		Seen: callback.Seen{DB: p.DB, Table: names.Effects.Name, Retry: posetest.Quick}}}
}

func (w *world) result() names.PoseCallback {
	return names.PoseCallback{Run: w.Run, Fence: w.job.Fence,
		Result: names.VerdictOut{Verdict: names.VerdictPass, ResultKey: names.PoseResultKey(w.Run.AnalysisID, 1, w.job.Fence)}}
}

func encode(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// send sends a body signed with a key.
func (w *world) send(t *testing.T, id, body string, key []byte, at time.Time, change ...func(*events.APIGatewayV2HTTPRequest)) (int, string) {
	t.Helper()
	ev := events.APIGatewayV2HTTPRequest{Body: body, Headers: map[string]string{"x-event-id": id,
		"x-timestamp": strconv.FormatInt(at.Unix(), 10), "x-signature": signed.Sign(key, id, at, []byte(body))}}
	for _, c := range change {
		c(&ev)
	}
	out, err := callback.New(w.deps).Invoke(t.Context(), []byte(encode(t, ev)))
	if err != nil {
		t.Fatal(err)
	}
	var resp events.APIGatewayV2HTTPResponse
	var v struct{ State string }
	if err := errors.Join(json.Unmarshal(out, &resp), json.Unmarshal([]byte(resp.Body), &v)); err != nil {
		t.Fatalf("%s: %v", out, err)
	}
	return resp.StatusCode, v.State
}

func TestTaken(t *testing.T) {
	for name, key := range map[string][]byte{"CurrentKey": current, "PreviousKey": previous} {
		t.Run(name, func(t *testing.T) {
			w := claimed(t)
			token2 := w.Await(w.Run)
			if code, state := w.send(t, "m-1", encode(t, w.result()), key, time.Now()); code != 200 || state != "taken" {
				t.Fatalf("%d %s", code, state)
			}
			if j := w.Job(); j.State != posejob.Done || *j.Result != w.result().Result {
				t.Errorf("job %s %+v", j.State, j.Result)
			}
			if got := w.Tokens.Get(token2); !got.Closed || got.Output != encode(t, w.result().Result) {
				t.Errorf("token 2: %+v", got)
			}
			if code, state := w.send(t, "m-1", encode(t, w.result()), key, time.Now()); code != 200 || state != "taken" {
				t.Errorf("the same message again: %d %s", code, state)
			}
			if code, _ := w.send(t, "m-1", encode(t, w.result())+" ", key, time.Now()); code != 422 {
				t.Errorf("other bytes under the same id: %d, want 422", code)
			}
			if code, state := w.send(t, "m-2", encode(t, w.result()), key, time.Now()); code != 200 || state != "taken" {
				t.Errorf("the same result in another message: %d %s", code, state)
			}
			if n := w.Tokens.Get(token2).Late; n != 1 { // m-2's answer, which is final and harmless
				t.Errorf("%d late answers to token 2, want 1", n)
			}
		})
	}
}

// The callback and the worker's own completion are one conditional write:
// whichever comes second changes nothing.
func TestMeetsCompletion(t *testing.T) {
	w := claimed(t)
	if _, err := w.Jobs.Complete(t.Context(), w.job.Lease(), w.result().Result); err != nil {
		t.Fatal(err)
	}
	if code, state := w.send(t, "m", encode(t, w.result()), current, time.Now()); code != 200 || state != "taken" {
		t.Errorf("after the worker's own completion: %d %s", code, state)
	}
	other := w.result()
	other.Result = names.VerdictOut{Verdict: names.VerdictReject, Reason: "no_person"}
	if code, _ := w.send(t, "n", encode(t, other), current, time.Now()); code != 409 {
		t.Errorf("another result of the same fence: %d, want 409", code)
	}
	if j := w.Job(); *j.Result != w.result().Result {
		t.Errorf("the result was replaced: %+v", j.Result)
	}
}

func TestLostFence(t *testing.T) {
	w := claimed(t)
	stale := w.result()
	if _, err := w.Jobs.Release(t.Context(), w.job.Lease()); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Jobs.Claim(t.Context(), w.Run.AnalysisID, posejob.Claimant{Name: "other", Engine: "e", Model: "m"}); err != nil {
		t.Fatal(err)
	}
	if code, state := w.send(t, "m", encode(t, stale), current, time.Now()); code != 409 || state != "lost" {
		t.Errorf("a stale fence: %d %s", code, state)
	}
	if j := w.Job(); j.State != posejob.Claimed || j.Result != nil {
		t.Errorf("job %s", j.State)
	}
}

func TestRefused(t *testing.T) {
	w := claimed(t)
	good := encode(t, w.result())
	foreign := w.result()
	foreign.Result.ResultKey = "work/another/1/1/result.json"
	now := time.Now()
	for name, c := range map[string]struct {
		body   string
		key    []byte
		at     time.Time
		change func(*events.APIGatewayV2HTTPRequest)
		want   int
	}{
		"AnotherKey":      {good, []byte("a key that we never had"), now, nil, 401},
		"Old":             {good, current, now.Add(-signed.Window - 2*time.Second), nil, 401},
		"BodyChanged":     {good, current, now, func(e *events.APIGatewayV2HTTPRequest) { e.Body += " " }, 401},
		"NoSignature":     {good, current, now, func(e *events.APIGatewayV2HTTPRequest) { delete(e.Headers, "x-signature") }, 401},
		"TwoSignatures":   {good, current, now, func(e *events.APIGatewayV2HTTPRequest) { e.Headers["X-Signature"] = "00" }, 401},
		"NoJSON":          {"result", current, now, nil, 400},
		"UnknownMember":   {good[:len(good)-1] + `,"more":1}`, current, now, nil, 400},
		"ForeignResult":   {encode(t, foreign), current, now, nil, 400},
		"DuplicateMember": {strings.Replace(good, `{"analysis_id":`, `{"analysis_id":"an-other","analysis_id":`, 1), current, now, nil, 400},
		"NoFence":         {encode(t, names.PoseCallback{Run: w.Run, Result: w.result().Result}), current, now, nil, 400},
		"RejectNoReason":  {encode(t, names.PoseCallback{Run: w.Run, Fence: 1, Result: names.VerdictOut{Verdict: names.VerdictReject}}), current, now, nil, 400},
		"BadBase64":       {good, current, now, func(e *events.APIGatewayV2HTTPRequest) { e.IsBase64Encoded, e.Body = true, "%" }, 400},
	} {
		t.Run(name, func(t *testing.T) {
			var change []func(*events.APIGatewayV2HTTPRequest)
			if c.change != nil {
				change = append(change, c.change)
			}
			if code, state := w.send(t, "m-"+name, c.body, c.key, c.at, change...); code != c.want {
				t.Errorf("%d %s, want %d", code, state, c.want)
			}
		})
	}
	if j := w.Job(); j.State != posejob.Claimed {
		t.Errorf("a refused message ended the job: %s", j.State)
	}
	if code, _ := w.send(t, "b64", good, current, now, func(e *events.APIGatewayV2HTTPRequest) {
		e.IsBase64Encoded, e.Body = true, base64.StdEncoding.EncodeToString([]byte(good))
	}); code != 200 {
		t.Errorf("base64: %d", code)
	}
	w.deps.Keys = keys{err: errors.New("away")}
	if code, _ := w.send(t, "k", good, current, now); code != 503 {
		t.Errorf("without keys: %d, want 503", code)
	}
}

// 20 at once, and an hour later: one result, the same answer.
func TestRepeatedCallbacks(t *testing.T) {
	w := claimed(t)
	body, now := encode(t, w.result()), time.Now()
	type answer struct {
		code  int
		state string
	}
	answers := make(chan answer, 20)
	for range 20 {
		go func() {
			code, state := w.send(t, "m", body, current, now)
			answers <- answer{code, state}
		}()
	}
	for range 20 {
		if a := <-answers; a != (answer{200, "taken"}) {
			t.Errorf("in parallel: %+v", a)
		}
	}
	before := w.Job()
	w.deps.Now = func() time.Time { return now.Add(time.Hour) }
	if code, state := w.send(t, "m", body, current, now.Add(time.Hour)); code != 200 || state != "taken" {
		t.Errorf("an hour later: %d %s", code, state)
	}
	if code, _ := w.send(t, "m", body, current, now); code != 401 {
		t.Errorf("the old bytes, an hour later: %d", code)
	}
	if after := w.Job(); encode(t, after) != encode(t, before) {
		t.Errorf("the job changed: %+v, then %+v", before, after)
	}
}

// Field case 14: the note of a message is kept for a while. When that is over it
// makes no difference whether the table has reaped it.
func TestAnOldNoteIsNoNote(t *testing.T) {
	for _, reaped := range []bool{false, true} {
		t.Run(fmt.Sprint("reaped ", reaped), func(t *testing.T) {
			w := claimed(t)
			now := time.Now()
			if code, state := w.send(t, "m", encode(t, w.result()), current, now); code != 200 || state != "taken" {
				t.Fatalf("%d %s", code, state)
			}
			before := w.Job()
			other := w.result()
			other.Result = names.VerdictOut{Verdict: names.VerdictReject, Reason: "no_person"}
			if code, _ := w.send(t, "m", encode(t, other), current, now); code != 422 {
				t.Errorf("at once: %d, want 422", code)
			}
			if reaped {
				key := map[string]types.AttributeValue{"effect": &types.AttributeValueMemberS{Value: "callback#pose#m"}}
				out, err := w.DB.DeleteItem(t.Context(), &dynamodb.DeleteItemInput{TableName: &names.Effects.Name, Key: key, ReturnValues: types.ReturnValueAllOld})
				if err != nil || len(out.Attributes) == 0 {
					t.Fatalf("%v, %v", out, err)
				}
			}
			later := now.Add(time.Hour)
			w.deps.Now = func() time.Time { return later }
			if code, state := w.send(t, "m", encode(t, other), current, later); code != 409 || state != "lost" {
				t.Errorf("an hour later: %d %s, want 409 lost", code, state)
			}
			if after := w.Job(); encode(t, after) != encode(t, before) {
				t.Errorf("the job changed: %+v, then %+v", before, after)
			}
		})
	}
}

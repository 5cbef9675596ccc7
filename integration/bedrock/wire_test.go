package bedrock_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime/document"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime/types"
	"github.com/aws/smithy-go"

	"fastbowlinglab/shared/aitask"
	wire "fastbowlinglab/shared/bedrock"
)

// tap keeps the last request that went through it.
type tap struct {
	http.Handler
	path string
	body []byte
}

func (t *tap) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	t.path = r.URL.EscapedPath()
	t.body, _ = io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(t.body))
	t.Handler.ServeHTTP(w, r)
}

// AWS's own client and ours send the same and read the same.
func TestOurClientSpeaksAsTheSDKDoes(t *testing.T) {
	srv := &tap{Handler: standIn(nil)}
	const data = `<data>{"clips":[{"index":0,"measures":[{"name":"front_knee_angle","phase":"release","value":141,"unit":"degrees","band":9,"confidence":0.8}]}]}</data>`
	for _, id := range []string{model, "amazon.nova-pro-v1:0"} {
		theirs, err := bedrockruntime.NewFromConfig(config(srv)).Converse(t.Context(), &bedrockruntime.ConverseInput{
			ModelId: aws.String(id),
			System:  []types.SystemContentBlock{&types.SystemContentBlockMemberText{Value: "Prompt."}},
			Messages: []types.Message{{Role: types.ConversationRoleUser, Content: []types.ContentBlock{
				&types.ContentBlockMemberText{Value: data}}}},
			InferenceConfig: &types.InferenceConfiguration{MaxTokens: aws.Int32(100000), Temperature: aws.Float32(0)},
			ToolConfig: &types.ToolConfiguration{
				Tools: []types.Tool{&types.ToolMemberToolSpec{Value: types.ToolSpecification{Name: aws.String("findings"), Description: aws.String("D."),
					InputSchema: &types.ToolInputSchemaMemberJson{Value: document.NewLazyDocument(map[string]any{"type": "object"})}}}},
				ToolChoice: &types.ToolChoiceMemberTool{Value: types.SpecificToolChoice{Name: aws.String("findings")}},
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		path, body := srv.path, srv.body

		zero := 0.0
		ours, err := wire.New(config(srv)).Converse(t.Context(), wire.Request{
			Model: id, System: []wire.Block{wire.Text("Prompt.")},
			Messages:   []wire.Message{{Role: "user", Content: []wire.Block{wire.Text(data)}}},
			Inference:  &wire.Inference{MaxTokens: 100000, Temperature: &zero},
			ToolConfig: wire.OneTool("findings", "D.", json.RawMessage(`{"type":"object"}`)),
		})
		if err != nil {
			t.Fatal(err)
		}
		if srv.path != path || !reflect.DeepEqual(asJSON(t, srv.body), asJSON(t, body)) {
			t.Errorf("ours:   %s %s\ntheirs: %s %s", srv.path, srv.body, path, body)
		}
		use := theirs.Output.(*types.ConverseOutputMemberMessage).Value.Content[0].(*types.ContentBlockMemberToolUse).Value
		input, err := use.Input.MarshalSmithyDocument()
		if err != nil {
			t.Fatal(err)
		}
		got := ours.Output.Message.Content[0].ToolUse
		if got.Name != *use.Name || got.ID != *use.ToolUseId || !reflect.DeepEqual(asJSON(t, got.Input), asJSON(t, input)) {
			t.Errorf("ours: %s, theirs: %s", got.Input, input)
		}
		if ours.StopReason != string(theirs.StopReason) || *ours.Usage.Input != int64(*theirs.Usage.InputTokens) ||
			*ours.Usage.Output != int64(*theirs.Usage.OutputTokens) || *ours.Usage.Total != int64(*theirs.Usage.TotalTokens) {
			t.Errorf("ours: %+v, theirs: %+v", ours.Usage, theirs.Usage)
		}
	}
}

// Both clients give an error the same code and message, however AWS spells it.
func TestErrorsReadAsTheSDKDoes(t *testing.T) {
	for _, name := range []string{"e1_throttle.json", "e2_model_retired_validation.json", "e3_model_end_of_life.json", "e4_model_timeout.json", "e5_throttle_lowercase.json"} {
		for _, inBody := range []bool{false, true} {
			act := recorded(t, name)
			act.InBody = inBody
			cfg := config(standIn(always(act)))
			_, theirs := bedrockruntime.NewFromConfig(cfg).Converse(t.Context(), &bedrockruntime.ConverseInput{ModelId: aws.String(model),
				Messages: []types.Message{{Role: types.ConversationRoleUser, Content: []types.ContentBlock{&types.ContentBlockMemberText{Value: "x"}}}}})
			_, ours := wire.New(cfg).Converse(t.Context(), wire.Request{Model: model,
				Messages: []wire.Message{{Role: "user", Content: []wire.Block{wire.Text("x")}}}})
			var a, b smithy.APIError
			if !errors.As(theirs, &a) || !errors.As(ours, &b) || !strings.EqualFold(a.ErrorCode(), b.ErrorCode()) || a.ErrorMessage() != b.ErrorMessage() {
				t.Errorf("%s in body %t: theirs %v, ours %v", name, inBody, theirs, ours)
			}
			if b.ErrorCode() != act.Code {
				t.Errorf("code %q, want %q", b.ErrorCode(), act.Code)
			}
		}
	}
}

func TestSignatureIsChecked(t *testing.T) {
	srv := standIn(nil)
	tamper := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		b = bytes.Replace(b, []byte("maxTokens"), []byte("MaxTokens"), 1)
		r.Body = io.NopCloser(bytes.NewReader(b))
		srv.ServeHTTP(w, r)
	})
	unsigned := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Header.Del("Authorization")
		srv.ServeHTTP(w, r)
	})
	other := standIn(nil)
	other.SecretKey = "another"
	elsewhere := standIn(nil)
	elsewhere.Region = "us-east-1"
	req := request(t, aitask.Findings)
	for name, h := range map[string]http.Handler{"Tampered": tamper, "Unsigned": unsigned, "OtherKey": other, "OtherRegion": elsewhere} {
		_, err := provider(h).Call(t.Context(), req)
		var e *aitask.CallError
		if !errors.As(err, &e) || e.Failure != aitask.Refused {
			t.Errorf("%s: %v, want it refused", name, err)
		}
	}
	if n := len(srv.Calls()) + len(other.Calls()) + len(elsewhere.Calls()); n != 0 {
		t.Errorf("%d calls were taken", n)
	}
	if _, err := provider(srv).Call(t.Context(), req); err != nil {
		t.Error(err)
	}
}

func TestMalformedRequestsAreRefused(t *testing.T) {
	srv := standIn(nil)
	c := wire.New(config(srv))
	user := func(b ...wire.Block) []wire.Message { return []wire.Message{{Role: "user", Content: b}} }
	tool := func(schema string) *wire.ToolConfig { return wire.OneTool("findings", "", json.RawMessage(schema)) }
	for name, r := range map[string]wire.Request{
		"NoMessage":     {},
		"Assistant":     {Messages: []wire.Message{{Role: "assistant", Content: []wire.Block{wire.Text("x")}}}},
		"NoContent":     {Messages: user()},
		"Blank":         {Messages: user(wire.Text(""))},
		"EmptyBlock":    {Messages: user(wire.Block{})},
		"NotAPicture":   {Messages: user(wire.JPEG([]byte("GIF89a")))},
		"NoTokens":      {Messages: user(wire.Text("x")), Inference: &wire.Inference{}},
		"SchemaTooRich": {Messages: user(wire.Text("x")), ToolConfig: tool(`{"type":"object","title":"t"}`)},
		"SchemaNoType":  {Messages: user(wire.Text("x")), ToolConfig: tool(`{"properties":{}}`)},
		"UnknownTool":   {Messages: user(wire.Text("<data>{}</data>")), ToolConfig: wire.OneTool("poem", "", json.RawMessage(`{"type":"object"}`))},
	} {
		r.Model = model
		_, err := c.Converse(t.Context(), r)
		var e smithy.APIError
		if !errors.As(err, &e) || e.ErrorCode() != "ValidationException" {
			t.Errorf("%s: %v, want a ValidationException", name, err)
		}
	}
}

// What never left is told apart from what may have.
func TestNotSent(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	srv := standIn(nil)
	if _, err := wire.New(config(srv)).Converse(ctx, wire.Request{Model: model}); !wire.NotSent(err) {
		t.Errorf("a context that is over: %v", err)
	}
	if _, err := wire.New(config(srv)).Converse(t.Context(), wire.Request{}); !wire.NotSent(err) {
		t.Errorf("no model: %v", err)
	}
	if len(srv.Calls()) != 0 {
		t.Error("it was sent all the same")
	}
}

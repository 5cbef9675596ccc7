package bedrock_test

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"fastbowlinglab/integration/bedrock"
	"fastbowlinglab/integration/local/endpoint"
	"fastbowlinglab/shared/aitask"
	wire "fastbowlinglab/shared/bedrock"
	"fastbowlinglab/shared/budget"
	"fastbowlinglab/shared/motion"
)

const model = "us.amazon.nova-lite-v1:0"

func standIn(script func(int, bedrock.Call) *bedrock.Act) *bedrock.Server {
	return &bedrock.Server{AccessKey: "AK", SecretKey: "SK", Region: "eu-west-1", Script: script}
}

// config reaches a handler without a socket.
func config(h http.Handler) aws.Config {
	return aws.Config{Region: "eu-west-1", Credentials: credentials.NewStaticCredentialsProvider("AK", "SK", "TOKEN"),
		BaseEndpoint: aws.String("http://bedrock.test"), HTTPClient: &http.Client{Transport: endpoint.Transport{Handler: h}},
		Retryer: func() aws.Retryer { return aws.NopRetryer{} }}
}

// free is a budget with room at any time.
type free struct{}

func (free) Wait(context.Context, string, budget.Limit, int) error { return nil }

func provider(h http.Handler) aitask.Bedrock {
	return aitask.Bedrock{API: wire.New(config(h)), Budget: free{}, Rand: func() float64 { return 1 }}
}

func request(t *testing.T, task aitask.Task) aitask.Request {
	t.Helper()
	spec, err := aitask.SpecOf(task)
	if err != nil {
		t.Fatal(err)
	}
	in := aitask.Input{Result: measured()}
	if task == aitask.Coaching {
		in.Findings = &aitask.FindingsText{Summary: "S.", Items: []aitask.Finding{{Title: "Front knee bends", Detail: "D.", Kind: aitask.WorkOn}}}
	}
	return aitask.Request{Spec: spec, Model: model, Input: in}
}

func measured() motion.Result {
	return motion.Result{Version: 1, Clips: []motion.Clip{{Index: 0, FrameRate: 60, Arm: motion.Right, Confidence: 0.9,
		Measures: []motion.Measure{
			{Name: motion.FrontKneeAngle, Phase: motion.Release, Value: 141, Unit: motion.Degrees, Band: 9, Confidence: 0.8},
			{Name: motion.TrunkSide, Phase: motion.Release, Unit: motion.Degrees, NotMeasured: "a side-on view cannot show it"},
		}}}}
}

// fieldCase reads a payload of the field cases; skipped where they are missing.
func fieldCase(t *testing.T, name string) []byte {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for ; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
		if dir == "/" {
			t.Fatal("no go.mod above the test")
		}
	}
	b, err := os.ReadFile(filepath.Join(filepath.Dir(dir), "shared", "cases", "payloads", name))
	if err != nil {
		t.Skipf("field case %s is missing: %v", name, err)
	}
	return b
}

// recorded makes an act of a field case.
func recorded(t *testing.T, name string) *bedrock.Act {
	t.Helper()
	a, err := bedrock.Recorded(fieldCase(t, name))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func asJSON(t *testing.T, b []byte) any {
	t.Helper()
	var v any
	if err := json.Unmarshal(b, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

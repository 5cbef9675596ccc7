package local

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ssm"

	"fastbowlinglab/integration/bedrock"
	"fastbowlinglab/shared/aitask"
	wire "fastbowlinglab/shared/bedrock"
	"fastbowlinglab/shared/names"
)

// A signed call of a model reaches the stand-in through the endpoint, and an
// operator's setting is the one that tasks read.
func TestModels(t *testing.T) {
	c := start(t)
	a, err := wire.New(c.AWS()).Converse(t.Context(), wire.Request{Model: StandInModel,
		Messages:   []wire.Message{{Role: "user", Content: []wire.Block{wire.Text("<data>{}</data>")}}},
		ToolConfig: wire.OneTool("precheck", "D.", []byte(`{"type":"object"}`))})
	if err != nil || len(a.Output.Message.Content) != 1 || a.Output.Message.Content[0].ToolUse == nil {
		t.Errorf("%+v, %v", a, err)
	}
	if _, ok := c.services.Services["bedrock"].(*bedrock.Server); !ok {
		t.Error("the stand-in does not serve the scope bedrock")
	}
	name := aitask.Findings.Setting(names.Parameters)
	check(t, c.SetParameter(t.Context(), name, "bedrock:"+StandInModel))
	check(t, c.SetParameter(t.Context(), name, "rules"))
	out, err := ssm.NewFromConfig(c.AWS()).GetParameter(t.Context(), &ssm.GetParameterInput{Name: aws.String(name)})
	if err != nil || *out.Parameter.Value != "rules" {
		t.Errorf("%+v, %v", out, err)
	}
}

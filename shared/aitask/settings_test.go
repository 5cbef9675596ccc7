package aitask

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/ssm"
	"github.com/aws/aws-sdk-go-v2/service/ssm/types"
	"github.com/aws/smithy-go"

	"fastbowlinglab/shared/fault"
	"fastbowlinglab/shared/retry"
)

// parameters is SSM with one value, or an error.
type parameters struct {
	value string
	err   error
	asked int
	name  string
}

func (p *parameters) GetParameter(_ context.Context, in *ssm.GetParameterInput, _ ...func(*ssm.Options)) (*ssm.GetParameterOutput, error) {
	p.asked++
	p.name = *in.Name
	if p.err != nil {
		return nil, p.err
	}
	return &ssm.GetParameterOutput{Parameter: &types.Parameter{Value: &p.value}}, nil
}

func TestSettings(t *testing.T) {
	missing := &types.ParameterNotFound{}
	away := &smithy.GenericAPIError{Code: "ThrottlingException"}
	denied := &smithy.GenericAPIError{Code: "AccessDeniedException"}
	for _, c := range []struct {
		name  string
		value string
		err   error
		want  string
		fault fault.Name
	}{
		{"Set", "bedrock:eu.some-model-v1:0", nil, "bedrock:eu.some-model-v1:0", ""},
		{"ProviderAlone", " rules ", nil, "rules", ""},
		{"NotSet", "", missing, DefaultModel.String(), ""},
		{"Empty", "", nil, "", fault.ModelUnavailable},
		{"NoProvider", ":model", nil, "", fault.ModelUnavailable},
		{"Huge", "rules:" + strings.Repeat("x", 4000), nil, "", fault.ModelUnavailable},
		{"Away", "", away, "", fault.Transient},
		{"Denied", "", denied, "", fault.Permanent},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := &Settings{API: &parameters{value: c.value, err: c.err}, Prefix: "/fbl", Retry: retry.Policy{Tries: 1}}
			m, err := s.Model(t.Context(), Findings)
			if c.fault != "" {
				if err == nil || fault.NameOf(err) != c.fault || !strings.Contains(err.Error(), "/fbl/model/findings") {
					t.Fatalf("err = %v, want %s naming the setting", err, c.fault)
				}
				return
			}
			if err != nil || m.String() != c.want || m.Setting != "/fbl/model/findings" {
				t.Errorf("got %q of %q, %v", m, m.Setting, err)
			}
		})
	}
}

func TestSettingsAreKeptAndRefreshed(t *testing.T) {
	now := time.Unix(1e9, 0)
	p := &parameters{value: "rules:fast-bowling"}
	s := &Settings{API: p, Retry: retry.Policy{Tries: 1}, Now: func() time.Time { return now }}
	model := func(task Task) string {
		t.Helper()
		m, err := s.Model(t.Context(), task)
		if err != nil {
			t.Fatal(err)
		}
		return m.String()
	}
	model(Findings)
	model(Findings)
	model(Coaching)
	if p.asked != 2 {
		t.Errorf("SSM was asked %d times for two settings, want 2", p.asked)
	}
	p.value = "bedrock:new"
	now = now.Add(SettingTTL)
	if got := model(Findings); got != "bedrock:new" {
		t.Errorf("after its time the setting is still %s", got)
	}
	p.err = &smithy.GenericAPIError{Code: "ThrottlingException"}
	now = now.Add(SettingMaxStale - time.Second)
	if got := model(Findings); got != "bedrock:new" {
		t.Errorf("with SSM away the setting is %s", got)
	}
	now = now.Add(2 * time.Second)
	if _, err := s.Model(t.Context(), Findings); fault.NameOf(err) != fault.Transient {
		t.Errorf("a setting older than its limit was used: %v", err)
	}
}

package flags_test

import (
	"context"
	"errors"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/ssm"
	"github.com/aws/aws-sdk-go-v2/service/ssm/types"

	"fastbowlinglab/shared/flags"
)

// parameters answers one parameter a page.
type parameters [][2]string

func (p parameters) GetParametersByPath(_ context.Context, in *ssm.GetParametersByPathInput, _ ...func(*ssm.Options)) (*ssm.GetParametersByPathOutput, error) {
	if *in.Path != "/x/flags/" {
		return nil, errors.New("path " + *in.Path)
	}
	out := &ssm.GetParametersByPathOutput{}
	i := 0
	if in.NextToken != nil {
		i = int((*in.NextToken)[0] - '0')
	}
	if i < len(p) {
		out.Parameters = []types.Parameter{{Name: &p[i][0], Value: &p[i][1]}}
		next := string(rune('0' + i + 1))
		if i+1 < len(p) {
			out.NextToken = &next
		}
	}
	return out, nil
}

func TestRead(t *testing.T) {
	for _, tc := range []struct {
		name string
		set  parameters
		want string
	}{
		{"ships off", nil, flags.RoadQueue},
		{"set, on a later page", parameters{{"/x/flags/of_next_release", "on"}, {"/x/flags/pose_road", "http"}}, flags.RoadHTTP},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := flags.Read(t.Context(), tc.set, "/x")
			if err != nil || got[flags.PoseRoad] != tc.want || len(got) != 1 {
				t.Errorf("Read = %v, %v; want %s", got, err, tc.want)
			}
		})
	}
	var bad *flags.InvalidError
	if _, err := flags.Read(t.Context(), parameters{{"/x/flags/pose_road", "both"}}, "/x/"); !errors.As(err, &bad) || bad.Parameter != "/x/flags/pose_road" {
		t.Errorf("Read of a bad value: %v", err)
	}
}

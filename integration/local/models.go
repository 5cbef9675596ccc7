package local

import (
	"context"
	"fmt"
	"net/http"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	ssmtypes "github.com/aws/aws-sdk-go-v2/service/ssm/types"

	"fastbowlinglab/integration/bedrock"
	"fastbowlinglab/integration/local/endpoint"
)

// StandInModel is a model id that the stand-in for Bedrock serves.
const StandInModel = "us.amazon.nova-lite-v1:0"

// startModels serves Bedrock's Converse: the stand-in, unless Config says other.
func (c *Cloud) startModels() {
	var h http.Handler = &bedrock.Server{AccessKey: AccessKey, SecretKey: SecretKey, Region: Region}
	if c.cfg.Bedrock != nil {
		h = c.cfg.Bedrock
	}
	c.services.Services[endpoint.Bedrock] = h
}

// SetParameter sets a setting by its whole name, as an operator would.
func (c *Cloud) SetParameter(ctx context.Context, name, value string) error {
	_, err := ssm.NewFromConfig(c.ownAWS()).PutParameter(ctx, &ssm.PutParameterInput{Name: &name, Value: &value,
		Type: ssmtypes.ParameterTypeString, Overwrite: aws.Bool(true)})
	if err != nil {
		return fmt.Errorf("set parameter %s: %w", name, err)
	}
	return nil
}

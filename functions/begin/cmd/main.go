// Command begin is the Lambda function of package begin.
package main

import (
	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/ssm"

	"fastbowlinglab/functions/begin"
	"fastbowlinglab/functions/internal/wire"
	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/names"
)

func main() {
	wire.Log()
	env := wire.Env(names.Analyses.Env, names.EnvParameters)
	cfg := wire.Lambda()
	lambda.Start(begin.New(begin.Deps{
		Life:       analysis.Store{DB: dynamodb.NewFromConfig(cfg), Analyses: env[names.Analyses.Env]},
		Parameters: ssm.NewFromConfig(cfg),
		Prefix:     env[names.EnvParameters],
	}))
}

// Command deliver is the Lambda function of package deliver.
package main

import (
	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"fastbowlinglab/functions/deliver"
	"fastbowlinglab/functions/internal/wire"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/outcome"
)

func main() {
	wire.Log()
	env := wire.Env(names.Analyses.Env, names.Credits.Env, names.Notices.Env)
	lambda.Start(deliver.New(outcome.Store{
		DB:       dynamodb.NewFromConfig(wire.Lambda()),
		Analyses: env[names.Analyses.Env],
		Credits:  env[names.Credits.Env],
		Notices:  env[names.Notices.Env],
	}))
}

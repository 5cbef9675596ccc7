// Command watch is the Lambda function of package watch.
package main

import (
	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"fastbowlinglab/functions/internal/wire"
	"fastbowlinglab/functions/watch"
	"fastbowlinglab/shared/batchrun"
	"fastbowlinglab/shared/names"
)

func main() {
	wire.Log()
	env := wire.Env(names.Runs.Env)
	lambda.Start(watch.New(watch.Deps{Runs: batchrun.Store{DB: dynamodb.NewFromConfig(wire.Lambda()), Table: env[names.Runs.Env]}}))
}

// Command feedback is the Lambda function of package feedback.
package main

import (
	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"fastbowlinglab/functions/feedback"
	"fastbowlinglab/functions/internal/wire"
	"fastbowlinglab/shared/athlete"
	"fastbowlinglab/shared/names"
)

func main() {
	wire.Log()
	env := wire.Env(names.Athletes.Env, names.Suppressions.Env)
	lambda.Start(feedback.New(athlete.Store{DB: dynamodb.NewFromConfig(wire.Lambda()),
		Athletes: env[names.Athletes.Env], Suppressions: env[names.Suppressions.Env]}))
}

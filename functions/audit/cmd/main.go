// Command audit is the Lambda function of package audit.
package main

import (
	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"fastbowlinglab/functions/audit"
	"fastbowlinglab/functions/internal/wire"
	"fastbowlinglab/shared/names"
)

func main() {
	wire.Log()
	env := wire.Env(names.Analyses.Env, names.Credits.Env, names.Notices.Env, names.Effects.Env, names.Usage.Env, names.Prices.Env, names.EnvBucket)
	cfg := wire.Lambda()
	lambda.Start(audit.New(audit.Deps{
		DB: dynamodb.NewFromConfig(cfg), Objects: s3.NewFromConfig(cfg), Bucket: env[names.EnvBucket],
		Analyses: env[names.Analyses.Env], Credits: env[names.Credits.Env], Notices: env[names.Notices.Env],
		Effects: env[names.Effects.Env], Usage: env[names.Usage.Env], Prices: env[names.Prices.Env],
	}))
}

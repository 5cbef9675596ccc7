// Command nightly is the Lambda function of package nightly.
package main

import (
	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"fastbowlinglab/functions/internal/aistage"
	"fastbowlinglab/functions/internal/wire"
	fn "fastbowlinglab/functions/nightly"
	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/nightly"
)

func main() {
	wire.Log()
	env := wire.Env(aistage.BatchEnv()...)
	cfg := wire.Lambda()
	db := dynamodb.NewFromConfig(cfg)
	lambda.Start(fn.New(nightly.Job{
		Runs: aistage.Runs(db, env), Rows: aistage.TagRows(db, env), Tagger: aistage.Tagger(cfg, env),
		Days: analysis.Store{DB: db, Analyses: env[names.Analyses.Env]},
	}))
}

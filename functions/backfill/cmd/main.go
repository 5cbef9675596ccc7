// Command backfill is the Lambda function of package backfill.
package main

import (
	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	fn "fastbowlinglab/functions/backfill"
	"fastbowlinglab/functions/internal/aistage"
	"fastbowlinglab/functions/internal/wire"
	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/backfill"
	"fastbowlinglab/shared/batchrun"
	"fastbowlinglab/shared/names"
)

func main() {
	wire.Log()
	env := wire.Env(aistage.BackfillEnv()...)
	cfg := wire.Lambda()
	db := dynamodb.NewFromConfig(cfg)
	objects := s3.NewFromConfig(cfg, func(o *s3.Options) { o.UsePathStyle = cfg.BaseEndpoint != nil })
	runs := aistage.Runs(db, env)
	lambda.Start(fn.New(backfill.Job{
		Runs: runs, Items: batchrun.Items{Store: runs, Bulk: db}, Days: analysis.Store{DB: db, Analyses: env[names.Analyses.Env]},
		Objects: objects, Bucket: env[names.EnvBucket],
		Works: aistage.Works(cfg, db, objects, env),
	}))
}

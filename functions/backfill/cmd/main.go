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
	"fastbowlinglab/shared/nightly"
)

func main() {
	wire.Log()
	env := wire.Env(aistage.BatchEnv()...)
	cfg := wire.Lambda()
	db := dynamodb.NewFromConfig(cfg)
	life := analysis.Store{DB: db, Analyses: env[names.Analyses.Env]}
	runs := aistage.Runs(db, env)
	lambda.Start(fn.New(backfill.Job{
		Runs: runs, Items: batchrun.Items{Store: runs, Bulk: db}, Days: life,
		Objects: s3.NewFromConfig(cfg, func(o *s3.Options) { o.UsePathStyle = cfg.BaseEndpoint != nil }), Bucket: env[names.EnvBucket],
		Works: map[string]backfill.Worker{
			names.EffectTags: {Work: nightly.Redo{Get: life.Get, Tagger: aistage.Tagger(cfg, env), Rows: aistage.TagRows(db, env)}},
		},
	}))
}

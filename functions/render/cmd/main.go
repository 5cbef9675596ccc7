// Command render is the Lambda function of package render. The fonts lie in the
// folder that FONTS_DIR names, beside the binary when it is deployed.
package main

import (
	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"fastbowlinglab/functions/internal/wire"
	"fastbowlinglab/functions/render"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/report"
)

func main() {
	wire.Log()
	env := wire.Env(names.Analyses.Env, names.EnvBucket, names.EnvFonts)
	reporter, err := report.New(env[names.EnvFonts])
	if err != nil {
		wire.Fatal(err)
	}
	cfg := wire.Lambda()
	lambda.Start(render.New(render.Deps{
		DB:       dynamodb.NewFromConfig(cfg),
		Table:    env[names.Analyses.Env],
		Objects:  s3.NewFromConfig(cfg, func(o *s3.Options) { o.UsePathStyle = cfg.BaseEndpoint != nil }),
		Bucket:   env[names.EnvBucket],
		Reporter: reporter,
	}))
}

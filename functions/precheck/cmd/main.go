// Command precheck is the Lambda function of package precheck. It is built with
// cgo, into an image that holds ffmpeg and ONNX Runtime.
package main

import (
	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"fastbowlinglab/functions/internal/aistage"
	"fastbowlinglab/functions/internal/wire"
	"fastbowlinglab/functions/precheck"
	"fastbowlinglab/shared/media"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/pose/engine"
)

func main() {
	wire.Log()
	env := wire.Env(append(aistage.Env(), names.EnvModels, names.EnvORT, names.EnvPoseModel)...)
	e, err := engine.Open(engine.Config{ModelsDir: env[names.EnvModels], ORTLibrary: env[names.EnvORT], DetectorOnly: true})
	if err != nil {
		wire.Fatal(err)
	}
	cfg := wire.Lambda()
	objects := s3.NewFromConfig(cfg, func(o *s3.Options) { o.UsePathStyle = cfg.BaseEndpoint != nil })
	lambda.Start(precheck.New(precheck.Deps{
		DB:       dynamodb.NewFromConfig(cfg),
		Analyses: env[names.Analyses.Env],
		Sign:     s3.NewPresignClient(objects),
		Objects:  objects,
		Bucket:   env[names.EnvBucket],
		Tasks:    aistage.Runner(cfg, env, precheck.Rules{}),
		Detect:   e.Detect,
		Limits:   media.DefaultLimits(),
		Together: *media.DefaultTogether(env[names.EnvPoseModel]),
	}))
}

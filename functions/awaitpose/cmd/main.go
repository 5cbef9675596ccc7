// Command awaitpose is the Lambda function of package awaitpose.
package main

import (
	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/sfn"

	"fastbowlinglab/functions/awaitpose"
	"fastbowlinglab/functions/internal/wire"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/posejob"
	"fastbowlinglab/shared/tasktoken"
)

func main() {
	wire.Log()
	env := wire.Env(names.Analyses.Env, names.PoseJobs.Env)
	cfg := wire.Lambda()
	lambda.Start(awaitpose.New(awaitpose.Deps{
		Jobs: &posejob.Store{DB: dynamodb.NewFromConfig(cfg),
			Table: env[names.PoseJobs.Env], Analyses: env[names.Analyses.Env]},
		Tokens: tasktoken.Answerer{API: sfn.NewFromConfig(cfg)},
	}))
}

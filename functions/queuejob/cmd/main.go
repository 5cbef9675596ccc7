// Command queuejob is the Lambda function of package queuejob.
package main

import (
	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"fastbowlinglab/functions/internal/wire"
	"fastbowlinglab/functions/queuejob"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/posejob"
	"fastbowlinglab/shared/tasktoken"
)

func main() {
	wire.Log()
	env := wire.Env(names.Analyses.Env, names.PoseJobs.Env, names.PoseQueue.Env)
	cfg := wire.Lambda()
	lambda.Start(queuejob.New(queuejob.Deps{
		Jobs: &posejob.Store{DB: dynamodb.NewFromConfig(cfg),
			Table: env[names.PoseJobs.Env], Analyses: env[names.Analyses.Env]},
		Tokens:   tasktoken.Answerer{API: sfn.NewFromConfig(cfg)},
		Queue:    sqs.NewFromConfig(cfg),
		QueueURL: env[names.PoseQueue.Env],
	}))
}

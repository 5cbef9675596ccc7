// Command callback is the Lambda function of package callback.
package main

import (
	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/sfn"

	"fastbowlinglab/functions/callback"
	"fastbowlinglab/functions/internal/wire"
	signed "fastbowlinglab/shared/callback"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/posejob"
	"fastbowlinglab/shared/tasktoken"
)

func main() {
	wire.Log()
	env := wire.Env(names.Analyses.Env, names.PoseJobs.Env, names.Effects.Env, names.EnvCallbackKeys)
	cfg := wire.Lambda()
	db := dynamodb.NewFromConfig(cfg)
	lambda.Start(callback.New(callback.Deps{
		Jobs:   &posejob.Store{DB: db, Table: env[names.PoseJobs.Env], Analyses: env[names.Analyses.Env]},
		Tokens: tasktoken.Answerer{API: sfn.NewFromConfig(cfg)},
		Keys:   &signed.Secret{Client: secretsmanager.NewFromConfig(cfg), ID: env[names.EnvCallbackKeys]},
		Seen:   callback.Seen{DB: db, Table: env[names.Effects.Env]},
	}))
}

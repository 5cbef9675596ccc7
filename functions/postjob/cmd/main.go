// Command postjob is the Lambda function of package postjob.
package main

import (
	"net/http"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"fastbowlinglab/functions/internal/wire"
	"fastbowlinglab/functions/postjob"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/posejob"
)

func main() {
	wire.Log()
	env := wire.Env(names.Analyses.Env, names.PoseJobs.Env, names.EnvPoseURL)
	lambda.Start(postjob.New(postjob.Deps{
		Jobs: &posejob.Store{DB: dynamodb.NewFromConfig(wire.Lambda()),
			Table: env[names.PoseJobs.Env], Analyses: env[names.Analyses.Env]},
		Client: &http.Client{}, URL: env[names.EnvPoseURL],
	}))
}

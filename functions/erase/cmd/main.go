// Command erase is the Lambda function of package erase.
package main

import (
	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sfn"

	"fastbowlinglab/functions/erase"
	"fastbowlinglab/functions/internal/wire"
	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/athlete"
	"fastbowlinglab/shared/credit"
	"fastbowlinglab/shared/erasure"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/outcome"
)

func main() {
	wire.Log()
	env := wire.Env(names.Analyses.Env, names.Credits.Env, names.Effects.Env, names.PoseJobs.Env, names.Notices.Env,
		names.Athletes.Env, names.Suppressions.Env, names.Erasures.Env, names.Usage.Env, names.Tags.Env, names.Runs.Env, names.EnvBucket, names.EnvStateMachineARN)
	cfg := wire.Lambda()
	db := dynamodb.NewFromConfig(cfg)
	lambda.Start(erase.New(erase.Deps{
		Erasures: erasure.Store{DB: db, Table: env[names.Erasures.Env]},
		Life:     analysis.Store{DB: db, Analyses: env[names.Analyses.Env], Credits: env[names.Credits.Env]},
		Ends:     outcome.Store{DB: db, Analyses: env[names.Analyses.Env], Credits: env[names.Credits.Env], Notices: env[names.Notices.Env]},
		Ledger:   credit.Store{DB: db, Credits: env[names.Credits.Env], Effects: env[names.Effects.Env]},
		People:   athlete.Store{DB: db, Athletes: env[names.Athletes.Env], Suppressions: env[names.Suppressions.Env]},
		Rows: erase.Rows{DB: db, Analyses: env[names.Analyses.Env], PoseJobs: env[names.PoseJobs.Env], Notices: env[names.Notices.Env],
			Effects: env[names.Effects.Env], Usage: env[names.Usage.Env], Tags: env[names.Tags.Env], Runs: env[names.Runs.Env]},
		Objects: erase.Objects{S3: s3.NewFromConfig(cfg), Bucket: env[names.EnvBucket]},
		Scan:    db, Steps: sfn.NewFromConfig(cfg), MachineARN: env[names.EnvStateMachineARN],
	}))
}

// Command api is the Lambda function of package api.
package main

import (
	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/sfn"

	"fastbowlinglab/functions/api"
	"fastbowlinglab/functions/internal/wire"
	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/athlete"
	"fastbowlinglab/shared/callback"
	"fastbowlinglab/shared/credit"
	"fastbowlinglab/shared/erasure"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/outcome"
	"fastbowlinglab/shared/posejob"
	"fastbowlinglab/shared/usage"
)

func main() {
	wire.Log()
	env := wire.Env(names.Analyses.Env, names.Credits.Env, names.Notices.Env, names.Effects.Env, names.PoseJobs.Env,
		names.Usage.Env, names.Prices.Env, names.EnvBucket, names.EnvStateMachineARN, names.EnvIntake,
		names.Athletes.Env, names.Suppressions.Env, names.Erasures.Env, names.Tags.Env, names.EnvPaymentsSecret)
	closed, err := api.IntakeClosed(env[names.EnvIntake])
	if err != nil {
		wire.Fatal(err)
	}
	cfg := wire.Lambda()
	db, objects := dynamodb.NewFromConfig(cfg), s3.NewFromConfig(cfg)
	jobs := &posejob.Store{DB: db, Table: env[names.PoseJobs.Env], Analyses: env[names.Analyses.Env]}
	lambda.Start(api.New(api.Deps{
		Life:        analysis.Store{DB: db, Analyses: env[names.Analyses.Env], Credits: env[names.Credits.Env]},
		Ledger:      credit.Store{DB: db, Credits: env[names.Credits.Env], Effects: env[names.Effects.Env]},
		Ends:        outcome.Store{DB: db, Analyses: env[names.Analyses.Env], Credits: env[names.Credits.Env], Notices: env[names.Notices.Env]},
		Usage:       usage.Store{DB: db, Usage: env[names.Usage.Env], Prices: env[names.Prices.Env]},
		Jobs:        jobs,
		Progress:    api.PoseJobs{Store: jobs},
		People:      athlete.Store{DB: db, Athletes: env[names.Athletes.Env], Suppressions: env[names.Suppressions.Env]},
		Erasures:    erasure.Store{DB: db, Table: env[names.Erasures.Env]},
		PaymentKeys: &callback.Secret{Client: secretsmanager.NewFromConfig(cfg), ID: env[names.EnvPaymentsSecret]},
		Rows:        db,
		Notices:     env[names.Notices.Env],
		Tags:        env[names.Tags.Env],
		Folder:      objects,
		Objects:     objects,
		Signer:      api.Signer{S3: s3.NewPresignClient(objects), Credentials: cfg.Credentials, Bucket: env[names.EnvBucket]},
		Bucket:      env[names.EnvBucket],
		Steps:       sfn.NewFromConfig(cfg),
		MachineARN:  env[names.EnvStateMachineARN],
		Closed:      closed,
	}))
}

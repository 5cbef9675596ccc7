// Command operator is the Lambda function of package operator.
package main

import (
	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"fastbowlinglab/functions/internal/wire"
	"fastbowlinglab/functions/operator"
	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/batchrun"
	"fastbowlinglab/shared/credit"
	"fastbowlinglab/shared/erasure"
	"fastbowlinglab/shared/lease"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/usage"
)

func main() {
	wire.Log()
	env := wire.Env(names.Analyses.Env, names.Credits.Env, names.Effects.Env, names.Runs.Env, names.Usage.Env, names.Prices.Env,
		names.Erasures.Env, names.EnvStateMachineARN, names.EnvMachinePrefix, names.PoseQueue.Env)
	cfg := wire.Lambda()
	db := dynamodb.NewFromConfig(cfg)
	lambda.Start(operator.New(operator.Deps{
		Life:   analysis.Store{DB: db, Analyses: env[names.Analyses.Env]},
		Ledger: credit.Store{DB: db, Credits: env[names.Credits.Env], Effects: env[names.Effects.Env]},
		Runs: batchrun.Store{DB: db, Table: env[names.Runs.Env],
			Leases: lease.Store{DB: db, Table: env[names.Effects.Env], Skew: names.ClockSkew}},
		Usage:    usage.Store{DB: db, Usage: env[names.Usage.Env], Prices: env[names.Prices.Env]},
		Erasures: erasure.Store{DB: db, Table: env[names.Erasures.Env]},
		Steps:    sfn.NewFromConfig(cfg), MachineARN: env[names.EnvStateMachineARN], Machines: env[names.EnvMachinePrefix],
		Queue: sqs.NewFromConfig(cfg), QueueURL: env[names.PoseQueue.Env],
	}))
}

// Command reconcile is the Lambda function of package reconcile.
package main

import (
	"os"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/ecs"
	"github.com/aws/aws-sdk-go-v2/service/sesv2"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	"github.com/aws/aws-sdk-go-v2/service/sns"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"fastbowlinglab/functions/internal/wire"
	"fastbowlinglab/functions/reconcile"
	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/athlete"
	"fastbowlinglab/shared/fleet"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/notice"
	"fastbowlinglab/shared/outcome"
)

func main() {
	wire.Log()
	env := wire.Env(names.Analyses.Env, names.Credits.Env, names.Notices.Env, names.Effects.Env, names.EnvStateMachineARN,
		names.EnvCluster, names.EnvPoseService, names.PoseQueue.Env, names.EnvMailFrom,
		names.Athletes.Env, names.Suppressions.Env, names.EnvPushTopic)
	cfg := wire.Lambda()
	db := dynamodb.NewFromConfig(cfg)
	lambda.Start(reconcile.New(reconcile.Deps{
		Life: analysis.Store{DB: db, Analyses: env[names.Analyses.Env]},
		Ends: outcome.Store{DB: db, Analyses: env[names.Analyses.Env], Credits: env[names.Credits.Env], Notices: env[names.Notices.Env]},
		Notices: notice.Sender{DB: db, Mail: sesv2.NewFromConfig(cfg), Notices: env[names.Notices.Env],
			Push: sns.NewFromConfig(cfg), Topic: env[names.EnvPushTopic],
			People:   athlete.Store{DB: db, Athletes: env[names.Athletes.Env], Suppressions: env[names.Suppressions.Env]},
			Analyses: env[names.Analyses.Env], From: env[names.EnvMailFrom], AppURL: os.Getenv(names.EnvAppURL)},
		Fleet: fleet.Fleet{DB: db, ECS: ecs.NewFromConfig(cfg), Effects: env[names.Effects.Env],
			Cluster: env[names.EnvCluster], Service: env[names.EnvPoseService]},
		Steps:      sfn.NewFromConfig(cfg),
		MachineARN: env[names.EnvStateMachineARN],
		Queue:      sqs.NewFromConfig(cfg),
		QueueURL:   env[names.PoseQueue.Env],
	}))
}

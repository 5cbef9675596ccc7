// Command wake is the Lambda function of package wake.
package main

import (
	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/ecs"

	"fastbowlinglab/functions/internal/wire"
	"fastbowlinglab/functions/wake"
	"fastbowlinglab/shared/fleet"
	"fastbowlinglab/shared/names"
)

func main() {
	wire.Log()
	env := wire.Env(names.Effects.Env, names.EnvCluster, names.EnvPoseService)
	cfg := wire.Lambda()
	lambda.Start(wake.New(fleet.Fleet{
		DB:      dynamodb.NewFromConfig(cfg),
		ECS:     ecs.NewFromConfig(cfg),
		Effects: env[names.Effects.Env],
		Cluster: env[names.EnvCluster],
		Service: env[names.EnvPoseService],
	}))
}

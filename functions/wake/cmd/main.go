// Command wake is the Lambda function of package wake.
package main

import (
	"context"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/ecs"

	"fastbowlinglab/functions/internal/wire"
	"fastbowlinglab/functions/wake"
	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/fleet"
	"fastbowlinglab/shared/names"
)

func main() {
	wire.Log()
	env := wire.Env(names.Analyses.Env, names.Effects.Env, names.EnvCluster, names.EnvPoseService)
	cfg := wire.Lambda()
	db := dynamodb.NewFromConfig(cfg)
	f := fleet.Fleet{
		DB:      db,
		ECS:     ecs.NewFromConfig(cfg),
		Effects: env[names.Effects.Env],
		Cluster: env[names.EnvCluster],
		Service: env[names.EnvPoseService],
	}
	life := analysis.Store{DB: db, Analyses: env[names.Analyses.Env]}
	lambda.Start(wake.New(f, func(ctx context.Context) (int, error) { return life.Confirmed(ctx, f.Enough()) }))
}

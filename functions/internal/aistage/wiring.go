package aistage

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/ssm"

	"fastbowlinglab/shared/aitask"
	"fastbowlinglab/shared/bedrock"
	"fastbowlinglab/shared/budget"
	"fastbowlinglab/shared/effect"
	"fastbowlinglab/shared/metric"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/usage"
)

// Env lists the environment variables that Wire reads.
func Env() []string { return append(RunnerEnv(), names.Analyses.Env) }

// RunnerEnv lists the environment variables that Runner reads.
func RunnerEnv() []string {
	return []string{names.Effects.Env, names.Usage.Env, names.EnvBucket, names.EnvParameters}
}

// Wire makes the dependencies of a text stage from the environment.
func Wire(cfg aws.Config, env map[string]string) Deps {
	return Deps{
		DB: dynamodb.NewFromConfig(cfg), Analyses: env[names.Analyses.Env],
		Objects: s3.NewFromConfig(cfg), Bucket: env[names.EnvBucket],
		Tasks: Runner(cfg, env, aitask.Rules{}),
	}
}

// Runner makes what runs AI tasks, with the given rules. A model call whose
// outcome is unknown gets one takeover.
func Runner(cfg aws.Config, env map[string]string, rules aitask.Provider) *aitask.Runner {
	db := dynamodb.NewFromConfig(cfg)
	effects := env[names.Effects.Env]
	return &aitask.Runner{
		Effects: effect.New(db, effects, effect.Takeovers(1), effect.Skew(names.ClockSkew), effect.OnUnknown(alarm)),
		Objects: s3.NewFromConfig(cfg), Bucket: env[names.EnvBucket],
		Models: &aitask.Settings{API: ssm.NewFromConfig(cfg), Prefix: env[names.EnvParameters]},
		Providers: map[string]aitask.Provider{
			aitask.RulesProvider: rules,
			aitask.BedrockProvider: aitask.Bedrock{
				API: bedrock.New(cfg), Budget: budget.Store{DB: db, Table: effects},
				Limit: budget.Limit{Rate: names.ModelCallsPerSecond, Burst: names.ModelCallsAtOnce},
			},
		},
		Record: func(ctx context.Context, c usage.Call) error {
			return usage.Record(ctx, db, env[names.Usage.Env], c)
		},
	}
}

func alarm(ctx context.Context, key string) {
	metric.Count(ctx, metric.EffectUnknown, 1, "effect", key)
}

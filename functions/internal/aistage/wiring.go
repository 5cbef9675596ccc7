package aistage

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/ssm"

	"fastbowlinglab/shared/aitask"
	"fastbowlinglab/shared/effect"
	"fastbowlinglab/shared/metric"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/usage"
)

// Env lists the environment variables that Wire reads.
func Env() []string {
	return []string{names.Analyses.Env, names.Effects.Env, names.Usage.Env, names.EnvBucket, names.EnvParameters}
}

// Wire makes the dependencies of a text stage from the environment. A model call
// whose outcome is unknown gets one takeover.
func Wire(cfg aws.Config, env map[string]string) Deps {
	db := dynamodb.NewFromConfig(cfg)
	objects := s3.NewFromConfig(cfg)
	return Deps{
		DB: db, Analyses: env[names.Analyses.Env],
		Objects: objects, Bucket: env[names.EnvBucket],
		Tasks: &aitask.Runner{
			Effects: effect.New(db, env[names.Effects.Env], effect.Takeovers(1), effect.Skew(names.ClockSkew), effect.OnUnknown(alarm)),
			Objects: objects, Bucket: env[names.EnvBucket],
			Models:    &aitask.Settings{API: ssm.NewFromConfig(cfg), Prefix: env[names.EnvParameters]},
			Providers: map[string]aitask.Provider{aitask.RulesProvider: aitask.Rules{}},
			Record: func(ctx context.Context, c usage.Call) error {
				return usage.Record(ctx, db, env[names.Usage.Env], c)
			},
		},
	}
}

func alarm(ctx context.Context, key string) {
	metric.Count(ctx, metric.EffectUnknown, 1, "effect", key)
}

package aistage

import (
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"fastbowlinglab/shared/aitask"
	"fastbowlinglab/shared/batchrun"
	"fastbowlinglab/shared/lease"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/nightly"
)

// BatchEnv lists the environment variables that Runs, TagRows and Tagger read.
func BatchEnv() []string {
	return append(RunnerEnv(), names.Analyses.Env, names.Runs.Env, names.Tags.Env)
}

// Runs is the store of the batch machines' runs.
func Runs(db *dynamodb.Client, env map[string]string) batchrun.Store {
	return batchrun.Store{DB: db, Table: env[names.Runs.Env],
		Leases: lease.Store{DB: db, Table: env[names.Effects.Env], Skew: names.ClockSkew}}
}

// TagRows is the store of tags.
func TagRows(db *dynamodb.Client, env map[string]string) nightly.Rows {
	return nightly.Rows{DB: db, Table: env[names.Tags.Env], Runs: Runs(db, env)}
}

// Tagger tags analyses.
func Tagger(cfg aws.Config, env map[string]string) nightly.TaskTagger {
	return nightly.TaskTagger{Tasks: Runner(cfg, env, aitask.Rules{}), Objects: s3.NewFromConfig(cfg), Bucket: env[names.EnvBucket]}
}

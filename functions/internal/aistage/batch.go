package aistage

import (
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"fastbowlinglab/shared/aitask"
	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/backfill"
	"fastbowlinglab/shared/batchrun"
	"fastbowlinglab/shared/lambdacall"
	"fastbowlinglab/shared/lease"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/nightly"
	"fastbowlinglab/shared/posejob"
	"fastbowlinglab/shared/revise"
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

// BackfillEnv lists the environment variables that Works reads.
func BackfillEnv() []string {
	return append(BatchEnv(), names.Notices.Env, names.PoseJobs.Env, names.EnvRender)
}

// Works are what a backfill can redo, by effect.
func Works(cfg aws.Config, db *dynamodb.Client, objects *s3.Client, env map[string]string) map[string]backfill.Worker {
	life := analysis.Store{DB: db, Analyses: env[names.Analyses.Env]}
	report := revise.Redo{
		Get: life.Get, Texts: Runner(cfg, env, aitask.Rules{}), Render: Renderer(lambdacall.New(cfg), env[names.EnvRender]),
		Publish: revise.Publisher{DB: db, Analyses: env[names.Analyses.Env], Notices: env[names.Notices.Env], Runs: Runs(db, env)},
		Files:   revise.Files{Objects: objects, Bucket: env[names.EnvBucket]},
		Jobs:    &posejob.Store{DB: db, Table: env[names.PoseJobs.Env], Analyses: env[names.Analyses.Env]},
	}
	measure := report
	measure.Measure = true
	return map[string]backfill.Worker{
		names.EffectTags:    {Work: nightly.Redo{Get: life.Get, Tagger: Tagger(cfg, env), Rows: TagRows(db, env)}, Takeovers: revise.Takeovers},
		names.EffectReport:  {Work: report, Takeovers: revise.Takeovers},
		names.EffectMeasure: {Work: measure, Takeovers: revise.Takeovers},
	}
}

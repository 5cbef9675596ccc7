package virtual

import (
	"bytes"
	"cmp"
	"context"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/ssm"

	"fastbowlinglab/functions/coaching"
	"fastbowlinglab/functions/findings"
	"fastbowlinglab/shared/aitask"
	"fastbowlinglab/shared/effect"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/usage"
)

// tasks makes the calls of a function's AI tasks: by the embedded rules, or the
// paid model where a setting says so.
func (c *Cloud) tasks(fn string) *aitask.Runner {
	opts := []effect.Option{effect.Takeovers(cmp.Or(c.opt.Takeovers, 1)), effect.Skew(names.ClockSkew), effect.Retry(c.Retry)}
	if c.opt.EffectSkew != 0 {
		opts = append(opts, effect.Skew(c.opt.EffectSkew))
	}
	if now := c.clock(fn); now != nil {
		opts = append(opts, effect.Now(now))
	}
	return &aitask.Runner{
		Effects: effect.New(c.DB, names.Effects.Name, opts...),
		Objects: c.Objects(), Bucket: names.Bucket, Retry: c.Retry,
		Models:    &aitask.Settings{API: ssm.NewFromConfig(c.Config), Prefix: names.Parameters, Retry: c.Retry},
		Providers: map[string]aitask.Provider{aitask.RulesProvider: aitask.Rules{}, "paid": paid{c: c, now: c.clock(fn)}},
		Record: func(ctx context.Context, call usage.Call) error {
			return usage.Record(ctx, c.DB, names.Usage.Name, call)
		},
	}
}

// texts are the two text stages.
func (c *Cloud) texts() map[string]lambda.Handler {
	deps := func(fn string) findings.Deps {
		return findings.Deps{DB: c.DB, Analyses: names.Analyses.Name, Objects: c.Objects(), Bucket: names.Bucket, Retry: c.Retry, Tasks: c.tasks(fn)}
	}
	return map[string]lambda.Handler{
		names.FnFindings: findings.New(deps(names.FnFindings)), names.FnCoaching: coaching.New(deps(names.FnCoaching))}
}

func (c *Cloud) put(ctx context.Context, key string, body []byte) error {
	bucket := names.Bucket
	_, err := c.Objects().PutObject(ctx, &s3.PutObjectInput{Bucket: &bucket, Key: &key, Body: bytes.NewReader(body)})
	return err
}

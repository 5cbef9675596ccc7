package main

import (
	"fmt"
	"net/http"
	"os"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"fastbowlinglab/functions/internal/wire"
	"fastbowlinglab/functions/poseworker"
	"fastbowlinglab/functions/poseworker/vision"
	"fastbowlinglab/shared/callback"
	"fastbowlinglab/shared/media"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/pose/engine"
	"fastbowlinglab/shared/posejob"
	"fastbowlinglab/shared/tasktoken"
)

// deps connects the worker. The keeper has HTTP connections of its own.
func deps(env map[string]string, passes int, eng *engine.Engine) poseworker.Deps {
	cfg := wire.AWS()
	own := cfg.Copy()
	own.HTTPClient = awshttp.NewBuildableClient().WithTimeout(names.KeeperPeriod / 2)
	jobs := func(cfg aws.Config) *posejob.Store {
		return &posejob.Store{DB: dynamodb.NewFromConfig(cfg), Table: env[names.PoseJobs.Env], Analyses: env[names.Analyses.Env]}
	}
	objects := s3.NewFromConfig(cfg, func(o *s3.Options) { o.UsePathStyle = cfg.BaseEndpoint != nil })
	d := poseworker.Deps{
		Jobs: jobs(cfg), Rows: dynamodb.NewFromConfig(cfg),
		Queue: sqs.NewFromConfig(cfg), QueueURL: env[names.PoseQueue.Env],
		Objects: objects, Bucket: env[names.EnvBucket],
		Sign:   poseworker.URLSigner{Client: s3.NewPresignClient(objects), Bucket: env[names.EnvBucket], Credentials: cfg.Credentials},
		Tokens: tasktoken.Answerer{API: sfn.NewFromConfig(cfg)},
		Keeper: poseworker.Lifeline{Jobs: jobs(own), Queue: sqs.NewFromConfig(own), Tokens: tasktoken.Answerer{API: sfn.NewFromConfig(own)}},
		Vision: vision.Vision{Limits: media.DefaultLimits(), Tracker: eng},
		Callback: poseworker.SignedCallback{URL: env[names.EnvAPIURL], Client: &http.Client{},
			Keys: &callback.Secret{Client: secretsmanager.NewFromConfig(cfg), ID: env[names.EnvCallbackKeys]}},
		Passes: passes,
	}
	if uri := os.Getenv("ECS_AGENT_URI"); uri != "" {
		d.Protect = poseworker.TaskProtection{AgentURI: uri, Client: &http.Client{Timeout: 5 * time.Second}}
	}
	return d
}

// passes is how many passes run at once, names.PassesPerWorker unless set.
func passes() (int, error) {
	s := os.Getenv(names.EnvPasses)
	if s == "" {
		return names.PassesPerWorker, nil
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 || n > 64 {
		return 0, fmt.Errorf("environment variable %s must be a number from 1 to 64, not %q", names.EnvPasses, s)
	}
	return n, nil
}

// Command notify is the Lambda function of package notify.
package main

import (
	"os"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/sesv2"
	"github.com/aws/aws-sdk-go-v2/service/sns"

	"fastbowlinglab/functions/internal/wire"
	"fastbowlinglab/functions/notify"
	"fastbowlinglab/shared/athlete"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/notice"
)

func main() {
	wire.Log()
	env := wire.Env(names.Analyses.Env, names.Notices.Env, names.EnvMailFrom,
		names.Athletes.Env, names.Suppressions.Env, names.EnvPushTopic)
	cfg := wire.Lambda()
	db := dynamodb.NewFromConfig(cfg)
	lambda.Start(notify.New(notice.Sender{
		DB:       db,
		Mail:     sesv2.NewFromConfig(cfg),
		Push:     sns.NewFromConfig(cfg),
		Topic:    env[names.EnvPushTopic],
		People:   athlete.Store{DB: db, Athletes: env[names.Athletes.Env], Suppressions: env[names.Suppressions.Env]},
		Notices:  env[names.Notices.Env],
		Analyses: env[names.Analyses.Env],
		From:     env[names.EnvMailFrom],
		AppURL:   os.Getenv(names.EnvAppURL),
	}))
}

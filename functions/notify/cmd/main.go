// Command notify is the Lambda function of package notify.
package main

import (
	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/sesv2"

	"fastbowlinglab/functions/internal/wire"
	"fastbowlinglab/functions/notify"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/notice"
)

func main() {
	wire.Log()
	env := wire.Env(names.Analyses.Env, names.Notices.Env, names.EnvMailFrom, names.EnvAPIURL)
	cfg := wire.Lambda()
	lambda.Start(notify.New(notice.Sender{
		DB:       dynamodb.NewFromConfig(cfg),
		Mail:     sesv2.NewFromConfig(cfg),
		Notices:  env[names.Notices.Env],
		Analyses: env[names.Analyses.Env],
		From:     env[names.EnvMailFrom],
		APIURL:   env[names.EnvAPIURL],
	}))
}

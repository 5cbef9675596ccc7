// Command probe is the Lambda function of package probe.
package main

import (
	"net/http"

	"github.com/aws/aws-lambda-go/lambda"

	"fastbowlinglab/functions/internal/wire"
	"fastbowlinglab/functions/probe"
	"fastbowlinglab/shared/names"
)

func main() {
	wire.Log()
	env := wire.Env(names.EnvPoseURL)
	lambda.Start(probe.New(probe.Deps{Client: &http.Client{}, URL: env[names.EnvPoseURL]}))
}

// Command findings is the Lambda function of package findings.
package main

import (
	"github.com/aws/aws-lambda-go/lambda"

	"fastbowlinglab/functions/findings"
	"fastbowlinglab/functions/internal/aistage"
	"fastbowlinglab/functions/internal/wire"
)

func main() {
	wire.Log()
	env := wire.Env(aistage.Env()...)
	lambda.Start(findings.New(aistage.Wire(wire.Lambda(), env)))
}

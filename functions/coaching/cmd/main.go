// Command coaching is the Lambda function of package coaching.
package main

import (
	"github.com/aws/aws-lambda-go/lambda"

	"fastbowlinglab/functions/coaching"
	"fastbowlinglab/functions/internal/aistage"
	"fastbowlinglab/functions/internal/wire"
)

func main() {
	wire.Log()
	env := wire.Env(aistage.Env()...)
	lambda.Start(coaching.New(aistage.Wire(wire.Lambda(), env)))
}

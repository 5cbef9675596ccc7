// Command cmd is the CDK app. The CDK CLI runs it, as cdk.json says.
package main

import (
	"fmt"
	"os"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/jsii-runtime-go"

	"fastbowlinglab/infra"
)

func main() {
	defer jsii.Close()
	app := awscdk.NewApp(nil)
	s, err := infra.SettingsFrom(infra.Context(app))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	infra.Build(app, s)
	app.Synth(nil)
}

package infra

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"
	"github.com/cdklabs/cdk-nag-go/cdknag/v2"
)

// Build declares every stack in an app, with the checks of cdk-nag's
// AwsSolutions: a finding that is not suppressed with its reason fails the synth.
func Build(app awscdk.App, s Settings) {
	props := &awscdk.StackProps{Env: env(s)}
	named := func(name, what string) *awscdk.StackProps {
		p := *props
		p.StackName, p.Description = jsii.String("FastBowlingLab-"+name), jsii.String("FastBowlingLab: "+what)
		return &p
	}
	d := NewData(app, named("Data", "tables, bucket, users, secrets, alarm topic"), s)
	n := NewNetwork(app, named("Network", "VPC of the pose workers"))
	api := NewAPI(app, named("API", "HTTP API and the functions behind it"), s, d, n)
	f := NewPoseFleet(app, named("PoseFleet", "queue, service and load balancer of the pose workers"), s, d, n, api)
	a := NewAnalysis(app, named("Analysis", "state machine and its functions"), s, d, n, f)
	NewObservability(app, named("Observability", "alarms and dashboard"), d, f, api, a)
	awscdk.Aspects_Of(app).Add(cdknag.NewAwsSolutionsChecks(&cdknag.NagPackProps{Verbose: jsii.Bool(true), Reports: jsii.Bool(false)}), nil)
}

// env is nil without an account: the templates then fit any.
func env(s Settings) *awscdk.Environment {
	if s.Account == "" || s.Region == "" {
		return nil
	}
	return &awscdk.Environment{Account: jsii.String(s.Account), Region: jsii.String(s.Region)}
}

// Context reads the settings from a construct's context, as cdk.json and -c
// key=value set it.
func Context(c constructs.Construct) Lookup {
	return func(key string) (string, bool) {
		v, ok := c.Node().TryGetContext(jsii.String(key)).(string)
		return v, ok
	}
}

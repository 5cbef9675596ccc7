package infra

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslogs"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsscheduler"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsstepfunctions"
	"github.com/aws/jsii-runtime-go"

	"fastbowlinglab/infra/access"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/statemachine"
)

// How a deploy moves new executions to a new definition: a tenth of them for so
// many minutes, then all, and back to none when an alarm goes off.
const (
	canaryPercent = 10
	canaryMinutes = 15
)

// machine makes a state machine from its definition, with published versions of
// the functions that it invokes, and publishes a version of it.
func (a *Analysis) machine(name string) awsstepfunctions.CfnStateMachine {
	source, err := statemachine.Source(name)
	if err != nil {
		panic("infra: " + err.Error())
	}
	versions := map[string]*string{}
	for _, f := range names.Functions() {
		if f.In(name) {
			versions[f.ARNPlaceholder()] = a.Functions[f.Name].CurrentVersion().FunctionArn()
		}
	}
	id := logical(name)
	log := awslogs.NewLogGroup(a.Stack, jsii.String(id+"MachineLog"), &awslogs.LogGroupProps{
		LogGroupName: jsii.String("/aws/vendedlogs/states/" + names.MachineName(name)), Retention: logRetention,
		RemovalPolicy: awscdk.RemovalPolicy_RETAIN,
	})
	r := role(a.Stack, id+"MachineRole", "states.amazonaws.com", access.Machine(name), nil, "")
	m := awsstepfunctions.NewCfnStateMachine(a.Stack, jsii.String(id+"Machine"), &awsstepfunctions.CfnStateMachineProps{
		StateMachineName: jsii.String(names.MachineName(name)), StateMachineType: jsii.String("STANDARD"),
		RoleArn: r.RoleArn(), DefinitionString: jsii.String(string(source)), DefinitionSubstitutions: versions,
		TracingConfiguration: &awsstepfunctions.CfnStateMachine_TracingConfigurationProperty{Enabled: jsii.Bool(true)},
		LoggingConfiguration: &awsstepfunctions.CfnStateMachine_LoggingConfigurationProperty{
			Level: jsii.String("ALL"), IncludeExecutionData: jsii.Bool(false),
			Destinations: []any{&awsstepfunctions.CfnStateMachine_LogDestinationProperty{
				CloudWatchLogsLogGroup: &awsstepfunctions.CfnStateMachine_CloudWatchLogsLogGroupProperty{LogGroupArn: log.LogGroupArn()}}},
		},
	})
	m.ApplyRemovalPolicy(awscdk.RemovalPolicy_RETAIN, nil)
	v := awsstepfunctions.NewCfnStateMachineVersion(a.Stack, jsii.String(id+"Version"), &awsstepfunctions.CfnStateMachineVersionProps{
		StateMachineArn: m.AttrArn(), StateMachineRevisionId: m.AttrStateMachineRevisionId(),
	})
	v.ApplyRemovalPolicy(awscdk.RemovalPolicy_RETAIN, nil) // runs in flight keep the version they began with
	if name == names.MachineAnalysis {
		a.version = v
	}
	return m
}

// live makes the alias that new analyses start by.
func (a *Analysis) live(d *Data) {
	a.Canary = a.canary(d.Alarms)
	var alarms []*string
	for _, c := range a.Canary {
		alarms = append(alarms, c.AlarmName())
	}
	a.Alias = awsstepfunctions.NewCfnStateMachineAlias(a.Stack, jsii.String("Alias"), &awsstepfunctions.CfnStateMachineAliasProps{
		Name: jsii.String(names.MachineAlias),
		DeploymentPreference: &awsstepfunctions.CfnStateMachineAlias_DeploymentPreferenceProperty{
			StateMachineVersionArn: a.version.AttrArn(), Type: jsii.String("CANARY"),
			Percentage: jsii.Number(canaryPercent), Interval: jsii.Number(canaryMinutes), Alarms: &alarms,
		},
	})
	for _, c := range a.Canary { // an alarm that is not there yet cannot roll back
		a.Alias.Node().AddDependency(c)
	}
}

// batch makes the machines of backfill and nightly. They have no alias: a run is
// short, and no one is charged for it.
func (a *Analysis) batch() {
	a.machine(names.MachineBackfill)
	a.Nightly = a.machine(names.MachineNightly)
	r := role(a.Stack, "NightlyStartRole", "scheduler.amazonaws.com", access.Nightly(), nil, "")
	awsscheduler.NewCfnSchedule(a.Stack, jsii.String("NightlyTimetable"), &awsscheduler.CfnScheduleProps{
		Name: jsii.String(names.MachineName(names.MachineNightly)), ScheduleExpression: jsii.String(names.NightlySchedule),
		ScheduleExpressionTimezone: jsii.String("UTC"),
		FlexibleTimeWindow:         &awsscheduler.CfnSchedule_FlexibleTimeWindowProperty{Mode: jsii.String("OFF")},
		Target: &awsscheduler.CfnSchedule_TargetProperty{
			Arn: a.Nightly.AttrArn(), RoleArn: r.RoleArn(), Input: jsii.String("{}"),
			DeadLetterConfig: &awsscheduler.CfnSchedule_DeadLetterConfigProperty{Arn: a.Dead.QueueArn()},
			RetryPolicy: &awsscheduler.CfnSchedule_RetryPolicyProperty{
				MaximumRetryAttempts: jsii.Number(startRetries), MaximumEventAgeInSeconds: jsii.Number(eventHours * 3600)},
		},
	})
}

package infra

import (
	"path/filepath"
	"strconv"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsec2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsecrassets"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslogs"
	"github.com/aws/jsii-runtime-go"

	"fastbowlinglab/infra/access"
	"fastbowlinglab/shared/names"
)

// Where the worker's image holds the models and the library; functions/poseworker's
// Dockerfile puts them there.
const (
	imageModels = "/opt/pose/models"
	imageORT    = "/opt/pose/libonnxruntime.so.1"
)

// maker makes functions in a stack.
type maker struct {
	stack   awscdk.Stack
	s       Settings
	vars    variables
	network *Network
	values  map[string]*string // of environment variables, by name
}

// function makes one, with a role and a log group of its own.
func (m maker) function(f names.Function) awslambda.Function {
	own, err := access.Of(f.Name)
	if err != nil {
		panic("infra: " + err.Error())
	}
	id := logical(f.Name)
	log := awslogs.NewLogGroup(m.stack, jsii.String(id+"Log"), &awslogs.LogGroupProps{
		LogGroupName: jsii.String(access.LogGroup(f.Name)), Retention: logRetention, RemovalPolicy: awscdk.RemovalPolicy_RETAIN,
	})
	common := awslambda.FunctionOptions{
		FunctionName: jsii.String(names.Prefix + f.Name),
		MemorySize:   jsii.Number(f.MemoryMB),
		Timeout:      duration(f.Timeout),
		Environment:  only(m.values, f.Env),
		Role:         role(m.stack, id+"Role", "lambda.amazonaws.com", append(access.Lambda(f), own...), m.vars, m.s.MailFrom),
		LogGroup:     log,
		Tracing:      awslambda.Tracing_ACTIVE,
		CurrentVersionOptions: &awslambda.VersionOptions{
			RemovalPolicy: awscdk.RemovalPolicy_RETAIN,
		},
	}
	if f.VPC {
		common.Vpc = m.network.VPC
		common.VpcSubnets = &awsec2.SubnetSelection{SubnetType: awsec2.SubnetType_PRIVATE_ISOLATED}
		common.SecurityGroups = &[]awsec2.ISecurityGroup{m.network.Callers}
	}
	if f.Package == names.Image {
		return m.image(id, f, common)
	}
	return awslambda.NewFunction(m.stack, jsii.String(id), &awslambda.FunctionProps{
		FunctionName: common.FunctionName, MemorySize: common.MemorySize, Timeout: common.Timeout,
		Environment: common.Environment, Role: common.Role, LogGroup: common.LogGroup, Tracing: common.Tracing,
		CurrentVersionOptions: common.CurrentVersionOptions,
		Vpc:                   common.Vpc, VpcSubnets: common.VpcSubnets, SecurityGroups: common.SecurityGroups,
		Architecture: awslambda.Architecture_ARM_64(),
		Runtime:      awslambda.Runtime_PROVIDED_AL2023(),
		Handler:      jsii.String("bootstrap"),
		Code:         awslambda.Code_FromAsset(jsii.String(filepath.Join(m.s.Dist, f.Name)), nil),
	})
}

// image makes a function from the worker's Dockerfile: its target has the
// function's name. The platform is fixed, whatever machine builds it.
func (m maker) image(id string, f names.Function, common awslambda.FunctionOptions) awslambda.Function {
	return awslambda.NewDockerImageFunction(m.stack, jsii.String(id), &awslambda.DockerImageFunctionProps{
		FunctionName: common.FunctionName, MemorySize: common.MemorySize, Timeout: common.Timeout,
		Environment: common.Environment, Role: common.Role, LogGroup: common.LogGroup, Tracing: common.Tracing,
		CurrentVersionOptions: common.CurrentVersionOptions,
		Vpc:                   common.Vpc, VpcSubnets: common.VpcSubnets, SecurityGroups: common.SecurityGroups,
		Architecture:         awslambda.Architecture_X86_64(),
		EphemeralStorageSize: awscdk.Size_Mebibytes(jsii.Number(512)),
		Code: awslambda.DockerImageCode_FromImageAsset(jsii.String(m.s.Image), &awslambda.AssetImageCodeProps{
			Target: jsii.String(f.Name), Platform: awsecrassets.Platform_LINUX_AMD64(),
		}),
	})
}

// environment gives the value of every environment variable that shared/names
// declares, but for the addresses of API and load balancer, which later stacks
// add. Names that are fixed are written out: a reference between stacks would
// tie their deploys together.
func environment(s Settings, d *Data) map[string]*string {
	intake := names.IntakeOpen
	if s.Closed {
		intake = names.IntakeClosed
	}
	v := map[string]*string{
		names.EnvBucket:          d.Bucket.BucketName(),
		names.EnvStateMachineARN: sub(access.MachineARN+":"+names.MachineAlias, nil),
		names.EnvMachinePrefix:   sub(access.MachinesARN, nil),
		names.EnvCluster:         jsii.String(names.Cluster),
		names.EnvPoseService:     jsii.String(names.PoseService),
		names.EnvMailFrom:        jsii.String(s.MailFrom),
		names.EnvAppURL:          jsii.String(s.AppURL),
		names.EnvParameters:      jsii.String(names.Parameters),
		names.EnvFonts:           jsii.String("/var/task/fonts"),
		names.EnvModels:          jsii.String(imageModels),
		names.EnvORT:             jsii.String(imageORT),
		names.EnvPoseModel:       jsii.String(names.DefaultPoseModel),
		names.EnvProcessors:      jsii.String(strconv.Itoa(names.WorkerCores)),
		names.EnvIntake:          jsii.String(intake),
		names.EnvRender:          jsii.String(names.Prefix + names.FnRender),
		names.EnvPushTopic:       d.Push.TopicArn(),
		names.EnvPaymentsSecret:  jsii.String(names.PaymentsSecret),
		names.EnvCallbackKeys:    d.Callback.SecretArn(),
	}
	for _, t := range names.Tables() {
		v[t.Env] = jsii.String(t.Name)
	}
	for _, q := range names.Queues() {
		v[q.Env] = sub("https://sqs.${AWS::Region}.${AWS::URLSuffix}/${AWS::AccountId}/"+q.Name, nil)
	}
	return v
}

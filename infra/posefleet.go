package infra

import (
	"fmt"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsec2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsecrassets"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsecs"
	"github.com/aws/aws-cdk-go/awscdk/v2/awselasticloadbalancingv2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslogs"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssqs"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"

	"fastbowlinglab/infra/access"
	"fastbowlinglab/shared/names"
)

// PoseFleet is the stack of the pose workers: queue, cluster, service, and the
// internal load balancer of the HTTP road.
type PoseFleet struct {
	awscdk.Stack
	Queue    awssqs.Queue
	Dead     awssqs.Queue
	Service  awsecs.FargateService
	Task     awsecs.FargateTaskDefinition
	Balancer awselasticloadbalancingv2.ApplicationLoadBalancer
	Targets  awselasticloadbalancingv2.ApplicationTargetGroup
}

// NewPoseFleet declares the stack.
func NewPoseFleet(scope constructs.Construct, props *awscdk.StackProps, s Settings, d *Data, n *Network, api *API) *PoseFleet {
	f := &PoseFleet{Stack: awscdk.NewStack(scope, jsii.String("PoseFleet"), props)}
	f.queues()
	f.task(s, d, api)
	cluster := f.service(n)
	f.balancer(n)
	f.explain(cluster)
	return f
}

func (f *PoseFleet) queues() {
	q := names.PoseQueue
	f.Dead = awssqs.NewQueue(f.Stack, jsii.String("DeadLetters"), &awssqs.QueueProps{
		QueueName: jsii.String(q.DeadLetter), EnforceSSL: jsii.Bool(true),
		Encryption: awssqs.QueueEncryption_SQS_MANAGED, RetentionPeriod: duration(names.QueueRetention),
	})
	f.Queue = awssqs.NewQueue(f.Stack, jsii.String("Jobs"), &awssqs.QueueProps{
		QueueName: jsii.String(q.Name), EnforceSSL: jsii.Bool(true),
		Encryption:        awssqs.QueueEncryption_SQS_MANAGED,
		VisibilityTimeout: duration(names.QueueVisibility),
		RetentionPeriod:   duration(names.QueueRetention),
		DeadLetterQueue:   &awssqs.DeadLetterQueue{Queue: f.Dead, MaxReceiveCount: jsii.Number(q.MaxReceiveCount)},
	})
}

func (f *PoseFleet) task(s Settings, d *Data, api *API) {
	own, err := access.Of(names.PoseWorker)
	if err != nil {
		panic("infra: " + err.Error())
	}
	f.Task = awsecs.NewFargateTaskDefinition(f.Stack, jsii.String("Task"), &awsecs.FargateTaskDefinitionProps{
		Family: jsii.String(names.PoseService), Cpu: jsii.Number(names.WorkerCPU), MemoryLimitMiB: jsii.Number(names.WorkerMemoryMiB),
		TaskRole: role(f.Stack, "TaskRole", "ecs-tasks.amazonaws.com", own, d.vars(), s.MailFrom),
		RuntimePlatform: &awsecs.RuntimePlatform{
			CpuArchitecture:       awsecs.CpuArchitecture_X86_64(),
			OperatingSystemFamily: awsecs.OperatingSystemFamily_LINUX(),
		},
	})
	env := environment(s, d)
	env[names.EnvAPIURL] = api.HTTP.ApiEndpoint()
	worker := f.Task.AddContainer(jsii.String("worker"), &awsecs.ContainerDefinitionOptions{
		Image: awsecs.ContainerImage_FromAsset(jsii.String(s.Image), &awsecs.AssetImageProps{
			Platform: awsecrassets.Platform_LINUX_AMD64(), Target: jsii.String("worker"),
		}),
		Environment:            only(env, append(names.WorkerEnv(), names.EnvProcessors)),
		StopTimeout:            duration(names.StopGrace),
		ReadonlyRootFilesystem: jsii.Bool(true), // but for the scratch folder below
		PortMappings:           &[]*awsecs.PortMapping{{ContainerPort: jsii.Number(names.WorkerPort)}},
		Logging: awsecs.LogDrivers_AwsLogs(&awsecs.AwsLogDriverProps{
			StreamPrefix: jsii.String("worker"),
			LogGroup: awslogs.NewLogGroup(f.Stack, jsii.String("Log"), &awslogs.LogGroupProps{
				LogGroupName: jsii.String("/ecs/" + names.PoseService), Retention: logRetention,
				RemovalPolicy: awscdk.RemovalPolicy_DESTROY,
			}),
		}),
	})
	// A clip's pictures are kept for its next reader (shared/media), 512 MiB a pass at
	// most, on the 20 GiB of disk that come with the task and end with it.
	f.Task.AddVolume(&awsecs.Volume{Name: jsii.String(scratch)})
	worker.AddMountPoints(&awsecs.MountPoint{ContainerPath: jsii.String("/tmp"), ReadOnly: jsii.Bool(false), SourceVolume: jsii.String(scratch)})
}

// scratch is the volume behind the worker's TMPDIR.
const scratch = "scratch"

// explain gives cdk-nag the reasons of what it finds.
func (f *PoseFleet) explain(cluster awsecs.Cluster) {
	suppress(f.Task, "AwsSolutions-ECS2", "the environment holds names and addresses; the one secret is read by its ARN at run time")
	suppress(f.Task.ExecutionRole(), "AwsSolutions-IAM5", "ecr:GetAuthorizationToken has no resource level", "Resource::*")
	suppress(cluster, "AwsSolutions-ECS4", "Container Insights costs more than the rest of the idle system; the worker writes its own metrics")
	suppress(f.Balancer, "AwsSolutions-ELB2", "internal: two of our functions call it, and both log what they call and what came back")
	suppress(f.Dead, "AwsSolutions-SQS3", "this is the dead-letter queue")
}

func (f *PoseFleet) service(n *Network) awsecs.Cluster {
	cluster := awsecs.NewCluster(f.Stack, jsii.String("Cluster"), &awsecs.ClusterProps{
		ClusterName: jsii.String(names.Cluster), Vpc: n.VPC,
		ContainerInsightsV2: awsecs.ContainerInsights_DISABLED,
	})
	f.Service = awsecs.NewFargateService(f.Stack, jsii.String("Service"), &awsecs.FargateServiceProps{
		Cluster: cluster, ServiceName: jsii.String(names.PoseService), TaskDefinition: f.Task,
		AssignPublicIp: jsii.Bool(true), VpcSubnets: &awsec2.SubnetSelection{SubnetType: awsec2.SubnetType_PUBLIC},
		SecurityGroups:    &[]awsec2.ISecurityGroup{n.Tasks},
		MinHealthyPercent: jsii.Number(0), MaxHealthyPercent: jsii.Number(200),
		CircuitBreaker:         &awsecs.DeploymentCircuitBreaker{Rollback: jsii.Bool(true)},
		HealthCheckGracePeriod: duration(names.WakeTime),
	})
	// wake and the reconciler own the count; a deploy must not reset it.
	cfn := f.Service.Node().DefaultChild().(awsecs.CfnService)
	cfn.AddPropertyDeletionOverride(jsii.String("DesiredCount"))
	return cluster
}

func (f *PoseFleet) balancer(n *Network) {
	f.Balancer = awselasticloadbalancingv2.NewApplicationLoadBalancer(f.Stack, jsii.String("Balancer"), &awselasticloadbalancingv2.ApplicationLoadBalancerProps{
		Vpc: n.VPC, InternetFacing: jsii.Bool(false), SecurityGroup: n.Balance,
		VpcSubnets:              &awsec2.SubnetSelection{SubnetType: awsec2.SubnetType_PRIVATE_ISOLATED},
		IdleTimeout:             duration(names.ALBIdleTimeout),
		DropInvalidHeaderFields: jsii.Bool(true),
		DeletionProtection:      jsii.Bool(false),
	})
	f.Targets = awselasticloadbalancingv2.NewApplicationTargetGroup(f.Stack, jsii.String("Workers"), &awselasticloadbalancingv2.ApplicationTargetGroupProps{
		Vpc: n.VPC, Port: jsii.Number(names.WorkerPort), Protocol: awselasticloadbalancingv2.ApplicationProtocol_HTTP,
		TargetType:          awselasticloadbalancingv2.TargetType_IP,
		Targets:             &[]awselasticloadbalancingv2.IApplicationLoadBalancerTarget{f.Service},
		DeregistrationDelay: duration(names.DeregistrationDelay),
		HealthCheck: &awselasticloadbalancingv2.HealthCheck{
			Path: jsii.String(names.HealthPath), HealthyHttpCodes: jsii.String("200"),
			Interval: duration(names.HealthInterval), Timeout: duration(names.HealthTimeout),
			HealthyThresholdCount: jsii.Number(2), UnhealthyThresholdCount: jsii.Number(5),
		},
	})
	listener := f.Balancer.AddListener(jsii.String("Http"), &awselasticloadbalancingv2.BaseApplicationListenerProps{
		Port: jsii.Number(names.BalancerPort), Protocol: awselasticloadbalancingv2.ApplicationProtocol_HTTP,
		Open:                jsii.Bool(false),
		DefaultTargetGroups: &[]awselasticloadbalancingv2.IApplicationTargetGroup{f.Targets},
	})
	f.Service.Node().AddDependency(listener)
}

// BalancerURL is the base address of the HTTP road.
func (f *PoseFleet) BalancerURL() *string {
	return jsii.String(fmt.Sprintf("http://%s", *f.Balancer.LoadBalancerDnsName()))
}

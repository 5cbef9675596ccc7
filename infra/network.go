package infra

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsec2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslogs"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"

	"fastbowlinglab/shared/names"
)

// Network is the stack of the VPC: no NAT gateway. Fargate tasks have public
// addresses and accept traffic from the load balancer alone; the load balancer
// and the functions that call through it sit in subnets without a way out.
type Network struct {
	awscdk.Stack
	VPC     awsec2.Vpc
	Balance awsec2.SecurityGroup // the load balancer
	Tasks   awsec2.SecurityGroup // the pose workers
	Callers awsec2.SecurityGroup // functions that call through the load balancer
}

// NewNetwork declares the stack.
func NewNetwork(scope constructs.Construct, props *awscdk.StackProps) *Network {
	n := &Network{Stack: awscdk.NewStack(scope, jsii.String("Network"), props)}
	n.VPC = awsec2.NewVpc(n.Stack, jsii.String("Vpc"), &awsec2.VpcProps{
		MaxAzs:                       jsii.Number(2),
		NatGateways:                  jsii.Number(0),
		RestrictDefaultSecurityGroup: jsii.Bool(false), // needs a custom resource; nothing uses that group
		SubnetConfiguration: &[]*awsec2.SubnetConfiguration{
			{Name: jsii.String("public"), SubnetType: awsec2.SubnetType_PUBLIC, MapPublicIpOnLaunch: jsii.Bool(false), CidrMask: jsii.Number(24)},
			{Name: jsii.String("inner"), SubnetType: awsec2.SubnetType_PRIVATE_ISOLATED, CidrMask: jsii.Number(24)},
		},
		GatewayEndpoints: &map[string]*awsec2.GatewayVpcEndpointOptions{
			"DynamoDB": {Service: awsec2.GatewayVpcEndpointAwsService_DYNAMODB()},
			"S3":       {Service: awsec2.GatewayVpcEndpointAwsService_S3()},
		},
	})
	n.VPC.AddFlowLog(jsii.String("Rejected"), &awsec2.FlowLogOptions{
		TrafficType: awsec2.FlowLogTrafficType_REJECT,
		Destination: awsec2.FlowLogDestination_ToCloudWatchLogs(awslogs.NewLogGroup(n.Stack, jsii.String("FlowLog"), &awslogs.LogGroupProps{
			Retention: awslogs.RetentionDays_ONE_WEEK, RemovalPolicy: awscdk.RemovalPolicy_DESTROY,
		}), nil),
	})
	group := func(id, what string, out bool) awsec2.SecurityGroup {
		return awsec2.NewSecurityGroup(n.Stack, jsii.String(id), &awsec2.SecurityGroupProps{
			Vpc: n.VPC, Description: jsii.String(what), AllowAllOutbound: jsii.Bool(out),
		})
	}
	n.Balance = group("Balance", "Load balancer of the pose workers", false)
	n.Tasks = group("Tasks", "Pose workers", true)
	n.Callers = group("Callers", "Functions that call the pose workers", false)
	n.Balance.AddIngressRule(n.Callers, awsec2.Port_Tcp(jsii.Number(names.BalancerPort)), jsii.String("calls of our own functions"), jsii.Bool(false))
	n.Balance.AddEgressRule(n.Tasks, awsec2.Port_Tcp(jsii.Number(names.WorkerPort)), jsii.String("to the workers"), jsii.Bool(false))
	n.Tasks.AddIngressRule(n.Balance, awsec2.Port_Tcp(jsii.Number(names.WorkerPort)), jsii.String("from the load balancer alone"), jsii.Bool(false))
	n.Callers.AddEgressRule(n.Balance, awsec2.Port_Tcp(jsii.Number(names.BalancerPort)), jsii.String("to the load balancer"), jsii.Bool(false))
	n.Callers.AddEgressRule(awsec2.Peer_AnyIpv4(), awsec2.Port_Tcp(jsii.Number(443)), jsii.String("DynamoDB by its gateway endpoint; these subnets have no other way out"), jsii.Bool(false))
	return n
}

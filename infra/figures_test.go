package infra

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"fastbowlinglab/shared/names"
)

// check compares what a path leads to, as JSON, with a literal.
func check(t *testing.T, what string, root any, want string, path ...any) {
	t.Helper()
	got, err := json.Marshal(at(root, path...))
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("%s: %v is %s, want %s", what, path, got, want)
	}
}

// attribute gives an attribute of a load balancer's list of keys and values.
func attribute(r resource, list, key string) any {
	l, _ := r.Properties[list].([]any)
	for _, e := range l {
		if at(e, "Key") == key {
			return at(e, "Value")
		}
	}
	return nil
}

// TestBalancer is mission A1: 900 s, set explicitly; and the timers around it.
func TestBalancer(t *testing.T) {
	fleet := synth(t)["PoseFleet"]
	lb := fleet.one(t, "AWS::ElasticLoadBalancingV2::LoadBalancer")
	if got := attribute(lb, "LoadBalancerAttributes", "idle_timeout.timeout_seconds"); got != "900" {
		t.Errorf("idle timeout %v, want 900", got)
	}
	if got := attribute(lb, "LoadBalancerAttributes", "routing.http.drop_invalid_header_fields.enabled"); got != "true" {
		t.Errorf("invalid headers dropped: %v", got)
	}
	check(t, "balancer", lb.Properties, `"internal"`, "Scheme")
	if subnets := fmt.Sprint(lb.Properties["Subnets"]); !strings.Contains(subnets, "inner") || strings.Contains(subnets, "public") {
		t.Errorf("the balancer is in %s", subnets)
	}
	group := fleet.one(t, "AWS::ElasticLoadBalancingV2::TargetGroup")
	if got := attribute(group, "TargetGroupAttributes", "deregistration_delay.timeout_seconds"); got != "30" {
		t.Errorf("deregistration delay %v, want 30", got)
	}
	for path, want := range map[string]string{"HealthCheckPath": `"/healthz"`, "HealthCheckIntervalSeconds": "15", "HealthCheckTimeoutSeconds": "5",
		"HealthyThresholdCount": "2", "UnhealthyThresholdCount": "5", "Port": "8080", "TargetType": `"ip"`, "Matcher": `{"HttpCode":"200"}`} {
		check(t, "target group", group.Properties, want, path)
	}
	listener := fleet.one(t, "AWS::ElasticLoadBalancingV2::Listener")
	check(t, "listener", listener.Properties, "80", "Port")
}

func TestService(t *testing.T) {
	fleet := synth(t)["PoseFleet"]
	s := fleet.one(t, "AWS::ECS::Service")
	if _, set := s.Properties["DesiredCount"]; set {
		t.Error("DesiredCount is in the template: a deploy would reset what wake and the reconciler set")
	}
	check(t, "service", s.Properties, `{"Enable":true,"Rollback":true}`, "DeploymentConfiguration", "DeploymentCircuitBreaker")
	check(t, "service", s.Properties, `0`, "DeploymentConfiguration", "MinimumHealthyPercent")
	check(t, "service", s.Properties, `"ENABLED"`, "NetworkConfiguration", "AwsvpcConfiguration", "AssignPublicIp")
	check(t, "service", s.Properties, `"fbl-poseworker"`, "ServiceName")
	check(t, "service", s.Properties, `180`, "HealthCheckGracePeriodSeconds")
	if subnets := fmt.Sprint(at(s.Properties, "NetworkConfiguration", "AwsvpcConfiguration", "Subnets")); strings.Contains(subnets, "inner") {
		t.Errorf("tasks in %s have no way to their image", subnets)
	}
	task := fleet.one(t, "AWS::ECS::TaskDefinition").Properties
	check(t, "task", task, `{"CpuArchitecture":"X86_64","OperatingSystemFamily":"LINUX"}`, "RuntimePlatform")
	check(t, "task", task, `"2048"`, "Cpu")
	check(t, "task", task, `"4096"`, "Memory")
	check(t, "task", task, `110`, "ContainerDefinitions", 0, "StopTimeout")
	check(t, "task", task, `8080`, "ContainerDefinitions", 0, "PortMappings", 0, "ContainerPort")
}

func TestQueues(t *testing.T) {
	queues := map[string]resource{}
	for _, stack := range synth(t) {
		for _, r := range stack.of("AWS::SQS::Queue") {
			queues[fmt.Sprint(r.Properties["QueueName"])] = r
		}
	}
	if len(queues) != 3 {
		t.Errorf("%d queues, want 3", len(queues))
	}
	for name, q := range queues {
		check(t, name, q.Properties, "1209600", "MessageRetentionPeriod")
		check(t, name, q.Properties, "true", "SqsManagedSseEnabled")
	}
	jobs := queues["fbl-pose-jobs"]
	check(t, "jobs", jobs.Properties, "90", "VisibilityTimeout")
	check(t, "jobs", jobs.Properties, "50", "RedrivePolicy", "maxReceiveCount")
	// Case 15: what the worker assumes of the queue is what the queue is.
	if got := at(jobs.Properties, "VisibilityTimeout").(float64); got < (names.LeaseDuration + names.ClockSkew).Seconds() {
		t.Errorf("visibility %v s is shorter than a lease", got)
	}
}

func TestTables(t *testing.T) {
	tables := synth(t)["Data"].of("AWS::DynamoDB::Table")
	if len(tables) != len(names.Tables()) {
		t.Errorf("%d tables, want %d", len(tables), len(names.Tables()))
	}
	expiring := []string{}
	for _, r := range tables {
		name := fmt.Sprint(r.Properties["TableName"])
		check(t, name, r.Properties, `"PAY_PER_REQUEST"`, "BillingMode")
		check(t, name, r.Properties, `true`, "DeletionProtectionEnabled")
		check(t, name, r.Properties, `true`, "PointInTimeRecoverySpecification", "PointInTimeRecoveryEnabled")
		check(t, name, r.Properties, `true`, "SSESpecification", "SSEEnabled")
		kept(t, name, r)
		if r.Properties["TimeToLiveSpecification"] != nil {
			expiring = append(expiring, name)
		}
	}
	if len(expiring) != 1 || expiring[0] != "fbl-effects" {
		t.Errorf("rows may vanish from %v; only those of fbl-effects may", expiring)
	}
}

// kept checks that a resource outlives its stack and its replacement.
func kept(t *testing.T, what string, r resource) {
	t.Helper()
	if r.DeletionPolicy != "Retain" || r.UpdateReplacePolicy != "Retain" {
		t.Errorf("%s: deletion %q, replacement %q; want Retain", what, r.DeletionPolicy, r.UpdateReplacePolicy)
	}
}

func TestBucket(t *testing.T) {
	data := synth(t)["Data"]
	b := data.one(t, "AWS::S3::Bucket")
	kept(t, "bucket", b)
	check(t, "bucket", b.Properties, `"Enabled"`, "VersioningConfiguration", "Status")
	check(t, "bucket", b.Properties, `{"BlockPublicAcls":true,"BlockPublicPolicy":true,"IgnorePublicAcls":true,"RestrictPublicBuckets":true}`, "PublicAccessBlockConfiguration")
	check(t, "bucket", b.Properties, `[{"AbortIncompleteMultipartUpload":{"DaysAfterInitiation":1},"ExpirationInDays":30,"Id":"expire-clips","NoncurrentVersionExpiration":{"NoncurrentDays":1},"Prefix":"clips/","Status":"Enabled"},`+
		`{"AbortIncompleteMultipartUpload":{"DaysAfterInitiation":1},"ExpirationInDays":30,"Id":"expire-work","NoncurrentVersionExpiration":{"NoncurrentDays":1},"Prefix":"work/","Status":"Enabled"},`+
		`{"Id":"old-reports","NoncurrentVersionExpiration":{"NoncurrentDays":30},"Prefix":"reports/","Status":"Enabled"}]`, "LifecycleConfiguration", "Rules")
	check(t, "bucket", b.Properties, `"AES256"`, "BucketEncryption", "ServerSideEncryptionConfiguration", 0, "ServerSideEncryptionByDefault", "SSEAlgorithm")
	check(t, "bucket", b.Properties, `["GET","HEAD","POST"]`, "CorsConfiguration", "CorsRules", 0, "AllowedMethods")
	policy, _ := json.Marshal(data.one(t, "AWS::S3::BucketPolicy").Properties)
	for _, want := range []string{`"aws:SecureTransport":"false"`, `"s3:TlsVersion":1.2`} {
		if !strings.Contains(string(policy), want) {
			t.Errorf("the bucket's policy has no %s", want)
		}
	}
}

func TestUsersAndSecrets(t *testing.T) {
	data := synth(t)["Data"]
	pool := data.one(t, "AWS::Cognito::UserPool")
	kept(t, "user pool", pool)
	check(t, "user pool", pool.Properties, `"ACTIVE"`, "DeletionProtection")
	check(t, "user pool", pool.Properties, `12`, "Policies", "PasswordPolicy", "MinimumLength")
	client := data.one(t, "AWS::Cognito::UserPoolClient")
	check(t, "client", client.Properties, `"ENABLED"`, "PreventUserExistenceErrors")
	check(t, "client", client.Properties, `["ALLOW_USER_SRP_AUTH","ALLOW_REFRESH_TOKEN_AUTH"]`, "ExplicitAuthFlows")
	check(t, "operators", data.one(t, "AWS::Cognito::UserPoolGroup").Properties, `"operators"`, "GroupName")
	secrets := data.of("AWS::SecretsManager::Secret")
	if len(secrets) != 2 {
		t.Errorf("%d secrets, want 2", len(secrets))
	}
	for id, s := range secrets {
		kept(t, id, s)
		check(t, id, s.Properties, `"{\"previous\":\"\"}"`, "GenerateSecretString", "SecretStringTemplate")
		check(t, id, s.Properties, `"current"`, "GenerateSecretString", "GenerateStringKey")
		check(t, id, s.Properties, `64`, "GenerateSecretString", "PasswordLength")
	}
}

func TestNetwork(t *testing.T) {
	n := synth(t)["Network"]
	if nat := n.of("AWS::EC2::NatGateway"); len(nat) != 0 {
		t.Errorf("%d NAT gateways, want none: each costs more than the rest of the idle system", len(nat))
	}
	if e := n.of("AWS::EC2::VPCEndpoint"); len(e) != 2 {
		t.Errorf("%d endpoints, want the gateways of DynamoDB and S3", len(e))
	} else {
		for id, r := range e {
			check(t, id, r.Properties, `"Gateway"`, "VpcEndpointType")
		}
	}
	for id, r := range n.of("AWS::EC2::SecurityGroup") {
		if in := r.Properties["SecurityGroupIngress"]; in != nil {
			t.Errorf("%s takes traffic from an address range: %v", id, in)
		}
	}
	var rules []string
	for _, r := range n.of("AWS::EC2::SecurityGroupIngress") {
		rules = append(rules, fmt.Sprintf("%s:%v from %s", group(r.Properties["GroupId"]), r.Properties["FromPort"], group(r.Properties["SourceSecurityGroupId"])))
	}
	if len(rules) != 2 || !strings.Contains(strings.Join(rules, ";"), "Tasks:8080 from Balance") || !strings.Contains(strings.Join(rules, ";"), "Balance:80 from Callers") {
		t.Errorf("ingress %v, want the balancer's from callers and the tasks' from the balancer", rules)
	}
}

func group(ref any) string {
	id := fmt.Sprint(at(ref, "Fn::GetAtt", 0))
	for _, g := range []string{"Balance", "Tasks", "Callers"} {
		if strings.HasPrefix(id, g) {
			return g
		}
	}
	return id
}

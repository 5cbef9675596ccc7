package infra

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"fastbowlinglab/shared/names"
)

// check compares what a path leads to, as JSON, with a literal.
func check(t reporter, what string, root any, want string, path ...any) {
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

// checkBalancer is mission A1: 900 s, set explicitly; and the timers around it.
func checkBalancer(t reporter) {
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

func checkService(t reporter) {
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
	check(t, "task", task, `"1024"`, "Cpu")
	check(t, "task", task, `"2048"`, "Memory")
	check(t, "task", task, `110`, "ContainerDefinitions", 0, "StopTimeout")
	check(t, "task", task, `8080`, "ContainerDefinitions", 0, "PortMappings", 0, "ContainerPort")
	checkScratch(t, task)
}

// checkScratch: nothing but the scratch folder can be written, and that can, by the
// image's user: shared/media keeps the pictures of a clip there for its next reader,
// and would silently decode everything twice. It is a disk, not the task's memory.
func checkScratch(t reporter, task map[string]any) {
	check(t, "task", task, `true`, "ContainerDefinitions", 0, "ReadonlyRootFilesystem")
	check(t, "task", task, `[{"ContainerPath":"/tmp","ReadOnly":false,"SourceVolume":"scratch"}]`, "ContainerDefinitions", 0, "MountPoints")
	check(t, "task", task, `[{"Name":"scratch"}]`, "Volumes")
	image, err := os.ReadFile("../functions/poseworker/Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	_, worker, _ := strings.Cut(string(image), "FROM base AS worker")
	if !strings.Contains(worker, "\nVOLUME /tmp\n") {
		t.Error("the worker's image declares no VOLUME /tmp: Fargate would mount it as root's own")
	}
}

func checkQueues(t reporter) {
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

func checkTables(t reporter) {
	tables := map[string]resource{}
	for _, r := range synth(t)["Data"].of("AWS::DynamoDB::Table") {
		tables[fmt.Sprint(r.Properties["TableName"])] = r
	}
	if len(tables) != len(names.Tables()) {
		t.Errorf("%d tables, want %d", len(tables), len(names.Tables()))
	}
	for _, want := range names.Tables() {
		name, p := want.Name, tables[want.Name].Properties
		check(t, name, p, `"PAY_PER_REQUEST"`, "BillingMode")
		check(t, name, p, `true`, "DeletionProtectionEnabled")
		check(t, name, p, `true`, "PointInTimeRecoverySpecification", "PointInTimeRecoveryEnabled")
		check(t, name, p, `true`, "SSESpecification", "SSEEnabled")
		kept(t, name, tables[name])
		used := map[string]bool{}
		check(t, name, p, keySchema(want.PartitionKey, want.SortKey, used), "KeySchema")
		indexes, _ := p["GlobalSecondaryIndexes"].([]any)
		if len(indexes) != len(want.Indexes) {
			t.Errorf("%s has %d indexes, want %d", name, len(indexes), len(want.Indexes))
		}
		for i, ix := range want.Indexes {
			check(t, name, indexes, fmt.Sprintf(`{"IndexName":"%s","KeySchema":%s,"Projection":{"ProjectionType":"ALL"}}`,
				ix.Name, keySchema(ix.PartitionKey, ix.SortKey, used)), i)
		}
		defined := map[string]bool{}
		attributes, _ := p["AttributeDefinitions"].([]any)
		for _, a := range attributes {
			check(t, name, a, `"S"`, "AttributeType")
			defined[fmt.Sprint(at(a, "AttributeName"))] = true
		}
		if fmt.Sprint(defined) != fmt.Sprint(used) {
			t.Errorf("%s defines %v, its keys are %v", name, defined, used)
		}
		stream, ttl := "null", "null"
		if want.Stream {
			stream = `{"StreamViewType":"NEW_IMAGE"}`
		}
		if name == "fbl-effects" { // rows may vanish from no other
			ttl = `{"AttributeName":"expires_at","Enabled":true}`
		}
		check(t, name, p, stream, "StreamSpecification")
		check(t, name, p, ttl, "TimeToLiveSpecification")
	}
}

// keySchema is a key as a template writes it.
func keySchema(partition, sort string, used map[string]bool) string {
	used[partition] = true
	out := fmt.Sprintf(`{"AttributeName":"%s","KeyType":"HASH"}`, partition)
	if sort != "" {
		used[sort] = true
		out += fmt.Sprintf(`,{"AttributeName":"%s","KeyType":"RANGE"}`, sort)
	}
	return "[" + out + "]"
}

// kept checks that a resource outlives its stack and its replacement.
func kept(t reporter, what string, r resource) {
	t.Helper()
	if r.DeletionPolicy != "Retain" || r.UpdateReplacePolicy != "Retain" {
		t.Errorf("%s: deletion %q, replacement %q; want Retain", what, r.DeletionPolicy, r.UpdateReplacePolicy)
	}
}

func checkBucket(t reporter) {
	data := synth(t)["Data"]
	b := data.one(t, "AWS::S3::Bucket")
	kept(t, "bucket", b)
	check(t, "bucket", b.Properties, `"Enabled"`, "VersioningConfiguration", "Status")
	check(t, "bucket", b.Properties, `{"BlockPublicAcls":true,"BlockPublicPolicy":true,"IgnorePublicAcls":true,"RestrictPublicBuckets":true}`, "PublicAccessBlockConfiguration")
	check(t, "bucket", b.Properties, `[{"AbortIncompleteMultipartUpload":{"DaysAfterInitiation":1},"ExpirationInDays":30,"Id":"expire-clips","NoncurrentVersionExpiration":{"NoncurrentDays":30},"Prefix":"clips/","Status":"Enabled"},`+
		`{"AbortIncompleteMultipartUpload":{"DaysAfterInitiation":1},"ExpirationInDays":30,"Id":"expire-work","NoncurrentVersionExpiration":{"NoncurrentDays":1},"Prefix":"work/","Status":"Enabled"},`+
		`{"Id":"old-reports","NoncurrentVersionExpiration":{"NoncurrentDays":30},"Prefix":"reports/","Status":"Enabled"}]`, "LifecycleConfiguration", "Rules")
	check(t, "bucket", b.Properties, `"AES256"`, "BucketEncryption", "ServerSideEncryptionConfiguration", 0, "ServerSideEncryptionByDefault", "SSEAlgorithm")
	// Case 51: a page may upload by a presigned POST; what it may send is declared once.
	methods, _ := json.Marshal(names.UploadCORSMethods)
	exposed, _ := json.Marshal(names.UploadCORSExpose)
	check(t, "bucket", b.Properties, fmt.Sprintf(`[{"AllowedHeaders":["*"],"AllowedMethods":%s,"AllowedOrigins":["*"],"ExposedHeaders":%s,"MaxAge":3600}]`, methods, exposed),
		"CorsConfiguration", "CorsRules")
	policy, _ := json.Marshal(data.one(t, "AWS::S3::BucketPolicy").Properties)
	for _, want := range []string{`"aws:SecureTransport":"false"`, `"s3:TlsVersion":1.2`} {
		if !strings.Contains(string(policy), want) {
			t.Errorf("the bucket's policy has no %s", want)
		}
	}
}

func checkSecrets(t reporter) {
	data := synth(t)["Data"]
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

func checkNetwork(t reporter) {
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

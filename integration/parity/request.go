package parity

import (
	"encoding/json"
	"net/url"
	"strings"

	"fastbowlinglab/integration/local/endpoint"
	"fastbowlinglab/shared/names"
)

// Need is an action on a resource that a request needs.
type Need struct{ Action, Resource string }

func arn(service, rest string) string {
	return "arn:aws:" + service + ":" + Region + ":" + Account + ":" + rest
}

// Needs lists what a request to the embedded cloud would need in AWS; ok is
// false for one that this package cannot tell about.
func Needs(q *endpoint.Request) (needs []Need, ok bool) {
	switch q.Service {
	case endpoint.DynamoDB:
		return table(q)
	case endpoint.SQS:
		var in struct{ QueueUrl string }
		return one("sqs:"+q.Operation, q, &in, func() string { return arn("sqs", in.QueueUrl[strings.LastIndex(in.QueueUrl, "/")+1:]) })
	case endpoint.States:
		return states(q)
	case endpoint.SSM:
		var in struct{ Name, Path string }
		return one("ssm:"+q.Operation, q, &in, func() string { return arn("ssm", "parameter"+strings.TrimSuffix(in.Name+in.Path, "/")) })
	case endpoint.ECS:
		return []Need{{"ecs:" + q.Operation, arn("ecs", "service/"+names.Cluster+"/"+names.PoseService)}}, true
	case endpoint.SES:
		return []Need{{"ses:SendEmail", arn("ses", "identity/example.com")}, {"ses:SendEmail", arn("ses", "configuration-set/"+names.MailEventSet)}}, true
	case endpoint.S3:
		return s3(q)
	}
	return nil, false
}

func one(action string, q *endpoint.Request, in any, resource func() string) ([]Need, bool) {
	b, err := q.Body()
	if err != nil || json.Unmarshal(b, in) != nil {
		return nil, false
	}
	return []Need{{action, resource()}}, true
}

// table asks for each write of a transaction by its own kind, as IAM does.
func table(q *endpoint.Request) ([]Need, bool) {
	b, err := q.Body()
	if err != nil {
		return nil, false
	}
	var in struct {
		TableName, IndexName string
		TransactItems        []map[string]struct{ TableName string }
	}
	if json.Unmarshal(b, &in) != nil {
		return nil, false
	}
	if q.Operation != "TransactWriteItems" {
		resource := arn("dynamodb", "table/"+in.TableName)
		if in.IndexName != "" {
			resource += "/index/" + in.IndexName
		}
		return []Need{{"dynamodb:" + q.Operation, resource}}, true
	}
	kinds := map[string]string{"Put": "PutItem", "Update": "UpdateItem", "Delete": "DeleteItem", "ConditionCheck": "ConditionCheckItem"}
	var needs []Need
	for _, item := range in.TransactItems {
		for kind, on := range item {
			needs = append(needs, Need{"dynamodb:" + kinds[kind], arn("dynamodb", "table/"+on.TableName)})
		}
	}
	return needs, len(needs) > 0
}

func states(q *endpoint.Request) ([]Need, bool) {
	machine := arn("states", "stateMachine:"+names.StateMachine)
	switch q.Operation {
	case "StartExecution": // by the alias in AWS; the embedded cloud's functions name the machine
		return []Need{{"states:StartExecution", machine + ":" + names.MachineAlias}}, true
	case "StopExecution", "DescribeExecution":
		return []Need{{"states:" + q.Operation, arn("states", "execution:"+names.StateMachine+":some")}}, true
	}
	return []Need{{"states:" + q.Operation, machine}}, true // SendTask...
}

func s3(q *endpoint.Request) ([]Need, bool) {
	bucket, key, _ := strings.Cut(strings.TrimPrefix(q.HTTP.URL.Path, "/"), "/")
	if key, err := url.PathUnescape(key); err == nil && key != "" {
		action := map[string]string{"GET": "GetObject", "PUT": "PutObject", "DELETE": "DeleteObject", "HEAD": "GetObject"}[q.HTTP.Method]
		if action != "" && action != "PutObject" && q.HTTP.URL.Query().Has("versionId") {
			action += "Version"
		}
		return []Need{{"s3:" + action, "arn:aws:s3:::" + bucket + "/" + key}}, action != ""
	}
	if q.HTTP.Method == "GET" {
		action := "s3:ListBucket"
		if q.HTTP.URL.Query().Has("versions") {
			action = "s3:ListBucketVersions"
		}
		return []Need{{action, "arn:aws:s3:::" + bucket}}, true
	}
	return nil, false
}

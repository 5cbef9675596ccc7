package local

import (
	"fmt"
	"strings"
	"time"

	"fastbowlinglab/integration/web"
	"fastbowlinglab/shared/names"
)

// The people in the guide's examples.
const (
	GuideAthlete  = "athlete-1"
	GuideOperator = "operator-1"
)

// tokenLife is how long the tokens of the guide are good.
const tokenLife = 12 * time.Hour

// example is a command that works as it stands in a shell with the guide's
// settings.
type example struct{ what, command string }

// examples are what somebody who looks around does first. Version 1 of the AWS
// CLI needs --endpoint-url for SQS: there it overlooks AWS_ENDPOINT_URL.
func examples() []example {
	auth := func(who string) string { return `-H "Authorization: Bearer $` + who + `"` }
	return []example{
		{"grant the athlete five credits", `curl -sS ` + auth("OPERATOR") + ` -H 'Idempotency-Key: guide-1' $API/v1/operator/grants -d '{"athlete_id":"` +
			GuideAthlete + `","credits":5,"reason":"guide"}'`},
		{"reserve an analysis; the answer holds an upload form, which waits for a day", `curl -sS ` + auth("ATHLETE") + ` -H 'Idempotency-Key: guide-1' $API/v1/analyses -d '{"athlete":{"name":"A. Bowler"},"consent":true,"clips":[{"name":"clip.mp4","type":"video/mp4","size_bytes":1}]}'`},
		{"the athlete's ledger", `curl -sS ` + auth("ATHLETE") + ` $API/v1/credits`},
		{"the athlete's analyses", `curl -sS ` + auth("ATHLETE") + ` $API/v1/analyses`},
		{"the API's description, for a client generator", `curl -sS $API/v1/openapi.json`},
		{"runs, the newest first", `aws stepfunctions list-executions --state-machine-arn ` + StateMachineARN},
		{"the rows behind them", `aws dynamodb scan --table-name ` + names.Analyses.Name},
		{"clips, work and reports", `aws s3 ls --recursive s3://` + names.Bucket},
		{"the pose fleet", `aws ecs describe-services --cluster ` + names.Cluster + ` --services ` + names.PoseService},
		{"jobs that wait", `aws sqs get-queue-attributes --endpoint-url $AWS_ENDPOINT_URL --attribute-names All --queue-url $AWS_ENDPOINT_URL/` + Account + `/` + names.PoseQueue.Name},
		{"settings and flags", `aws ssm get-parameters-by-path --recursive --path ` + names.Parameters},
		{"reconcile now", `aws lambda invoke --function-name ` + names.Prefix + names.FnReconcile + ` /dev/stdout`},
	}
}

// Settings are the shell variables that the examples use.
func (c *Cloud) Settings() (map[string]string, error) {
	athlete, err := c.AthleteToken(GuideAthlete, tokenLife)
	if err != nil {
		return nil, err
	}
	operator, err := c.OperatorToken(GuideOperator, tokenLife)
	if err != nil {
		return nil, err
	}
	return map[string]string{
		"AWS_ENDPOINT_URL": c.Endpoint, "AWS_REGION": Region, "AWS_DEFAULT_REGION": Region,
		"AWS_ACCESS_KEY_ID": AccessKey, "AWS_SECRET_ACCESS_KEY": SecretKey,
		"API": c.API, "ATHLETE": athlete, "OPERATOR": operator,
	}, nil
}

// Guide says how to use the cloud from a shell.
func (c *Cloud) Guide() (string, error) {
	set, err := c.Settings()
	if err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "The embedded cloud is up.\n\n  endpoint  %s\n  HTTP API  %s\n  page      %s  (sign in as "+GuideAthlete+", no password; grant credits first)\n  logs      %s\n\n", c.Endpoint, c.API, c.API+web.Path, c.Logs)
	fmt.Fprintf(&b, "In another shell (tokens are good for %.0f hours):\n\n", tokenLife.Hours())
	for _, k := range []string{"AWS_ENDPOINT_URL", "AWS_REGION", "AWS_DEFAULT_REGION", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "API", "ATHLETE", "OPERATOR"} {
		fmt.Fprintf(&b, "  export %s=%s\n", k, set[k])
	}
	b.WriteString("\nThen, for example:\n\n")
	for _, e := range examples() {
		fmt.Fprintf(&b, "  # %s\n  %s\n", e.what, e.command)
	}
	b.WriteString("\nThe whole job, from a clip to its report: `make smoke API=$API TOKEN=$ATHLETE`, or call by call, as an app does it, in\n" +
		"functions/README.md under \"The whole job by curl\". Both cost the athlete one of the credits above.\n")
	b.WriteString("\nCtrl-C stops it. State is kept; `make clean` forgets it.\n")
	return b.String(), nil
}

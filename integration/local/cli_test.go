package local

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"fastbowlinglab/shared/names"
)

// shell runs a command in a shell with the guide's settings and nothing else.
func shell(t *testing.T, c *Cloud, command string) string {
	t.Helper()
	set, err := c.Settings()
	check(t, err)
	cmd := exec.CommandContext(t.Context(), "sh", "-c", command)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME"), "AWS_PAGER=", "AWS_CONFIG_FILE=" + os.DevNull}
	for k, v := range set {
		cmd.Env = append(cmd.Env, k+"="+v)
	}
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s\n%v\n%s%s", command, err, out, errs.Bytes())
	}
	return string(out)
}

func needs(t *testing.T, program string) {
	t.Helper()
	if err := exec.Command(program, "--version").Run(); err != nil {
		t.Skipf("%s is not installed", program)
	}
}

// Every example of the guide works as it is printed.
func TestTheGuideIsTrue(t *testing.T) {
	c := start(t)
	guide, err := c.Guide()
	check(t, err)
	for _, e := range examples() {
		t.Run(strings.ReplaceAll(e.what, " ", "_"), func(t *testing.T) {
			t.Parallel()
			contains(t, guide, e.command)
			needs(t, strings.Fields(e.command)[0])
			out := shell(t, c, e.command)
			if strings.HasPrefix(e.command, "curl") && !strings.Contains(out, " ") { // the test's function answers route and caller
				t.Errorf("answered %q", out)
			}
		})
	}
}

// The stock AWS CLI, unchanged, on what the endpoint serves.
func TestStockCLI(t *testing.T) {
	needs(t, "aws")
	c := start(t)
	dir := t.TempDir()
	big := bytes.Repeat([]byte("fast bowling "), 1<<20) // 13 MB: the CLI uploads it in parts
	file := filepath.Join(dir, "clip.mp4")
	check(t, os.WriteFile(file, big, 0o644))

	t.Run("S3", func(t *testing.T) {
		t.Parallel()
		shell(t, c, "aws s3 cp --quiet "+file+" s3://"+names.Bucket+"/clips/1 && aws s3 cp --quiet s3://"+names.Bucket+"/clips/1 "+file+".back")
		got, err := os.ReadFile(file + ".back")
		check(t, err)
		if !bytes.Equal(got, big) {
			t.Errorf("%d bytes came back of %d", len(got), len(big))
		}
		var head struct{ VersionId string }
		check(t, json.Unmarshal([]byte(shell(t, c, "aws s3api head-object --bucket "+names.Bucket+" --key clips/1")), &head))
		url := strings.TrimSpace(shell(t, c, "aws s3 presign s3://"+names.Bucket+"/clips/1"))
		if head.VersionId == "" || !strings.HasPrefix(url, c.Endpoint) {
			t.Errorf("version %q, presigned %s", head.VersionId, url)
		}
	})
	t.Run("StepFunctions", func(t *testing.T) {
		t.Parallel()
		arn := strings.TrimSpace(shell(t, c, `aws stepfunctions start-execution --name cli --input '{"a":1}' --query executionArn --output text --state-machine-arn `+StateMachineARN))
		check(t, c.States().Wait(t.Context(), arn))
		contains(t, shell(t, c, "aws stepfunctions get-execution-history --execution-arn "+arn), "ExecutionSucceeded")
	})
	t.Run("SQS", func(t *testing.T) {
		t.Parallel()
		q := " --endpoint-url $AWS_ENDPOINT_URL --queue-url " + queueURL(c.Endpoint, names.PoseQueue.Name)
		contains(t, shell(t, c, "aws sqs send-message --message-body an-1"+q+" && aws sqs receive-message"+q), `"Body": "an-1"`)
	})
	t.Run("Others", func(t *testing.T) {
		t.Parallel()
		contains(t, shell(t, c, "aws sts get-caller-identity"), Account)
		contains(t, shell(t, c, "aws sesv2 list-email-identities"), MailFrom)
		contains(t, shell(t, c, "aws secretsmanager create-secret --name cli --secret-string s && aws secretsmanager get-secret-value --secret-id cli"), `"SecretString": "s"`)
	})
	t.Run("NotServed", func(t *testing.T) {
		t.Parallel()
		out := shell(t, c, "aws kinesis list-streams 2>&1 || true")
		contains(t, out, "does not serve")
	})
}

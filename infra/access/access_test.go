package access

import (
	"debug/elf"
	"debug/gosym"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sort"
	"strings"
	"testing"

	"fastbowlinglab/shared/names"
)

// TestStatements: no wildcard without its reason, no reason without a wildcard,
// no action twice on one resource.
func TestStatements(t *testing.T) {
	check := func(program string, all []Statement) {
		seen := map[string]bool{}
		for _, s := range all {
			wild := false
			for _, r := range s.Resources {
				wild = wild || strings.ContainsAny(r, "*?")
				for _, a := range s.Actions {
					if strings.Contains(a, "*") {
						t.Errorf("%s: action %s", program, a)
					}
					if seen[a+r] {
						t.Errorf("%s: %s on %s twice", program, a, r)
					}
					seen[a+r] = true
				}
			}
			if wild != (s.Reason != "") {
				t.Errorf("%s, %s: wildcard %t, reason %q", program, s.Sid, wild, s.Reason)
			}
		}
	}
	for program, all := range programs {
		check(program, all)
	}
	for _, m := range []string{names.MachineAnalysis, names.MachineBackfill, names.MachineNightly} {
		check("machine "+m, Machine(m))
	}
	for _, f := range names.Functions() {
		if _, err := Of(f.Name); err != nil {
			t.Error(err)
		}
		check(f.Name, Lambda(f))
	}
	if _, err := Of("nobody"); err == nil {
		t.Error("an unknown program has statements")
	}
}

// clientMethod finds the SDK's operations among a program's symbols. The linker
// keeps only methods that something can call.
var clientMethod = regexp.MustCompile(`^github\.com/aws/aws-sdk-go-v2/service/(\w+)\.\(\*(Client|PresignClient)\)\.([A-Z]\w+)$`)

// plumbing are operations by which clients find endpoints and credentials; ours
// are told where to go, and get credentials from Lambda and ECS.
var plumbing = regexp.MustCompile(`^(dynamodb\.DescribeEndpoints|s3\.CreateSession|(sso|ssooidc|sts|signin)\..*)$`)

// operations lists the SDK operations linked into a binary, as service.Operation.
func operations(path string) (map[string]bool, error) {
	f, err := elf.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	section := f.Section(".gopclntab")
	if section == nil {
		return nil, errors.New(path + " has no .gopclntab")
	}
	b, err := section.Data()
	if err != nil {
		return nil, err
	}
	table, err := gosym.NewTable(nil, gosym.NewLineTable(b, f.Section(".text").Addr))
	if err != nil {
		return nil, err
	}
	out := map[string]bool{}
	for _, fn := range table.Funcs {
		if m := clientMethod.FindStringSubmatch(fn.Name); m != nil && m[3] != "Options" {
			if op := m[1] + "." + strings.TrimPrefix(m[3], "Presign"); !plumbing.MatchString(op) {
				out[op] = true
			}
		}
	}
	return out, nil
}

// actions gives what IAM may call an operation; nil for one that needs nothing.
func actions(op string) []string {
	service, name, _ := strings.Cut(op, ".")
	switch service {
	case "dynamodb":
		if name == "TransactWriteItems" {
			return []string{"dynamodb:PutItem", "dynamodb:UpdateItem", "dynamodb:DeleteItem", "dynamodb:ConditionCheckItem"}
		}
	case "s3":
		return map[string][]string{
			"GetObject": {"s3:GetObject", "s3:GetObjectVersion", "s3:ListBucket"}, "PutObject": {"s3:PutObject"}, "PostObject": {"s3:PutObject"},
			"ListObjectsV2": {"s3:ListBucket"}, "ListObjectVersions": {"s3:ListBucketVersions"}, "DeleteObject": {"s3:DeleteObjectVersion"},
		}[name]
	case "sfn":
		return []string{"states:" + name}
	case "sesv2":
		return []string{"ses:" + name}
	}
	return []string{service + ":" + name}
}

// notSDK lists actions that no operation of the SDK stands for.
var notSDK = map[string]string{
	"bedrock:InvokeModel":      "shared/bedrock signs its own request",
	"ecs:GetTaskProtection":    "the ECS agent asks for the task",
	"lambda:InvokeFunction":    "shared/lambdacall signs its own request",
	"ecs:UpdateTaskProtection": "the ECS agent asks for the task",
}

// TestGrantsMatchCode compares what a program may do with what its binary can
// call: nothing is granted that it cannot call, and what it can call is granted.
func TestGrantsMatchCode(t *testing.T) {
	bin := filepath.Join("..", "..", ".local", "bin")
	for program, statements := range programs {
		path := filepath.Join(bin, program, "bootstrap")
		if program == names.PoseWorker {
			path = filepath.Join(bin, program)
		}
		if _, err := os.Stat(path); err != nil {
			t.Logf("skipped %s: %s is missing; make functions builds it", program, path)
			continue
		}
		linked, err := operations(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, problem := range mismatches(statements, linked) {
			t.Errorf("%s %s", program, problem)
		}
	}
}

func mismatches(statements []Statement, linked map[string]bool) []string {
	granted, callable := map[string]bool{}, map[string]bool{}
	for _, s := range statements {
		for _, a := range s.Actions {
			granted[a] = true
		}
	}
	var out []string
	for op := range linked {
		any := false
		for _, a := range actions(op) {
			callable[a] = true
			any = any || granted[a]
		}
		if !any {
			out = append(out, fmt.Sprintf("can call %s, and may do none of %v", op, actions(op)))
		}
	}
	for a := range granted {
		if !callable[a] && notSDK[a] == "" {
			out = append(out, fmt.Sprintf("may do %s, and cannot call it", a))
		}
	}
	sort.Strings(out)
	return slices.Compact(out)
}

func TestMismatchesAreSeen(t *testing.T) {
	got := mismatches([]Statement{table("T", names.Usage, "GetItem", "Scan")}, map[string]bool{"dynamodb.GetItem": true, "sqs.SendMessage": true})
	want := []string{"can call sqs.SendMessage, and may do none of [sqs:SendMessage]", "may do dynamodb:Scan, and cannot call it"}
	if !slices.Equal(got, want) {
		t.Errorf("mismatches %q, want %q", got, want)
	}
}

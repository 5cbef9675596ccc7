package infra

import (
	"fmt"
	"strconv"
	"strings"

	"fastbowlinglab/shared/names"
)

// checkEnvironment compares what a program finds in its environment with what
// shared/names declares, by value; a reference is told by what it leads to.
func checkEnvironment(t reporter, f names.Function, vars map[string]any) {
	t.Helper()
	for _, k := range f.Env {
		v, ok := vars[k]
		if !ok {
			t.Errorf("%s has no %s", f.Name, k)
			continue
		}
		got, want := plain(v), environmentOf(k)
		if open, ok := strings.CutSuffix(want, "*"); got != want && !(ok && strings.HasPrefix(got, open)) {
			t.Errorf("%s: %s is %s, want %s", f.Name, k, got, want)
		}
	}
}

const sqsURL = "https://sqs.${AWS::Region}.${AWS::URLSuffix}/${AWS::AccountId}/"

// environmentOf is the value of a variable, up to a * for what the CDK adds.
func environmentOf(k string) string {
	for _, t := range names.Tables() {
		if k == t.Env {
			return t.Name
		}
	}
	data := `{"Fn::ImportValue":"FastBowlingLab-Data:ExportsOutputRef`
	v, ok := map[string]string{
		names.EnvBucket:          data + "Media*",
		names.EnvPushTopic:       data + "Push*",
		names.EnvCallbackKeys:    data + "CallbackKeys*",
		names.EnvStateMachineARN: "arn:${AWS::Partition}:states:${AWS::Region}:${AWS::AccountId}:stateMachine:fbl-analysis:live",
		names.EnvMachinePrefix:   "arn:${AWS::Partition}:states:${AWS::Region}:${AWS::AccountId}:stateMachine:fbl-",
		names.EnvCluster:         "fbl-pose",
		names.EnvPoseService:     "fbl-poseworker",
		names.EnvMailFrom:        "reports@example.com",
		names.EnvAppURL:          "https://app.example.com/",
		names.EnvPaymentsSecret:  "fbl-payments",
		names.EnvParameters:      "/fastbowlinglab",
		names.EnvFonts:           "/var/task/fonts",
		names.EnvModels:          "/opt/pose/models",
		names.EnvORT:             "/opt/pose/libonnxruntime.so.1",
		names.EnvPoseModel:       "full",
		names.EnvProcessors:      "1", // of Cpu, 1024 units each
		names.EnvIntake:          "open",
		names.EnvRender:          "fbl-render",
		names.EnvAPIURL:          "*",
		names.EnvPoseURL:         `{"Fn::Join":["",["http://",{"Fn::ImportValue":"FastBowlingLab-PoseFleet:ExportsOutputFnGetAttBalancer*`,
		names.PoseQueue.Env:      sqsURL + "fbl-pose-jobs",
	}[k]
	if !ok {
		return "*"
	}
	return v
}

// suffix is what the CDK appended to a logical id that a property refers to.
func suffix(r resource, property, id string) string {
	return strings.TrimPrefix(fmt.Sprint(at(r.Properties, property, "Fn::GetAtt", 0)), id)
}

// checkWorkerEnvironment is checkEnvironment for the pose worker.
func checkWorkerEnvironment(t reporter) {
	task := synth(t)["PoseFleet"].one(t, "AWS::ECS::TaskDefinition").Properties
	list, _ := at(task, "ContainerDefinitions", 0, "Environment").([]any)
	vars := map[string]any{}
	for _, e := range list {
		vars[fmt.Sprint(at(e, "Name"))] = at(e, "Value")
	}
	declared := append(names.WorkerEnv(), names.EnvProcessors)
	if len(vars) != len(declared) {
		t.Errorf("the worker has %d environment variables, declared are %d", len(vars), len(declared))
	}
	checkEnvironment(t, names.Function{Name: names.PoseWorker, Env: declared}, vars)
	if want := strconv.Itoa(names.WorkerCPU / 1024); fmt.Sprint(vars[names.EnvProcessors]) != want || fmt.Sprint(at(task, "Cpu")) != strconv.Itoa(names.WorkerCPU) {
		t.Errorf("a task of %v CPU units runs on %v processors, want %s", at(task, "Cpu"), vars[names.EnvProcessors], want)
	}
}

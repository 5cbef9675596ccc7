package infra

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"fastbowlinglab/infra/access"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/statemachine"
)

// Field case 3, the part of the templates: no state's data goes to a log, and what
// a function is handed is named field by field, so that no large object travels
// along; the service's own limits are in package statemachine's tests.
func TestCase3OnlyNamedFieldsTravel(t *testing.T) {
	a := synth(t)["Analysis"]
	for id, m := range a.of("AWS::StepFunctions::StateMachine") {
		check(t, id, m.Properties, `false`, "LoggingConfiguration", "IncludeExecutionData")
	}
	var def struct {
		States map[string]struct {
			Type       string
			Parameters struct{ Payload map[string]any }
			ResultPath *string
		}
	}
	if err := json.Unmarshal([]byte(a.Resources["AnalysisMachine"].Properties["DefinitionString"].(string)), &def); err != nil {
		t.Fatal(err)
	}
	tasks := 0
	for name, s := range def.States {
		if s.Type != "Task" {
			continue
		}
		tasks++
		for field, from := range s.Parameters.Payload {
			path := fmt.Sprint(from)
			if path == "$" || strings.HasPrefix(path, "$$") && !strings.HasPrefix(path, "$$.") || strings.HasSuffix(path, ".*") {
				t.Errorf("%s hands over %s = %s: everything that came before", name, field, path)
			}
		}
	}
	if tasks < 10 {
		t.Errorf("%d tasks", tasks)
	}
}

// Field cases 15 and 17, the part of the templates: the queue hides a message for
// longer than the lease that the worker renews, several renewals fit into a lease,
// a heartbeat of the state outlasts a message that comes back and a wake, and no
// healthy job reaches the dead letters by its deliveries.
func TestCases15And17TimersFit(t *testing.T) {
	fleet, a := synth(t)["PoseFleet"], synth(t)["Analysis"]
	var jobs resource
	for _, q := range fleet.of("AWS::SQS::Queue") {
		if q.Properties["QueueName"] == names.PoseQueue.Name {
			jobs = q
		}
	}
	visibility, _ := jobs.Properties["VisibilityTimeout"].(float64)
	var def struct {
		States map[string]struct{ HeartbeatSeconds, TimeoutSeconds float64 }
	}
	if err := json.Unmarshal([]byte(a.Resources["AnalysisMachine"].Properties["DefinitionString"].(string)), &def); err != nil {
		t.Fatal(err)
	}
	beat := def.States["AwaitPose"].HeartbeatSeconds
	task := fleet.one(t, "AWS::ECS::TaskDefinition").Properties
	grace, _ := at(task, "ContainerDefinitions", 0, "StopTimeout").(float64)
	for what, ok := range map[string]bool{
		"visibility holds a lease and the clocks' difference":  visibility >= (names.LeaseDuration + names.ClockSkew).Seconds(),
		"three renewals fit into a lease":                      names.KeeperPeriod*3 <= names.LeaseDuration,
		"a heartbeat outlasts a message's return and a wake":   beat > visibility+names.WakeTime.Seconds(),
		"the queue road's first wait has no heartbeat":         def.States["QueueJob"].HeartbeatSeconds == 0 && def.States["QueueJob"].TimeoutSeconds == names.ClaimTimeout.Seconds(),
		"a worker that is stopped has a lease's time to leave": grace >= names.LeaseDuration.Seconds() && grace <= 120,
		"deliveries do not kill a healthy job":                 names.PoseQueue.MaxReceiveCount >= 10,
	} {
		if !ok {
			t.Errorf("not so: %s (visibility %v s, heartbeat %v s, grace %v s)", what, visibility, beat, grace)
		}
	}
}

// Field case 51, the part of the templates: what takes long is not behind a request
// of the API, a page is told by CORS what it may send and read, by the bucket too,
// and the balancer's timeout is set.
func TestCase51NoPaidWorkBehindARequest(t *testing.T) {
	checkAPI(t)
	checkBucket(t)
	checkBalancer(t)
	for _, r := range names.Routes() {
		for _, f := range names.Functions() {
			if f.Name == r.Function && (f.State || f.Timeout.Seconds() >= apiIntegration) {
				t.Errorf("%s leads to %s, which a state calls, or which may take %s", r.Key(), f.Name, f.Timeout)
			}
		}
	}
}

// Field case 56, the part of the templates: definitions name versions that are
// kept, the role may invoke every version of every function, and runs that are
// open can be answered by a token of any version.
func TestCase56OldVersionsStayAllowed(t *testing.T) {
	checkMachine(t)
	checkBatchMachines(t)
	checkRemoval(t)
	for _, name := range statemachine.Names() {
		for _, s := range access.Machine(name) {
			if s.Sid != "Invoke" {
				continue
			}
			for _, f := range statemachine.Functions(name) {
				if arn := access.FunctionARN(f.Name) + ":*"; !strings.Contains(strings.Join(s.Resources, " ")+" ", arn+" ") {
					t.Errorf("%s may not invoke every version of %s", name, f.Name)
				}
			}
		}
	}
	if _, err := os.Stat("../integration/release/testdata/1/contract.json"); err != nil {
		t.Error("the contract of the release before is not kept:", err)
	}
}

package names

import "slices"

// The definitions of state machines, package statemachine's <name>.asl.json.
const (
	MachineAnalysis = "analysis"
	MachineBackfill = "backfill"
	MachineNightly  = "nightly"
)

// MachineName is the physical name of a state machine.
func MachineName(machine string) string { return Prefix + machine }

// NightlySchedule starts the nightly job: in EventBridge Scheduler's form, UTC,
// later than NightlySettle after midnight. The input is {}: the job takes the
// UTC day before its start.
const NightlySchedule = "cron(0 1 * * ? *)"

// In reports whether a state machine invokes the function. A function of State
// that names no machine is the analysis's.
func (f Function) In(machine string) bool {
	if f.Machines == nil {
		return f.State && machine == MachineAnalysis
	}
	return f.State && slices.Contains(f.Machines, machine)
}

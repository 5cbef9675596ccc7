package names

import "time"

// The pose fleet as it is deployed.
const (
	WorkerPort       = 8080
	BalancerPort     = 80
	WorkerCPU        = 1024 // 1024 = 1 vCPU
	WorkerMemoryMiB  = 2048
	WorkerCores      = WorkerCPU / 1024
	PassesPerWorker  = WorkerCores // a pass a core, and no more: functions/poseworker/README.md
	DefaultPoseModel = "full"
	HealthPath       = "/healthz"
	MaxWorkers       = 8 // scale-out limit of the fleet
)

// Timers of the load balancer in front of the workers. The worker's own server
// keeps idle connections longer than the balancer does, or the balancer sends
// requests into connections that are being closed and answers 502.
const (
	WorkerIdleTimeout   = ALBIdleTimeout + 60*time.Second
	DeregistrationDelay = 30 * time.Second
	HealthInterval      = 15 * time.Second
	HealthTimeout       = 5 * time.Second
)

// MachineAlias is the alias of the state machine that new executions start by;
// a deploy moves it to the new version a part at a time.
const MachineAlias = "live"

// EventsDead is the dead-letter queue of what starts functions by itself:
// stream records, events and schedules that were given up.
const EventsDead = Prefix + "events-dead"

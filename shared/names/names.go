// Package names declares, once, everything that two programs must agree on:
// tables, buckets and key layouts, queues, functions and what starts them,
// routes, timers, and the payloads that travel between states.
//
// The CDK app (infra) and the embedded cloud (integration/local) both create
// what is declared here; functions find the physical names in the environment
// variables that the declarations name. Nothing here touches AWS.
package names

// Prefix starts every physical name. Some emulators treat bare words such as
// "jobs" or "tags" as their own routes, and an account may hold other systems.
const Prefix = "fbl-"

// Product is what athletes know the system by.
const Product = "FastBowlingLab"

// StateMachine is the name of the analysis state machine.
const StateMachine = Prefix + "analysis"

// Cluster and PoseService name the ECS cluster and the service of pose workers.
const (
	Cluster     = Prefix + "pose"
	PoseService = Prefix + "poseworker"
)

// FleetSeq is the key, in the effects table, of the fleet's sequence number:
// wake raises it, scale-in reads it before and after.
const FleetSeq = "fleet#pose"

// OperatorGroup is the user-pool group whose members may call operator routes.
const OperatorGroup = "operators"

// Limits on what one analysis may hold. They are checked when it is created
// and again before any work on a clip.
const (
	MaxClips        = 8
	MaxClipBytes    = 512 << 20
	MaxFrames       = 60_000 // of all clips together: 8 clips of 30 s at 240 a second; PassTakes bounds the work on them
	MaxNotesRunes   = 2000
	MaxNameRunes    = 200
	MaxBodyBytes    = 64 << 10
	MaxIdempotency  = 128
	MaxIDBytes      = 128  // of an id that others give out: an athlete's, a payment's
	PrecheckFrames  = 8    // of all clips together
	PrecheckPerClip = 3    // frames sought in one clip
	PrecheckWidth   = 1024 // pixels, as displayed
)

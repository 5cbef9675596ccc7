package names

import "time"

// Timers of the pose fleet and of the analysis. Their relations are what keeps
// a job from running twice or waiting for ever; timers_test.go states them.
const (
	KeeperPeriod      = 20 * time.Second // renewals of lease, visibility and token
	ProgressPeriod    = 4 * time.Second  // between two writes of a pass' progress, when it has moved
	LeaseDuration     = 60 * time.Second // a pose lease without renewal
	ClockSkew         = 15 * time.Second // bound on the difference of two clocks
	QueueVisibility   = 90 * time.Second
	WakeTime          = 180 * time.Second // from UpdateService(1) to the first claim
	PoseHeartbeat     = 300 * time.Second // HeartbeatSeconds of AwaitPose
	PoseTimeout       = 2 * time.Hour     // TimeoutSeconds of AwaitPose
	ClaimTimeout      = 7 * 24 * time.Hour
	QueueRetention    = 14 * 24 * time.Hour
	ClipLifecycle     = 30 * 24 * time.Hour
	ClipVersions      = ClipLifecycle       // of a clip that another was uploaded over: it may be the one that was confirmed
	WorkLifecycle     = 30 * 24 * time.Hour // keypoints, key frames and texts; they outlive the longest open analysis
	PoseNoProgress    = 120 * time.Second   // a pass that has not moved for so long is given up
	PoseAgain         = 5 * time.Second     // before a pass tries again what a service that was away did not do
	PoseAway          = 40 * time.Minute    // storage that does not answer for so long fails a try of the pass
	PoseStoreTime     = 30 * time.Second    // for one object of a pass, all tries together
	StopGrace         = 110 * time.Second   // ECS stop timeout; Fargate allows 120 s
	ReconcilePeriod   = 5 * time.Minute
	AuditPeriod       = 24 * time.Hour
	PoseCallTimeout   = 6 * time.Second // one call through the balancer: a probe, or a post with its claim
	ALBIdleTimeout    = 900 * time.Second
	MaxJobVisibility  = 12 * time.Hour // SQS's limit on one message's visibility
	UploadLifetime    = time.Hour      // of a presigned POST
	LinkLifetime      = 15 * time.Minute
	WorkerURLLifetime = 3 * time.Hour
)

// ErasureSettle is how long after a deletion was asked for, and after the last end
// that it wrote, it may be called done at the earliest: by then no function that
// was at work on an analysis of the athlete's writes any more, and an upload begun
// with the last form in its last second has ended, at SlowUpload bytes a second.
const (
	ErasureSettle = 150 * time.Minute
	SlowUpload    = 125_000
)

// ErasePeriod is how often open deletions and old data are looked at.
const ErasePeriod = 5 * time.Minute

// How often a pass tries, without a new chunk in between, what a service that is away
// does not do, and by what the wait grows from one try to the next.
const (
	PoseTries       = 4
	PoseAgainGrowth = 3
)

// Deadlines of I8: how long an analysis may stay in a state before the
// reconciler ends it.
const (
	ReservedDeadline  = 24 * time.Hour     // from creation
	QueuedDeadline    = 7 * 24 * time.Hour // from the confirm
	AnalysingDeadline = 2 * time.Hour      // from the claim
)

// Poison limits: a job that dies this often, or returns this often to dispatch,
// without a new checkpoint is failed and refunded.
const (
	MaxDeaths  = 3
	MaxReturns = 3
)

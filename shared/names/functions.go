package names

import "time"

// Names of the deployed programs; each is a package functions/<name>.
const (
	FnAPI       = "api"
	FnBegin     = "begin"
	FnWake      = "wake"
	FnPrecheck  = "precheck"
	FnQueueJob  = "queuejob"
	FnAwaitPose = "awaitpose"
	FnFindings  = "findings"
	FnCoaching  = "coaching"
	FnRender    = "render"
	FnDeliver   = "deliver"
	FnReject    = "reject"
	FnSettle    = "settle"
	FnNotify    = "notify"
	FnReconcile = "reconcile"
	FnAudit     = "audit"
	FnProbe     = "probe"
	FnPostJob   = "postjob"
	FnCallback  = "callback"
	FnFeedback  = "feedback"
	FnErase     = "erase"
)

// PoseWorker is the program that runs on Fargate.
const PoseWorker = "poseworker"

// Packaging of a function.
type Packaging string

// The packagings. An image holds ffmpeg and ONNX Runtime beside the binary.
const (
	Zip   Packaging = "zip"
	Image Packaging = "image"
)

// Environment variables that are not the name of a table, bucket or queue.
const (
	EnvStateMachineARN = "STATE_MACHINE_ARN"
	EnvCluster         = "POSE_CLUSTER"
	EnvPoseService     = "POSE_SERVICE"
	EnvMailFrom        = "MAIL_FROM"
	EnvAPIURL          = "API_URL"    // public base URL of the HTTP API, which callbacks are sent to
	EnvAppURL          = "APP_URL"    // address of the app, which mails lead to (AppLink); empty where there is none
	EnvParameters      = "PARAMETERS" // SSM path prefix of settings that change without a deploy
	EnvFonts           = "FONTS_DIR"
	EnvModels          = "MODELS_DIR"    // folder with the .tflite files
	EnvORT             = "ORT_LIBRARY"   // path of libonnxruntime.so
	EnvPoseModel       = "POSE_MODEL"    // lite, full or heavy
	EnvPasses          = "POSE_PASSES"   // passes a worker runs at once; default: PassesPerWorker
	EnvProcessors      = "GOMAXPROCS"    // the Go runtime's; a container limited to one core would be taken for two
	EnvPoseURL         = "POSE_URL"      // base URL of the workers' load balancer
	EnvCallbackKeys    = "CALLBACK_KEYS" // id of the secret with the HMAC keys of callbacks: {"current","previous"}
	EnvListen          = "POSE_LISTEN"   // address of a worker's HTTP server; default: WorkerPort on every interface
)

// Parameters is the SSM path under which settings live, for example
// /fastbowlinglab/model/findings and /fastbowlinglab/flags/pose_road.
const Parameters = "/fastbowlinglab"

// Function declares a Lambda function.
type Function struct {
	Name     string
	Package  Packaging
	Timeout  time.Duration
	MemoryMB int
	Env      []string      // environment variables it needs
	State    bool          // invoked by a state machine, as a published version
	Machines []string      // which state machines; none named: the analysis
	Stream   *Table        // source: this table's stream
	Every    time.Duration // source: a schedule
	Topic    string        // source: this SNS topic
	Ended    bool          // source: EventBridge, executions that failed, timed out or were aborted
	VPC      bool          // calls through the pose workers' load balancer, from inside the network
}

// ARNPlaceholder is the name by which a definition refers to the function:
// ${BeginArn} for begin.
func (f Function) ARNPlaceholder() string { return Placeholder(f.Name) }

// Placeholder gives the definition's substitution name of a function.
func Placeholder(fn string) string { return string(fn[0]-'a'+'A') + fn[1:] + "Arn" }

// Functions lists every Lambda function with its needs.
func Functions() []Function {
	an, cr, ef, pj, no := Analyses.Env, Credits.Env, Effects.Env, PoseJobs.Env, Notices.Env
	end := []string{an, cr, no, pj}
	ai := []string{an, ef, Usage.Env, Prices.Env, EnvBucket, EnvParameters}
	return append([]Function{
		{Name: FnAPI, Package: Zip, Timeout: 28 * time.Second, MemoryMB: 512,
			Env: []string{an, cr, ef, no, pj, Usage.Env, Prices.Env, EnvBucket, EnvStateMachineARN, EnvParameters, EnvIntake,
				Athletes.Env, Suppressions.Env, Erasures.Env, Tags.Env, EnvPaymentsSecret}},
		{Name: FnBegin, Package: Zip, Timeout: 10 * time.Second, MemoryMB: 256, State: true, Env: []string{an, EnvParameters}},
		{Name: FnWake, Package: Zip, Timeout: 20 * time.Second, MemoryMB: 256, State: true, Env: []string{an, ef, EnvCluster, EnvPoseService}},
		{Name: FnPrecheck, Package: Image, Timeout: 120 * time.Second, MemoryMB: 2048, State: true,
			Env: append(append([]string{}, ai...), EnvModels, EnvORT, EnvPoseModel)},
		{Name: FnQueueJob, Package: Zip, Timeout: 20 * time.Second, MemoryMB: 256, State: true, Env: []string{an, pj, PoseQueue.Env}},
		{Name: FnProbe, Package: Zip, Timeout: 10 * time.Second, MemoryMB: 256, State: true, VPC: true, Env: []string{EnvPoseURL}},
		{Name: FnPostJob, Package: Zip, Timeout: 20 * time.Second, MemoryMB: 256, State: true, VPC: true, Env: []string{an, pj, EnvPoseURL}},
		{Name: FnAwaitPose, Package: Zip, Timeout: 20 * time.Second, MemoryMB: 256, State: true, Env: []string{an, pj}},
		{Name: FnFindings, Package: Zip, Timeout: 330 * time.Second, MemoryMB: 512, State: true, Env: ai},
		{Name: FnCoaching, Package: Zip, Timeout: 330 * time.Second, MemoryMB: 512, State: true, Env: ai},
		{Name: FnRender, Package: Zip, Timeout: 120 * time.Second, MemoryMB: 1536, State: true, Env: []string{an, EnvBucket, EnvFonts}},
		{Name: FnDeliver, Package: Zip, Timeout: 20 * time.Second, MemoryMB: 256, State: true, Env: end},
		{Name: FnReject, Package: Zip, Timeout: 20 * time.Second, MemoryMB: 256, State: true, Env: end},
		{Name: FnSettle, Package: Zip, Timeout: 20 * time.Second, MemoryMB: 256, State: true, Ended: true, Env: end},
		{Name: FnNotify, Package: Zip, Timeout: 60 * time.Second, MemoryMB: 256, Stream: &Notices,
			Env: []string{an, no, EnvMailFrom, EnvAppURL, Athletes.Env, Suppressions.Env, EnvPushTopic}},
		{Name: FnFeedback, Package: Zip, Timeout: 20 * time.Second, MemoryMB: 256, Topic: MailEventsTopic, Env: []string{Athletes.Env, Suppressions.Env}},
		{Name: FnErase, Package: Zip, Timeout: 300 * time.Second, MemoryMB: 256, Stream: &Erasures, Every: ErasePeriod,
			Env: []string{an, cr, ef, pj, no, Athletes.Env, Suppressions.Env, Erasures.Env, Usage.Env, Tags.Env, Runs.Env, EnvBucket, EnvStateMachineARN}},
		{Name: FnCallback, Package: Zip, Timeout: 20 * time.Second, MemoryMB: 256, Env: []string{an, pj, ef, EnvCallbackKeys}},
		{Name: FnAudit, Package: Zip, Timeout: 600 * time.Second, MemoryMB: 512, Every: AuditPeriod,
			Env: []string{an, cr, no, ef, Usage.Env, Prices.Env, EnvBucket}},
		{Name: FnReconcile, Package: Zip, Timeout: 120 * time.Second, MemoryMB: 512, Every: ReconcilePeriod,
			Env: []string{an, cr, no, pj, ef, EnvStateMachineARN, EnvCluster, EnvPoseService, PoseQueue.Env, EnvMailFrom, EnvAppURL,
				Athletes.Env, Suppressions.Env, EnvPushTopic}},
	}, batchFunctions()...)
}

// WorkerEnv lists the environment variables that the pose worker must have. Where it
// is deployed EnvProcessors is set as well, to WorkerCores.
func WorkerEnv() []string {
	return []string{Analyses.Env, PoseJobs.Env, PoseQueue.Env, EnvBucket, EnvModels, EnvORT, EnvPoseModel, EnvAPIURL, EnvCallbackKeys}
}

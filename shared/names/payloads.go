package names

// Run is what every state of an analysis passes on: ids only.
type Run struct {
	AnalysisID string `json:"analysis_id"`
	Attempt    int    `json:"attempt"`
}

// BeginIn starts a run; Execution is the execution's name ("id-attempt").
type BeginIn struct {
	Run
	Execution string `json:"execution"`
}

// BeginOut tells whether this execution is the one to go on, and on which road.
type BeginOut struct {
	Proceed  bool   `json:"proceed"`
	Status   string `json:"status"`
	PoseRoad string `json:"pose_road"` // flags.RoadQueue or flags.RoadHTTP, as first read
}

// WakeOut carries the fleet's sequence number after the wake.
type WakeOut struct {
	Seq int64 `json:"seq"`
}

// Verdicts of the precheck and of the pose pass.
const (
	VerdictPass   = "pass"
	VerdictReject = "reject"
)

// VerdictOut is the answer of precheck, and the output of the pose pass's token.
// No field of an answer is omitted when empty: a definition selects it by path,
// and a path that is missing ends the execution.
type VerdictOut struct {
	Verdict   string `json:"verdict"`
	Reason    string `json:"reason"` // a reason code of shared/reason, "" unless rejected
	ResultKey string `json:"result_key"`
}

// TokenIn is the payload of QueueJob and AwaitPose. Entered and Retry say which
// visit of the state, and which try of that visit, the token belongs to
// ($$.State.EnteredTime and RetryCount): a slow call of an earlier one must not
// undo what a later one has registered. A definition of an earlier release
// sends neither.
type TokenIn struct {
	Run
	TaskToken string `json:"task_token"`
	Entered   string `json:"entered,omitempty"`
	Retry     int    `json:"retry,omitempty"`
}

// RoundIn is the payload of probe; Round counts the rounds before
// this one, so that a long wait is asked about less and less often.
type RoundIn struct {
	Run
	Round int `json:"round"`
}

// PostIn is the payload of postjob; Entered and Retry are TokenIn's.
type PostIn struct {
	RoundIn
	Entered string `json:"entered,omitempty"`
	Retry   int    `json:"retry,omitempty"`
}

// States of a dispatch over HTTP. Ready: the fleet answers, and a job may be
// posted. Owned: a worker has claimed the job, or its end is known already.
// Waiting: nobody answers, all are busy, or another owns the job until Until; a
// result that leads to a Wait, not an error that eats retries.
const (
	DispatchReady   = "ready"
	DispatchOwned   = "owned"
	DispatchWaiting = "waiting"
)

// DispatchOut is the answer of probe and postjob.
type DispatchOut struct {
	State string `json:"state"`
	Until string `json:"until"` // RFC 3339, "" unless waiting
}

// PoseJobIn is the body of a job that is posted to a worker: an id that only a
// conditional claim can redeem.
type PoseJobIn struct {
	AnalysisID string `json:"analysis_id"`
}

// PoseJobOut is a worker's answer to a posted job. Until, RFC 3339, is when the
// lease of whoever owns it ends, "" where that is not the matter.
type PoseJobOut struct {
	State string `json:"state"` // claimed, held, finished, ended, unknown, full, stopping or error
	Fence int64  `json:"fence,omitempty"`
	Until string `json:"until,omitempty"`
}

// JobStopping is the state with which a worker that leaves answers: another may take the
// job at once.
const JobStopping = "stopping"

// PoseCallback is the body of the signed message in which a worker tells the
// result of a job that came to it over HTTP. It counts only under its fence.
type PoseCallback struct {
	Run
	Fence  int64      `json:"fence"`
	Result VerdictOut `json:"result"`
}

// ClaimedOut is the output of QueueJob's token: a worker owns the job.
type ClaimedOut struct {
	Claimed bool  `json:"claimed"`
	Fence   int64 `json:"fence"`
}

// TextIn is the payload of findings and coaching.
type TextIn struct {
	Run
	ResultKey   string `json:"result_key"`
	FindingsKey string `json:"findings_key,omitempty"`
}

// States of a guarded effect as seen by a state machine.
const (
	EffectDone       = "done"
	EffectInProgress = "in_progress"
)

// TextOut is the answer of findings and coaching. In progress elsewhere is a
// result that leads to a Wait until Until, not an error that eats retries.
type TextOut struct {
	State string `json:"state"`
	Key   string `json:"key"`
	Until string `json:"until"` // RFC 3339, "" unless in progress
}

// RenderIn is the payload of render. A revision of a delivered report has a name
// and a number, from 1; the report that an analysis delivers has neither.
type RenderIn struct {
	Run
	ResultKey   string `json:"result_key"`
	FindingsKey string `json:"findings_key"`
	CoachingKey string `json:"coaching_key"`
	Revision    string `json:"revision,omitempty"`
	Number      int    `json:"number,omitempty"`
	Changed     string `json:"changed,omitempty"` // what the revision changes, for the reader
}

// RenderOut names the rendered report.
type RenderOut struct {
	PDFKey  string `json:"pdf_key"`
	JSONKey string `json:"json_key"`
}

// DeliverIn is the payload of deliver. Execution, here and below, is the name of
// the asking execution, "" from a definition of an earlier release: a repeat by
// the same one is told that its own end stands.
type DeliverIn struct {
	Run
	Execution string `json:"execution,omitempty"`
	PDFKey    string `json:"pdf_key"`
	JSONKey   string `json:"json_key"`
	ResultKey string `json:"result_key"`
}

// RejectIn is the payload of reject.
type RejectIn struct {
	Run
	Execution string `json:"execution,omitempty"`
	Reason    string `json:"reason"`
}

// SettleIn is the payload of settle as the state machine sends it. The same
// function also takes EventBridge's "Step Functions Execution Status Change".
type SettleIn struct {
	Run
	Execution string `json:"execution,omitempty"`
	Error     string `json:"error"`
	Cause     string `json:"cause"`
}

// EndOut is the answer of deliver, reject and settle: the end that stands, and
// whether this call wrote it.
type EndOut struct {
	Status string `json:"status"`
	Reason string `json:"reason,omitempty"`
	Won    bool   `json:"won"`
}

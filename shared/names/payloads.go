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

// RenderIn is the payload of render.
type RenderIn struct {
	Run
	ResultKey   string `json:"result_key"`
	FindingsKey string `json:"findings_key"`
	CoachingKey string `json:"coaching_key"`
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

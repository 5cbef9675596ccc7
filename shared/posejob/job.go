package posejob

import (
	"fmt"
	"log/slog"
	"time"

	"fastbowlinglab/shared/fault"
	"fastbowlinglab/shared/names"
)

// State is where a job is in its life: waiting -> claimed -> done | failed, and
// claimed -> waiting when its owner gives it back.
type State string

// The states. The last two are final for the attempt.
const (
	Waiting State = "waiting"
	Claimed State = "claimed"
	Done    State = "done"
	Failed  State = "failed"
)

// Ended reports whether nothing is left to do for this attempt.
func (s State) Ended() bool { return s == Done || s == Failed }

// Progress is how far a pass is. MovedAt is when it last moved, by its owner's
// clock; a pass whose MovedAt stands still is stuck, however alive it looks.
type Progress struct {
	Fraction float64   `dynamodbav:"fraction"` // 0 to 1, of all clips
	Stage    string    `dynamodbav:"stage"`    // for people: "clip 1 of 2: pose"
	MovedAt  time.Time `dynamodbav:"moved_at"`
}

// Checkpoint is a saved chunk. The object under Key counts only if its bytes
// have this SHA-256.
type Checkpoint struct {
	Key    string `dynamodbav:"k"`
	SHA256 []byte `dynamodbav:"h"`
	Frames int    `dynamodbav:"n"`
	Last   bool   `dynamodbav:"l,omitempty"` // no chunk of this clip follows
}

// CheckpointID names chunk n of a clip within a row's checkpoints.
func CheckpointID(clip, chunk int) string { return fmt.Sprintf("%d/%d", clip, chunk) }

// Job is the row.
type Job struct {
	AnalysisID string `dynamodbav:"analysis_id"`
	Attempt    int    `dynamodbav:"attempt"`
	State      State  `dynamodbav:"state"`
	Fence      int64  `dynamodbav:"fence"` // raised by every claim, over all attempts

	Owner   string    `dynamodbav:"owner,omitempty"`   // while claimed
	Until   time.Time `dynamodbav:"until,omitempty"`   // the owner's lease, by its clock
	Message string    `dynamodbav:"message,omitempty"` // id of the queue message that the owner holds

	Token1 string `dynamodbav:"token1,omitempty"` // waits for a claim
	Token2 string `dynamodbav:"token2,omitempty"` // waits for the end
	Visit  string `dynamodbav:"visit,omitempty"`  // of the run's state whose token was registered last; they sort by time

	Engine      string                `dynamodbav:"engine,omitempty"` // what made the checkpoints
	Model       string                `dynamodbav:"model,omitempty"`
	Checkpoints map[string]Checkpoint `dynamodbav:"checkpoints"`
	Progress    Progress              `dynamodbav:"progress"`
	Begun       string                `dynamodbav:"begun,omitempty"` // CheckpointID of the chunk being worked on

	Deaths  int `dynamodbav:"deaths"`  // takeovers and failed tries since the last new checkpoint
	Returns int `dynamodbav:"returns"` // returns to dispatch since the last new checkpoint
	Redone  int `dynamodbav:"redone"`  // chunks begun by one owner and done again by a later one

	Result  *names.VerdictOut `dynamodbav:"result,omitempty"`
	Failure *Failure          `dynamodbav:"failure,omitempty"`

	CreatedAt time.Time `dynamodbav:"created_at"`
	ClaimedAt time.Time `dynamodbav:"claimed_at,omitempty"` // first claim of this attempt
	EndedAt   time.Time `dynamodbav:"ended_at,omitempty"`
}

// Failure says why a job failed for good. Error is the name that its token gets.
type Failure struct {
	Error  fault.Name `dynamodbav:"error"`
	Detail string     `dynamodbav:"detail"`
}

// Live reports whether the job is owned under a lease that may still hold on
// any clock within skew of ours.
func (j Job) Live(now time.Time, skew time.Duration) bool {
	return j.State == Claimed && !now.After(j.Until.Add(skew))
}

// Lease is what an owner shows to write to its job.
func (j Job) Lease() Lease {
	return Lease{AnalysisID: j.AnalysisID, Attempt: j.Attempt, Fence: j.Fence}
}

// Chunks gives the checkpoints of a clip in order, up to the first gap.
func (j Job) Chunks(clip int) []Checkpoint {
	var out []Checkpoint
	for n := 0; ; n++ {
		c, ok := j.Checkpoints[CheckpointID(clip, n)]
		if !ok {
			return out
		}
		out = append(out, c)
	}
}

// underWork reports whether the last owner had begun a chunk that it never
// saved. A renewal may have written an older mark over a newer one, so chunks
// saved after the marked one are passed over.
func (j Job) underWork() bool {
	var clip, chunk int
	if _, err := fmt.Sscanf(j.Begun, "%d/%d", &clip, &chunk); err != nil {
		return false
	}
	for ; ; chunk++ {
		c, saved := j.Checkpoints[CheckpointID(clip, chunk)]
		if !saved || c.Last {
			return !saved
		}
	}
}

// LogValue keeps the task tokens out of logs.
func (j Job) LogValue() slog.Value {
	return slog.GroupValue(
		slog.String("analysis_id", j.AnalysisID), slog.Int("attempt", j.Attempt),
		slog.String("state", string(j.State)), slog.Int64("fence", j.Fence),
		slog.String("owner", j.Owner), slog.Int("checkpoints", len(j.Checkpoints)),
		slog.Int("deaths", j.Deaths), slog.Int("returns", j.Returns))
}

// Lease names one claim of a job.
type Lease struct {
	AnalysisID string
	Attempt    int
	Fence      int64
}

// MaxCheckpoints bounds the checkpoints of one job, so that its row stays within
// what a table holds.
const MaxCheckpoints = 1500

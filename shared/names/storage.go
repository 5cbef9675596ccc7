package names

import "fmt"

// Bucket is the one versioned bucket: clips, work in progress, reports.
const (
	Bucket    = Prefix + "media"
	EnvBucket = "BUCKET"
)

// Top-level prefixes of the bucket; lifecycle rules go by them.
const (
	PrefixClips   = "clips/"
	PrefixWork    = "work/"
	PrefixReports = "reports/"
	PrefixAudits  = "audits/" // what the audit found, for operators
)

// ClipKey is where clip n (from 0) of an analysis is uploaded. The athlete's
// own file name never becomes part of a key.
func ClipKey(analysisID string, n int) string {
	return fmt.Sprintf("%s%s/%d", PrefixClips, analysisID, n)
}

// WorkPrefix is the folder of one pose pass. The fence is in it, so that an
// owner who lost its lease writes where nobody looks any more.
func WorkPrefix(analysisID string, attempt int, fence int64) string {
	return fmt.Sprintf("%s%s/%d/%d/", PrefixWork, analysisID, attempt, fence)
}

// ChunkKey is where a checkpoint of keypoints is stored.
func ChunkKey(analysisID string, attempt int, fence int64, clip, chunk int) string {
	return fmt.Sprintf("%schunk-%d-%05d.json.gz", WorkPrefix(analysisID, attempt, fence), clip, chunk)
}

// PoseResultKey is the JSON result of a pose pass (motion.Result).
func PoseResultKey(analysisID string, attempt int, fence int64) string {
	return WorkPrefix(analysisID, attempt, fence) + "result.json"
}

// FrameKey is the JPEG of a key frame, as displayed.
func FrameKey(analysisID string, attempt int, fence int64, clip int, phase string) string {
	return fmt.Sprintf("%sframe-%d-%s.jpg", WorkPrefix(analysisID, attempt, fence), clip, phase)
}

// TextKey is where the answer of an AI task is kept (task: precheck, findings, coaching).
func TextKey(analysisID string, attempt int, task string) string {
	return fmt.Sprintf("%s%s/%d/%s.json", PrefixWork, analysisID, attempt, task)
}

// ReportPDFKey and ReportJSONKey are where a rendered report is stored.
func ReportPDFKey(analysisID string, attempt int) string {
	return fmt.Sprintf("%s%s/%d/report.pdf", PrefixReports, analysisID, attempt)
}

// ReportJSONKey is the machine-readable report beside the PDF.
func ReportJSONKey(analysisID string, attempt int) string {
	return fmt.Sprintf("%s%s/%d/report.json", PrefixReports, analysisID, attempt)
}

// Queue declares an SQS queue with its dead-letter queue.
type Queue struct {
	Name            string
	Env             string // environment variable that carries the queue URL
	DeadLetter      string // name of the dead-letter queue
	MaxReceiveCount int
}

// PoseQueue carries claim checks: the body of a message is an analysis id and
// nothing else. MaxReceiveCount is a backstop; the row judges poison jobs.
var PoseQueue = Queue{
	Name: Prefix + "pose-jobs", Env: "POSE_QUEUE_URL",
	DeadLetter: Prefix + "pose-jobs-dead", MaxReceiveCount: 50,
}

// Queues lists every queue.
func Queues() []Queue { return []Queue{PoseQueue} }

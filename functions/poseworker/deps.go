package poseworker

import (
	"context"
	"log/slog"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/media"
	"fastbowlinglab/shared/motion"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/object"
	"fastbowlinglab/shared/pose"
	"fastbowlinglab/shared/posejob"
	"fastbowlinglab/shared/retry"
	"fastbowlinglab/shared/tasktoken"
)

// Vision is all that a pass does with pictures. Every src is a URL. A clip that
// cannot be analysed is a *media.Refusal; any other error may be tried again.
type Vision interface {
	Engine() string // inference engine and its version
	Model() string
	// Probe says what a clip is. The Info is released once the clip is measured.
	Probe(ctx context.Context, src string) (media.Info, error)
	// Track calls emit for every chunk after the one given, in order, and gives
	// up when emit fails or ctx ends.
	Track(ctx context.Context, src string, info media.Info, after *pose.Chunk, emit func(pose.Chunk) error) error
	// Stills calls each with a JPEG of the frame at the i-th of so many seconds, or why
	// there is none.
	Stills(ctx context.Context, src string, info media.Info, at []float64, maxWidth int, each func(i int, jpeg []byte, err error))
	Analyse(clip int, track pose.Track, info media.Info) motion.Clip
}

// Queue is what the worker needs of SQS.
type Queue interface {
	ReceiveMessage(context.Context, *sqs.ReceiveMessageInput, ...func(*sqs.Options)) (*sqs.ReceiveMessageOutput, error)
	DeleteMessage(context.Context, *sqs.DeleteMessageInput, ...func(*sqs.Options)) (*sqs.DeleteMessageOutput, error)
	ChangeMessageVisibility(context.Context, *sqs.ChangeMessageVisibilityInput, ...func(*sqs.Options)) (*sqs.ChangeMessageVisibilityOutput, error)
}

// Objects is what the worker needs of S3.
type Objects interface {
	object.Getter
	PutObject(context.Context, *s3.PutObjectInput, ...func(*s3.Options)) (*s3.PutObjectOutput, error)
}

// Signer makes a URL that reads one version of an object, and says until when it
// is good: for the lifetime wanted, or less if the signer's credentials end.
type Signer interface {
	Sign(ctx context.Context, key, version string, lifetime time.Duration) (url string, until time.Time, err error)
}

// Protector tells the container service that work is under way, so that it is
// not chosen to be stopped by a scale-in.
type Protector interface {
	Protect(ctx context.Context, working bool) error
}

// Lifeline is what the keeper uses: clients of its own, whose connections the
// pass cannot exhaust.
type Lifeline struct {
	Jobs   *posejob.Store
	Queue  Queue
	Tokens tasktoken.Answerer
}

// Deps is what the worker works with.
type Deps struct {
	Jobs     *posejob.Store
	Rows     analysis.Getter
	Queue    Queue
	QueueURL string
	Objects  Objects
	Bucket   string
	Sign     Signer
	Tokens   tasktoken.Answerer
	Keeper   Lifeline
	Vision   Vision
	Callback Callback  // for jobs that came over HTTP; nil to complete them directly
	Protect  Protector // nil where there is none
	Passes   int       // passes at once, over all roads
	Timers   Timers
	Retry    retry.Policy
	Log      *slog.Logger
	Now      func() time.Time // as in posejob.Store: for comparing with rows

	// RenewOnPass is a fault switch for tests: the lease is renewed by the pass
	// itself between two chunks, and not by a keeper of its own.
	RenewOnPass bool
}

// Timers of the worker; a zero field takes its value from package names.
type Timers struct {
	Keeper     time.Duration // between two renewals
	Show       time.Duration // between two writes of progress that moved
	Call       time.Duration // deadline of each of the keeper's calls
	NoProgress time.Duration // without a finished chunk or a decoded picture the pass is given up
	Again      time.Duration // before what a service that was away did not do is tried again; it grows
	Away       time.Duration // for which storage may be away, without an answer, before that counts as a failed try
	Visibility time.Duration // of the message, from each renewal
	Poll       time.Duration // one long poll
	Leave      time.Duration // for a cancelled pass to end
	Finish     time.Duration // for the writes that end a job
}

func (t Timers) withDefaults() Timers {
	set := func(d *time.Duration, v time.Duration) {
		if *d == 0 {
			*d = v
		}
	}
	set(&t.Keeper, names.KeeperPeriod)
	set(&t.Show, names.ProgressPeriod)
	set(&t.Call, t.Keeper/4)
	set(&t.NoProgress, names.PoseNoProgress)
	set(&t.Again, names.PoseAgain)
	set(&t.Away, names.PoseAway)
	set(&t.Visibility, names.QueueVisibility)
	set(&t.Poll, 20*time.Second)
	set(&t.Leave, 5*time.Second)
	set(&t.Finish, 15*time.Second)
	return t
}

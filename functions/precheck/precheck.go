// Package precheck looks at an analysis' clips before the pose pass is paid
// for: it refuses files that cannot be analysed, and asks the precheck's provider
// whether a few frames of the rest can be of a bowling action.
package precheck

import (
	"context"
	"errors"
	"image"
	"log/slog"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"fastbowlinglab/shared/aitask"
	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/awserr"
	"fastbowlinglab/shared/fault"
	"fastbowlinglab/shared/handler"
	"fastbowlinglab/shared/media"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/pose"
)

// Presigner signs URLs for reading: s3.PresignClient.
type Presigner interface {
	PresignGetObject(context.Context, *s3.GetObjectInput, ...func(*s3.PresignOptions)) (*v4.PresignedHTTPRequest, error)
}

// Writer stores objects: s3.Client.
type Writer interface {
	PutObject(context.Context, *s3.PutObjectInput, ...func(*s3.Options)) (*s3.PutObjectOutput, error)
}

// Tasks asks for the verdict, once for an analysis: *aitask.Runner.
type Tasks interface {
	Precheck(context.Context, names.Run, aitask.Input) (aitask.Verdict, error)
}

// Detect finds the people in a picture with at least a score:
// (*engine.Engine).Detect.
type Detect func(img image.Image, least float64) ([]pose.Person, error)

// Deps is what the function works with.
type Deps struct {
	DB       analysis.Getter
	Analyses string // table
	Sign     Presigner
	Objects  Writer
	Bucket   string
	Tasks    Tasks
	Detect   Detect
	Limits   media.Limits
	Together media.Together // what the pose pass takes of all clips
}

// New makes the function. Called again, it uses the recorded verdict and writes
// the record under names.TextKey anew, with the same content.
func New(d Deps) lambda.Handler { return handler.New(names.FnPrecheck, d.run) }

// urlLifetime outlives the function.
const urlLifetime = 10 * time.Minute

func (d Deps) run(ctx context.Context, in names.Run) (names.VerdictOut, error) {
	if in.AnalysisID == "" || in.Attempt < 1 {
		return names.VerdictOut{}, fault.New(fault.Permanent, "precheck: analysis_id and attempt are needed")
	}
	row, err := d.row(ctx, in)
	if err != nil {
		return names.VerdictOut{}, err
	}
	rec := Record{Version: 1}
	var pics []aitask.Picture
	all := d.Together
	for i, n := range share(len(row.Clips)) {
		c, frames, err := d.look(ctx, row.Clips[i], &all, n)
		if err != nil {
			return names.VerdictOut{}, fault.Wrap(fault.NameOf(err), err, "precheck: clip %d", i)
		}
		c.Index = i
		for _, f := range frames {
			f.Clip = i
			pics = append(pics, f)
		}
		slog.InfoContext(ctx, "clip looked at", "analysis_id", in.AnalysisID, "attempt", in.Attempt, "clip", i,
			"refused", string(c.Refused), "detail", c.Detail, "frames", len(c.Looks), "people", c.people())
		rec.Clips = append(rec.Clips, c)
	}
	if code := unusable(rec.Clips); code != "" {
		rec.Verdict, rec.Reason = names.VerdictReject, code
	} else if err := d.judge(ctx, in, &rec, pics); err != nil {
		return names.VerdictOut{}, err
	}
	slog.InfoContext(ctx, "verdict", "analysis_id", in.AnalysisID, "attempt", in.Attempt, "verdict", rec.Verdict,
		"reason", string(rec.Reason), "provider", rec.Provider, "confidence", rec.Confidence, "no_answer", rec.NoAnswer)
	if err := d.store(ctx, in, rec); err != nil {
		return names.VerdictOut{}, err
	}
	return names.VerdictOut{Verdict: rec.Verdict, Reason: string(rec.Reason)}, nil
}

// row reads the analysis, which must be under way at this attempt.
func (d Deps) row(ctx context.Context, in names.Run) (analysis.Row, error) {
	row, err := analysis.Get(ctx, d.DB, d.Analyses, in.AnalysisID)
	if errors.Is(err, analysis.ErrNotFound) {
		return row, fault.Wrap(fault.Permanent, err, "precheck")
	}
	if err != nil {
		return row, awserr.Fault(err, "precheck")
	}
	if row.Status != analysis.Analysing || row.Attempt != in.Attempt {
		return row, fault.New(fault.Conceded, "precheck: the analysis is %s at attempt %d, not analysing at %d",
			row.Status, row.Attempt, in.Attempt)
	}
	if len(row.Clips) == 0 || len(row.Clips) > names.MaxClips {
		return row, fault.New(fault.Permanent, "precheck: %d clips", len(row.Clips))
	}
	return row, nil
}

// share divides the frames that may be looked at among n clips.
func share(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = min(names.PrecheckPerClip, (names.PrecheckFrames+n-1-i)/n)
	}
	return out
}

// look probes a clip and looks at n frames of it, unless the pose pass would refuse it
// for the work on those before it. What is wrong with the file is a result; what is
// wrong with us or with storage is an error.
func (d Deps) look(ctx context.Context, clip analysis.Clip, all *media.Together, n int) (Clip, []aitask.Picture, error) {
	if clip.VersionID == "" {
		return Clip{}, nil, fault.New(fault.Permanent, "no version of the clip was pinned")
	}
	req, err := d.Sign.PresignGetObject(ctx, &s3.GetObjectInput{Bucket: &d.Bucket, Key: &clip.Key, VersionId: &clip.VersionID},
		s3.WithPresignExpires(urlLifetime))
	if err != nil {
		return Clip{}, nil, fault.Wrap(fault.Transient, err, "sign a URL")
	}
	info, err := media.Probe(ctx, req.URL, d.Limits)
	if err != nil {
		return refused(err)
	}
	if err := all.Fits(info); err != nil {
		return refused(err)
	}
	frames, err := media.Sample(ctx, req.URL, info, n, names.PrecheckWidth)
	if err != nil {
		return refused(err)
	}
	all.Add(info, 0)
	out := clipOf(info)
	pics := make([]aitask.Picture, 0, len(frames))
	for _, f := range frames {
		found, err := d.Detect(f.Image(), doubtful)
		if err != nil {
			return Clip{}, nil, fault.Wrap(fault.Permanent, err, "look for people")
		}
		out.Looks = append(out.Looks, lookOf(f, found))
		b, err := f.JPEG(ctx)
		if err != nil {
			return Clip{}, nil, err
		}
		pics = append(pics, aitask.Picture{Time: f.Time, JPEG: b})
	}
	return out, pics, nil
}

func refused(err error) (Clip, []aitask.Picture, error) {
	var r *media.Refusal
	if !errors.As(err, &r) {
		return Clip{}, nil, err
	}
	return Clip{Refused: r.Code, Detail: r.Detail}, nil, nil
}

func clipOf(i media.Info) Clip {
	return Clip{Container: i.Container, Codec: i.Codec, Width: i.Width, Height: i.Height, Mirrored: i.Mirrored,
		Duration: i.Duration, Frames: i.Frames, FrameRate: i.FrameRate}
}

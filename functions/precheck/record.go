package precheck

import (
	"bytes"
	"context"
	"encoding/json"
	"math"

	"github.com/aws/aws-sdk-go-v2/service/s3"

	"fastbowlinglab/shared/aitask"
	"fastbowlinglab/shared/awserr"
	"fastbowlinglab/shared/fault"
	"fastbowlinglab/shared/media"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/pose"
	"fastbowlinglab/shared/reason"
	"fastbowlinglab/shared/retry"
)

// Record is what the precheck saw and said: the object at names.TextKey.
type Record struct {
	Version    int         `json:"version"`
	Provider   string      `json:"provider"` // of the verdict; "" if no clip was usable, or nobody answered
	Model      string      `json:"model,omitempty"`
	Verdict    string      `json:"verdict"`
	Reason     reason.Code `json:"reason"`         // "" unless rejected
	Said       string      `json:"said,omitempty"` // the provider's own verdict and sentence
	Confidence float64     `json:"confidence"`     // of the provider, in [0,1]
	NoAnswer   string      `json:"no_answer,omitempty"`
	Clips      []Clip      `json:"clips"`
}

// Clip is what was found of one clip. Refused is set, and nothing below Detail,
// when it cannot be analysed.
type Clip struct {
	Index     int         `json:"index"`
	Refused   reason.Code `json:"refused,omitempty"`
	Detail    string      `json:"detail,omitempty"`
	Container string      `json:"container,omitempty"`
	Codec     string      `json:"codec,omitempty"`
	Width     int         `json:"width,omitempty"` // displayed, pixels
	Height    int         `json:"height,omitempty"`
	Mirrored  bool        `json:"mirrored,omitempty"`
	Duration  float64     `json:"duration,omitempty"` // seconds
	Frames    int         `json:"frames,omitempty"`
	FrameRate float64     `json:"frame_rate,omitempty"`
	Looks     []Look      `json:"looks,omitempty"`
}

// Look is one frame that was looked at. Score and Size belong to the likeliest
// person in it; Size is the height of the body's circle as a share of the
// picture's height.
type Look struct {
	Time  float64 `json:"time"`
	Score float64 `json:"score"`
	Size  float64 `json:"size"`
}

// What counts as a person, and as an empty clip.
const (
	doubtful     = 0.25 // the detector's score of what may be a person
	leastSize    = 0.08 // of a person, as a share of the picture's height
	mostSize     = 3.0
	longestBlind = 4.0 // seconds between two frames that were looked at
)

func lookOf(f media.Frame, found []pose.Person) Look {
	l := Look{Time: f.Time}
	for _, p := range found {
		size := 2 * p.Radius / float64(f.Height)
		if size >= leastSize && size <= mostSize && p.Score > l.Score {
			l.Score, l.Size = round(p.Score), round(size)
		}
	}
	return l
}

func round(v float64) float64 { return math.Round(v*1000) / 1000 }

// people counts the frames with a person in them, doubtful ones included.
func (c Clip) people() int {
	n := 0
	for _, l := range c.Looks {
		if l.Score >= doubtful {
			n++
		}
	}
	return n
}

// deserted reports whether there is clearly nobody in a clip.
func (c Clip) deserted() bool {
	return c.people() == 0 && len(c.Looks) > 0 && c.Duration/float64(len(c.Looks)) <= longestBlind
}

// unusable is the first clip's refusal where none can be analysed, "" otherwise:
// one bad clip of several does not reject the rest.
func unusable(clips []Clip) (code reason.Code) {
	for _, c := range clips {
		if c.Refused == "" {
			return ""
		}
		if code == "" {
			code = c.Refused
		}
	}
	return code
}

// store writes the record.
func (d Deps) store(ctx context.Context, in names.Run, rec Record) error {
	body, err := json.Marshal(rec)
	if err != nil {
		return fault.Wrap(fault.Permanent, err, "precheck: encode the record")
	}
	key, kind := names.TextKey(in.AnalysisID, in.Attempt, string(aitask.Precheck)), "application/json"
	err = retry.Policy{}.Do(ctx, func() error {
		_, err := d.Objects.PutObject(ctx, &s3.PutObjectInput{Bucket: &d.Bucket, Key: &key, ContentType: &kind, Body: bytes.NewReader(body)})
		return err
	})
	if err != nil {
		return awserr.Fault(err, "precheck: store the record")
	}
	return nil
}

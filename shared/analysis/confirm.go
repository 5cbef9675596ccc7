package analysis

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	ddb "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"fastbowlinglab/shared/awserr"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/retry"
	"fastbowlinglab/shared/stamp"
)

// Objects is what pinning clips needs of S3.
type Objects interface {
	GetObject(context.Context, *s3.GetObjectInput, ...func(*s3.Options)) (*s3.GetObjectOutput, error)
}

// MissingError names the clips that were not uploaded, counted from 0.
type MissingError struct{ Clips []int }

func (e *MissingError) Error() string { return fmt.Sprintf("clips not uploaded: %v", e.Clips) }

// sniffBytes is how much of an object is read to tell its type.
const sniffBytes = 512

// Pin finds the version of each clip that is analysed from now on. One ranged
// read an object gives version, tag, size and the first bytes. An empty or
// foreign file is pinned too: the precheck judges it. Missing objects are a
// *MissingError.
func Pin(ctx context.Context, objects Objects, bucket string, clips []Clip) ([]Clip, error) {
	pinned := make([]Clip, len(clips))
	var missing []int
	for i, c := range clips {
		p, err := pin(ctx, objects, bucket, c)
		switch {
		case awserr.KindOf(err) == awserr.NotFound:
			missing = append(missing, i)
		case err != nil:
			return nil, fmt.Errorf("look at clip %d (%s): %w", i, c.Key, err)
		}
		pinned[i] = p
	}
	if missing != nil {
		return nil, &MissingError{missing}
	}
	return pinned, nil
}

func pin(ctx context.Context, objects Objects, bucket string, c Clip) (Clip, error) {
	rng := fmt.Sprintf("bytes=0-%d", sniffBytes-1)
	in := &s3.GetObjectInput{Bucket: &bucket, Key: &c.Key, Range: &rng}
	var head []byte
	err := retry.Policy{}.Do(ctx, func() error {
		out, err := objects.GetObject(ctx, in)
		if awserr.Is(err, "InvalidRange") { // an empty object has no first byte
			in.Range = nil
			out, err = objects.GetObject(ctx, in)
		}
		if err != nil {
			return err
		}
		defer out.Body.Close()
		if head, err = io.ReadAll(io.LimitReader(out.Body, sniffBytes)); err != nil {
			return err
		}
		c.VersionID, c.ETag = deref(out.VersionId), deref(out.ETag)
		c.SizeBytes, err = objectSize(out)
		return err
	})
	if err != nil {
		return c, err
	}
	if c.VersionID == "" || c.VersionID == "null" {
		return c, errors.New("the object has no version id: the bucket must be versioned")
	}
	c.Sniffed = http.DetectContentType(head)
	return c, nil
}

// objectSize reads the whole object's size from a ranged or a whole answer.
func objectSize(out *s3.GetObjectOutput) (int64, error) {
	cr := deref(out.ContentRange)
	if cr == "" {
		if out.ContentLength == nil {
			return 0, errors.New("the answer tells no length")
		}
		return *out.ContentLength, nil
	}
	var n int64
	if _, total, ok := strings.Cut(cr, "/"); !ok {
		return 0, fmt.Errorf("content range %q", cr)
	} else if _, err := fmt.Sscan(total, &n); err != nil {
		return 0, fmt.Errorf("content range %q: %w", cr, err)
	}
	return n, nil
}

// Queue moves a reserved analysis to queued with its clips pinned. If it was
// queued before, the row is returned as it stands, with the first pins: that is
// how a lost answer is repaired. ErrEnded, with the row, if it ended before it
// was ever queued, or is still reserved past its deadline: nothing but its expiry
// is left for it.
func (s Store) Queue(ctx context.Context, id string, pinned []Clip) (Row, error) {
	now := s.now().UTC().Truncate(time.Millisecond)
	list, err := attributevalue.Marshal(pinned)
	if err != nil {
		return Row{}, fmt.Errorf("encode the clips of %s: %w", id, err)
	}
	r, err := s.change(ctx, id,
		"SET #s = :queued, queued_at = :now, deadline = :deadline, clips = :clips",
		"#s = :reserved AND deadline >= :now",
		map[string]string{"#s": "status"},
		map[string]ddb.AttributeValue{
			":queued": text(string(Queued)), ":reserved": text(string(Reserved)), ":clips": list,
			":now": stamp.Value(now), ":deadline": stamp.Value(now.Add(names.QueuedDeadline)),
		})
	if errors.Is(err, ErrMoved) {
		if r.QueuedAt.IsZero() {
			return r, fmt.Errorf("queue analysis %s: %w as %s", id, ErrEnded, r.Status)
		}
		return r, nil
	}
	if err != nil {
		return Row{}, fmt.Errorf("queue analysis %s: %w", id, err)
	}
	return r, nil
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

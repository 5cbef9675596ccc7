package object_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"

	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/smithy-go"

	"fastbowlinglab/shared/awserr"
	"fastbowlinglab/shared/fault"
	"fastbowlinglab/shared/object"
	"fastbowlinglab/shared/retry"
)

// bucket answers one request after the other; the last answer is repeated.
type bucket struct {
	answers []answer
	asked   []string
	closed  int
}

type answer struct {
	body io.Reader
	err  error
}

func (b *bucket) GetObject(_ context.Context, in *s3.GetObjectInput, _ ...func(*s3.Options)) (*s3.GetObjectOutput, error) {
	a := b.answers[min(len(b.asked), len(b.answers)-1)]
	b.asked = append(b.asked, *in.Bucket+"/"+*in.Key)
	if a.err != nil {
		return nil, &smithy.OperationError{ServiceID: "S3", OperationName: "GetObject", Err: a.err}
	}
	return &s3.GetObjectOutput{Body: body{a.body, b}}, nil
}

type body struct {
	io.Reader
	of *bucket
}

func (b body) Close() error { b.of.closed++; return nil }

func whole(s string) answer { return answer{body: strings.NewReader(s)} }

// cut is a body that breaks off.
func cut(s string) answer {
	return answer{body: io.MultiReader(strings.NewReader(s), iotest.ErrReader(errors.New("connection reset")))}
}

func refused(code string) answer { return answer{err: &smithy.GenericAPIError{Code: code}} }

func TestRead(t *testing.T) {
	for _, c := range []struct {
		name    string
		answers []answer
		want    string
		is      error
		fault   fault.Name // as awserr.Fault names it
		asked   int
	}{
		{"as large as may be", []answer{whole("12345")}, "12345", nil, "", 1},
		{"empty", []answer{whole("")}, "", nil, "", 1},
		{"a byte more", []answer{whole("123456")}, "", object.ErrTooLarge, fault.Permanent, 1},
		{"missing", []answer{{err: &types.NoSuchKey{}}}, "", object.ErrNotFound, fault.Permanent, 1},
		{"throttled, then there", []answer{refused("SlowDown"), whole("123")}, "123", nil, "", 2},
		{"cut, then whole", []answer{cut("12"), whole("12345")}, "12345", nil, "", 2},
		{"cut after more than may be", []answer{cut("123456")}, "", object.ErrTooLarge, fault.Permanent, 1},
		{"cut every time", []answer{cut("12"), cut("12"), cut("12")}, "", nil, fault.Transient, 3},
		{"throttled every time", []answer{refused("SlowDown")}, "", nil, fault.Transient, 3},
		{"not allowed", []answer{refused("AccessDenied")}, "", nil, fault.Permanent, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := &bucket{answers: c.answers}
				got, err := object.Read(t.Context(), b, retry.Policy{Tries: 3}, "bucket", "key", 5)
				if string(got) != c.want || c.is != nil && !errors.Is(err, c.is) || (err != nil) != (c.fault != "") {
					t.Errorf("%q, %v; want %q, %v", got, err, c.want, c.is)
				}
				if err != nil && fault.NameOf(awserr.Fault(err, "read it")) != c.fault {
					t.Errorf("%v leaves as %s, want %s", err, fault.NameOf(awserr.Fault(err, "read it")), c.fault)
				}
				opened := 0
				for _, a := range c.answers[:min(c.asked, len(c.answers))] {
					if a.body != nil {
						opened++
					}
				}
				if len(b.asked) != c.asked || b.asked[0] != "bucket/key" || b.closed != opened {
					t.Errorf("asked for %q, %d bodies of %d closed; want %d requests", b.asked, b.closed, opened, c.asked)
				}
			})
		})
	}
}

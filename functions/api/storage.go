package api

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/names"
)

// Presigner is what signing needs of the S3 client.
type Presigner interface {
	PresignPostObject(context.Context, *s3.PutObjectInput, ...func(*s3.PresignPostOptions)) (*s3.PresignedPostRequest, error)
	PresignGetObject(context.Context, *s3.GetObjectInput, ...func(*s3.PresignOptions)) (*v4.PresignedHTTPRequest, error)
}

// Signer signs links to the bucket. A link dies with the credentials that
// signed it, so none is given a longer life than they have left. Credentials
// that do not tell when they end (those in a Lambda's environment) are taken to
// outlive names.UploadLifetime.
type Signer struct {
	S3          Presigner
	Credentials aws.CredentialsProvider
	Bucket      string
	Now         func() time.Time
}

// minLifetime is the least that is worth giving away.
const minLifetime = 30 * time.Second

// lifetime is the time that a link signed now may live, and when it ends.
func (s Signer) lifetime(ctx context.Context, want time.Duration, notAfter time.Time) (time.Duration, time.Time, error) {
	now := time.Now()
	if s.Now != nil {
		now = s.Now()
	}
	c, err := s.Credentials.Retrieve(ctx)
	if err != nil {
		return 0, time.Time{}, fmt.Errorf("sign: credentials: %w", err)
	}
	if c.CanExpire {
		want = min(want, c.Expires.Sub(now))
	}
	if !notAfter.IsZero() {
		want = min(want, notAfter.Sub(now))
	}
	if want = want.Truncate(time.Second); want < minLifetime {
		return 0, time.Time{}, problem{Status: http.StatusServiceUnavailable, Code: "unavailable", Title: "Please try again in a moment."}
	}
	return want, now.Add(want).UTC().Truncate(time.Second), nil
}

// upload is a form that puts one clip where it belongs. Every field must be sent
// as it is, before the file; Content-Type may be changed.
type upload struct {
	Clip      int               `json:"clip"`
	URL       string            `json:"url"`
	Fields    map[string]string `json:"fields"`
	ExpiresAt time.Time         `json:"expires_at"`
}

// octets is the content type of a clip whose type nobody declared.
const octets = "application/octet-stream"

// Uploads signs one form for each clip: its exact key, and a size up to the
// limit. The declared size and type are not enforced here; confirm looks at what
// arrived.
func (s Signer) Uploads(ctx context.Context, row analysis.Row) ([]upload, error) {
	life, until, err := s.lifetime(ctx, names.UploadLifetime, row.Deadline)
	if err != nil {
		return nil, err
	}
	forms := make([]upload, len(row.Clips))
	for i, c := range row.Clips {
		form, err := s.S3.PresignPostObject(ctx, &s3.PutObjectInput{Bucket: &s.Bucket, Key: &c.Key}, func(o *s3.PresignPostOptions) {
			o.Expires = life
			o.Conditions = []any{
				[]any{"content-length-range", 0, names.MaxClipBytes},
				[]any{"starts-with", "$Content-Type", ""},
			}
		})
		if err != nil {
			return nil, fmt.Errorf("sign the upload of clip %d of %s: %w", i, row.AnalysisID, err)
		}
		form.Values["Content-Type"] = cmpOr(c.Type, octets)
		forms[i] = upload{Clip: i, URL: form.URL, Fields: form.Values, ExpiresAt: until}
	}
	return forms, nil
}

// link is a signed link for reading.
type link struct {
	URL       string    `json:"url"`
	ExpiresAt time.Time `json:"expires_at"`
}

// Link signs a link to an object.
func (s Signer) Link(ctx context.Context, key string) (link, error) { return s.linkTo(ctx, key, nil) }

// linkTo signs a link to a version of an object; nil: the newest.
func (s Signer) linkTo(ctx context.Context, key string, version *string) (link, error) {
	life, until, err := s.lifetime(ctx, names.LinkLifetime, time.Time{})
	if err != nil {
		return link{}, err
	}
	req, err := s.S3.PresignGetObject(ctx, &s3.GetObjectInput{Bucket: &s.Bucket, Key: &key, VersionId: version}, s3.WithPresignExpires(life))
	if err != nil {
		return link{}, fmt.Errorf("sign a link to %s: %w", key, err)
	}
	return link{req.URL, until}, nil
}

// uploads signs the forms of a reserved analysis afresh, for the same keys.
func (d Deps) uploads(ctx context.Context, r request) (answer, error) {
	if err := noBody(r.Body); err != nil {
		return answer{}, err
	}
	row, err := d.own(ctx, r)
	if err != nil {
		return answer{}, err
	}
	if row.Status != analysis.Reserved {
		return answer{}, ended(row)
	}
	return d.withUploads(ctx, row, http.StatusOK)
}

func (d Deps) withUploads(ctx context.Context, row analysis.Row, status int) (answer, error) {
	out := created{row.AnalysisID, row.Status, []upload{}}
	if row.Status == analysis.Reserved && d.now().Before(row.Deadline) {
		var err error
		if out.Uploads, err = d.Signer.Uploads(ctx, row); err != nil {
			return answer{}, err
		}
	}
	return answer{Status: status, Body: out}, nil
}

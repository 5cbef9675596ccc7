package poseworker

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"fastbowlinglab/shared/fault"
)

// freshCredentials is what a URL's credentials must still be good for when it is
// signed: a URL dies with them, whatever its own lifetime says.
const freshCredentials = 30 * time.Minute

// URLSigner signs URLs of a bucket's objects.
type URLSigner struct {
	Client      *s3.PresignClient
	Bucket      string
	Credentials aws.CredentialsProvider // those of Client
}

// Sign implements Signer. Credentials that end soon are fetched anew first.
func (s URLSigner) Sign(ctx context.Context, key, version string, lifetime time.Duration) (string, time.Time, error) {
	until := time.Now().Add(lifetime)
	cred, err := s.Credentials.Retrieve(ctx)
	if err == nil && cred.CanExpire && time.Until(cred.Expires) < freshCredentials {
		if cache, ok := s.Credentials.(*aws.CredentialsCache); ok {
			cache.Invalidate()
			cred, err = cache.Retrieve(ctx)
		}
	}
	if err != nil {
		return "", time.Time{}, fault.Wrap(fault.Transient, err, "sign a URL: credentials")
	}
	if cred.CanExpire && cred.Expires.Before(until) {
		until = cred.Expires
	}
	req, err := s.Client.PresignGetObject(ctx, &s3.GetObjectInput{Bucket: &s.Bucket, Key: &key, VersionId: &version},
		s3.WithPresignExpires(time.Until(until)))
	if err != nil {
		return "", time.Time{}, fmt.Errorf("sign a URL: %w", err)
	}
	return req.URL, until, nil
}

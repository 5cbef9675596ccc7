package api_test

import (
	"context"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"fastbowlinglab/functions/api"
	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/names"
)

// Field case 20: a link never outlives the credentials that signed it.
func TestLinksDieBeforeTheirCredentials(t *testing.T) {
	for _, tc := range []struct {
		name    string
		left    time.Duration
		refused bool
	}{{"ten minutes left", 10 * time.Minute, false}, {"a day left", 24 * time.Hour, false}, {"none left", time.Second, true}} {
		t.Run(tc.name, func(t *testing.T) {
			end := time.Now().Add(tc.left)

			creds := aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
				return aws.Credentials{AccessKeyID: "id", SecretAccessKey: "s", CanExpire: true, Expires: end}, nil
			})
			s := api.Signer{S3: s3.NewPresignClient(s3.New(s3.Options{Region: "eu-west-1", Credentials: creds})), Credentials: creds, Bucket: "b"}
			row := analysis.Row{AnalysisID: "an-1", Clips: []analysis.Clip{{Key: "k"}}, Deadline: time.Now().Add(names.ReservedDeadline)}
			ups, err := s.Uploads(t.Context(), row)
			l, lerr := s.Link(t.Context(), "k")
			if tc.refused {
				if err == nil || lerr == nil {
					t.Errorf("signed with dying credentials: %v, %v", err, lerr)
				}
				return
			}
			if err != nil || lerr != nil {
				t.Fatal(err, lerr)
			}
			for want, at := range map[time.Duration]time.Time{names.UploadLifetime: ups[0].ExpiresAt, names.LinkLifetime: l.ExpiresAt} {
				if at.After(end) || time.Until(at) > want || time.Until(at) < min(want, tc.left)-3*time.Second {
					t.Errorf("lives %s; wanted %s, the credentials have %s", time.Until(at), want, tc.left)
				}
			}
		})
	}
}

func TestUploadsEndWithTheReservation(t *testing.T) {
	creds := aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
		return aws.Credentials{AccessKeyID: "id", SecretAccessKey: "s"}, nil
	})
	s := api.Signer{S3: s3.NewPresignClient(s3.New(s3.Options{Region: "eu-west-1", Credentials: creds})), Credentials: creds, Bucket: "b"}
	row := analysis.Row{Clips: []analysis.Clip{{Key: "k"}}, Deadline: time.Now().Add(5 * time.Minute)}
	if ups, err := s.Uploads(t.Context(), row); err != nil || ups[0].ExpiresAt.After(row.Deadline) {
		t.Errorf("%+v, %v", ups, err)
	}
}

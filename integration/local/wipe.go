package local

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/ssm"

	"fastbowlinglab/shared/awserr"
	"fastbowlinglab/shared/names"
)

// wipe removes what an earlier cloud left in this process's memory, so that one
// test does not see another's objects, messages and settings.
func (c creator) wipe(ctx context.Context) error {
	if err := c.emptyBucket(ctx); err != nil {
		return fmt.Errorf("empty the bucket: %w", err)
	}
	queues := sqs.NewFromConfig(c.aws)
	out, err := queues.ListQueues(ctx, &sqs.ListQueuesInput{})
	if err != nil {
		return fmt.Errorf("list queues: %w", err)
	}
	for _, u := range out.QueueUrls {
		if _, err := queues.DeleteQueue(ctx, &sqs.DeleteQueueInput{QueueUrl: &u}); err != nil {
			return fmt.Errorf("delete queue %s: %w", u, err)
		}
	}
	params := ssm.NewFromConfig(c.aws)
	for name := range ParametersSet {
		_, err := params.DeleteParameter(ctx, &ssm.DeleteParameterInput{Name: aws.String(names.Parameters + "/" + name)})
		if err != nil && awserr.KindOf(err) != awserr.NotFound {
			return fmt.Errorf("delete parameter %s: %w", name, err)
		}
	}
	return nil
}

func (c creator) emptyBucket(ctx context.Context) error {
	client := s3.NewFromConfig(c.aws)
	in := &s3.ListObjectVersionsInput{Bucket: aws.String(names.Bucket)}
	for {
		page, err := client.ListObjectVersions(ctx, in)
		if awserr.Is(err, "NoSuchBucket") {
			return nil
		}
		if err != nil {
			return err
		}
		for _, v := range page.Versions {
			if _, err := client.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: in.Bucket, Key: v.Key, VersionId: v.VersionId}); err != nil {
				return err
			}
		}
		for _, v := range page.DeleteMarkers {
			if _, err := client.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: in.Bucket, Key: v.Key, VersionId: v.VersionId}); err != nil {
				return err
			}
		}
		if page.IsTruncated == nil || !*page.IsTruncated {
			return nil
		}
	}
}

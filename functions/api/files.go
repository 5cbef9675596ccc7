package api

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/s3"

	"fastbowlinglab/shared/retry"
)

// Lister is what listing the bucket needs of S3.
type Lister interface {
	ListObjectsV2(context.Context, *s3.ListObjectsV2Input, ...func(*s3.Options)) (*s3.ListObjectsV2Output, error)
}

// maxFiles bounds the files of one analysis in an export. A pass has at most a
// few hundred checkpoints.
const maxFiles = 2000

// file is a stored object and a link to it.
type file struct {
	Name      string `json:"name"`
	SizeBytes int64  `json:"size_bytes"`
	link
}

// files lists what is stored under a prefix, with links; more is true when limit
// left some out.
func (d Deps) files(ctx context.Context, prefix string, limit int) (all []file, more bool, err error) {
	in := &s3.ListObjectsV2Input{Bucket: &d.Bucket, Prefix: &prefix}
	for {
		var page *s3.ListObjectsV2Output
		err := retry.Policy{}.Do(ctx, func() (err error) {
			page, err = d.Folder.ListObjectsV2(ctx, in)
			return err
		})
		if err != nil {
			return nil, false, fmt.Errorf("list %s: %w", prefix, err)
		}
		for _, o := range page.Contents {
			if len(all) >= limit {
				return all, true, nil
			}
			l, err := d.Signer.Link(ctx, *o.Key)
			if err != nil {
				return nil, false, err
			}
			f := file{Name: *o.Key, link: l}
			if o.Size != nil {
				f.SizeBytes = *o.Size
			}
			all = append(all, f)
		}
		if page.IsTruncated == nil || !*page.IsTruncated {
			return all, false, nil
		}
		in.ContinuationToken = page.NextContinuationToken
	}
}

// phaseOrder is the order of a delivery's instants.
var phaseOrder = []string{"run_up", "back_foot_contact", "front_foot_contact", "release", "follow_through"}

// pictures finds the key frames beside a pose pass's result. They are kept for
// names.WorkLifecycle; afterwards there are none.
func (d Deps) pictures(ctx context.Context, resultKey string) ([]picture, error) {
	out := []picture{}
	if resultKey == "" {
		return out, nil
	}
	files, _, err := d.files(ctx, path.Dir(resultKey)+"/frame-", maxFiles)
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		var p picture
		name := strings.TrimSuffix(path.Base(f.Name), ".jpg")
		if _, err := fmt.Sscanf(strings.ReplaceAll(name, "-", " "), "frame %d %s", &p.Clip, &p.Phase); err != nil {
			continue
		}
		p.link = f.link
		out = append(out, p)
	}
	slices.SortFunc(out, func(a, b picture) int {
		return cmp.Or(cmp.Compare(a.Clip, b.Clip), cmp.Compare(slices.Index(phaseOrder, a.Phase), slices.Index(phaseOrder, b.Phase)))
	})
	return out, nil
}

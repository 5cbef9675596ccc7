package api

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/s3"

	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/motion"
	"fastbowlinglab/shared/object"
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

// pictures finds the key frames of the newest report: those that the pose pass
// left beside its result, and of a result that was measured again those that it
// still names. They are kept for names.WorkLifecycle; afterwards there are none.
func (d Deps) pictures(ctx context.Context, row analysis.Row) ([]picture, error) {
	out := []picture{}
	if row.ResultKey == "" {
		return out, nil
	}
	files, _, err := d.files(ctx, path.Dir(row.ResultKey)+"/frame-", maxFiles)
	if err != nil {
		return nil, err
	}
	if newest := row.Newest().ResultKey; newest != row.ResultKey {
		shown, err := d.framesOf(ctx, newest)
		if err != nil {
			return nil, err
		}
		files = slices.DeleteFunc(files, func(f file) bool { return !shown[f.Name] })
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
	order := motion.PhaseNames()
	slices.SortFunc(out, func(a, b picture) int {
		return cmp.Or(cmp.Compare(a.Clip, b.Clip),
			cmp.Compare(slices.Index(order, motion.PhaseName(a.Phase)), slices.Index(order, motion.PhaseName(b.Phase))))
	})
	return out, nil
}

// framesOf reads which key frames a pose result names; none when it is gone.
func (d Deps) framesOf(ctx context.Context, key string) (map[string]bool, error) {
	shown := map[string]bool{}
	if key == "" {
		return shown, nil
	}
	b, err := object.Read(ctx, d.Objects, retry.Policy{}, d.Bucket, key, motion.MaxResultBytes)
	if errors.Is(err, object.ErrNotFound) {
		return shown, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", key, err)
	}
	var result struct {
		Clips []struct {
			Phases []struct {
				FrameKey string `json:"frame_key"`
			} `json:"phases"`
		} `json:"clips"`
	}
	if err := json.Unmarshal(b, &result); err != nil {
		return nil, fmt.Errorf("read %s: %w", key, err)
	}
	for _, c := range result.Clips {
		for _, p := range c.Phases {
			shown[p.FrameKey] = true
		}
	}
	return shown, nil
}

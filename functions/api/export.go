package api

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/s3"

	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/notice"
	"fastbowlinglab/shared/retry"
)

// Lister is what listing the bucket needs of S3.
type Lister interface {
	ListObjectsV2(context.Context, *s3.ListObjectsV2Input, ...func(*s3.Options)) (*s3.ListObjectsV2Output, error)
}

// maxFiles bounds the files of one analysis in an export. A pass has at most a
// few hundred checkpoints.
const maxFiles = 2000

// exportOut is everything that is held about an athlete, a page of analyses at a
// time. The ledger is not repeated: GET /v1/credits gives all of it.
type exportOut struct {
	Me       meOut            `json:"me"`
	Balance  int64            `json:"balance"`
	Analyses []exportAnalysis `json:"analyses"`
	Next     string           `json:"next_cursor,omitempty"`
}

// exportAnalysis is one analysis with what was submitted, what was told, and
// every file: clips, keypoints, pictures, texts, reports.
type exportAnalysis struct {
	view
	AthleteName string            `json:"athlete_name"`
	Email       string            `json:"email"`
	TimeZone    string            `json:"time_zone"`
	Notes       string            `json:"notes"`
	Flags       map[string]string `json:"flags,omitempty"`
	Notices     []exportNotice    `json:"notices"`
	Files       []file            `json:"files"`
}

type exportNotice struct {
	Kind    string         `json:"kind"`
	Channel notice.Channel `json:"channel"`
	State   notice.State   `json:"state"`
	SentAt  *time.Time     `json:"sent_at,omitempty"`
}

// file is a stored object and a link to it.
type file struct {
	Name      string `json:"name"`
	SizeBytes int64  `json:"size_bytes"`
	link
}

// maxExport is the most analyses in a page of an export: each has many links.
const maxExport = 5

func (d Deps) export(ctx context.Context, r request) (answer, error) {
	var from analysis.Cursor
	if err := r.cursor(&from); err != nil {
		return answer{}, err
	}
	page, err := d.Life.ByAthlete(ctx, r.Athlete, from, maxExport)
	if err != nil {
		return answer{}, err
	}
	me, err := d.me(ctx, r)
	if err != nil {
		return answer{}, err
	}
	l, err := d.Ledger.Read(ctx, r.Athlete)
	if err != nil {
		return answer{}, err
	}
	out := exportOut{Me: me.Body.(meOut), Balance: l.Balance, Analyses: []exportAnalysis{}}
	for _, row := range page.Rows {
		a, err := d.exportOne(ctx, row)
		if err != nil {
			return answer{}, err
		}
		out.Analyses = append(out.Analyses, a)
	}
	if page.Next != (analysis.Cursor{}) {
		out.Next = cursorText(page.Next)
	}
	return answer{Status: http.StatusOK, Body: out}, nil
}

func (d Deps) exportOne(ctx context.Context, row analysis.Row) (exportAnalysis, error) {
	a := exportAnalysis{view: viewOf(row), AthleteName: row.AthleteName, Email: row.Email, TimeZone: row.TimeZone, Notes: row.Notes,
		Flags: row.Flags, Notices: []exportNotice{}, Files: []file{}}
	told, err := notice.List(ctx, d.Rows, d.Notices, row.AnalysisID)
	if err != nil {
		return a, err
	}
	for _, n := range told {
		a.Notices = append(a.Notices, exportNotice{n.Kind, n.Channel, n.State, known(n.SentAt)})
	}
	for _, prefix := range []string{names.PrefixClips, names.PrefixWork, names.PrefixReports} {
		files, err := d.files(ctx, prefix+row.AnalysisID+"/")
		if err != nil {
			return a, err
		}
		a.Files = append(a.Files, files...)
	}
	return a, nil
}

// files lists what is stored under a prefix, with links.
func (d Deps) files(ctx context.Context, prefix string) ([]file, error) {
	in := &s3.ListObjectsV2Input{Bucket: &d.Bucket, Prefix: &prefix}
	var all []file
	for {
		var page *s3.ListObjectsV2Output
		err := retry.Policy{}.Do(ctx, func() (err error) {
			page, err = d.Folder.ListObjectsV2(ctx, in)
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("list %s: %w", prefix, err)
		}
		for _, o := range page.Contents {
			l, err := d.Signer.Link(ctx, *o.Key)
			if err != nil {
				return nil, err
			}
			f := file{Name: *o.Key, link: l}
			if o.Size != nil {
				f.SizeBytes = *o.Size
			}
			all = append(all, f)
		}
		if page.IsTruncated == nil || !*page.IsTruncated || len(all) >= maxFiles {
			return all, nil
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
	files, err := d.files(ctx, path.Dir(resultKey)+"/frame-")
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

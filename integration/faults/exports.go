package faults

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"fastbowlinglab/integration/virtual"
	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/credit"
	"fastbowlinglab/shared/names"
)

// exportPage is what the API tells of what it holds.
type exportPage struct {
	Balance  int64
	Ledger   []credit.Entry
	Analyses []exportedOne
	Next     string `json:"next_cursor"`
}

type exportedOne struct {
	ID         string          `json:"analysis_id"`
	Status     analysis.Status `json:"status"`
	Notices    []struct{ Kind string }
	ModelCalls []struct{ Task string } `json:"model_calls"`
	Files      []struct {
		Name string
		signedLink
	}
}

// exports is an athlete who asks for everything that is held about them, while it
// comes into being.
func (w *world) exports(c *virtual.Cloud, _, key string) {
	ctx := virtual.As(context.Background(), "client-export/"+key)
	d := w.plan.dice
	for n := range 2 {
		pause(ctx, d.Between(0, []time.Duration{10 * time.Minute, 2 * time.Hour}[n], fmt.Sprint("export ", key, n)))
		w.export(ctx, c, "")
	}
}

// export reads an export page by page, as another athlete if by is one; nil when it
// was not answered. Nothing in it is somebody else's, and nothing is in it twice.
func (w *world) export(ctx context.Context, c *virtual.Cloud, by string) *exportPage {
	all := &exportPage{}
	for cursor := ""; ; {
		r, ok := w.ask(ctx, c, virtual.Ask{Route: routeExport, By: by, Cursor: cursor})
		var p exportPage
		if !ok || r.Status != http.StatusOK || r.Into(&p) != nil {
			if ok {
				w.obs.tell("I9", "an export is answered with %d %s", r.Status, r.Code())
			}
			return nil
		}
		w.owned(by, string(r.Body), p)
		if cursor == "" {
			all.Balance, all.Ledger = p.Balance, p.Ledger
		}
		for _, a := range p.Analyses {
			if slices.ContainsFunc(all.Analyses, func(b exportedOne) bool { return b.ID == a.ID }) {
				w.obs.tell("I9", "%s is twice in an export", a.ID)
			}
			all.Analyses = append(all.Analyses, a)
		}
		if cursor = p.Next; cursor == "" {
			return all
		}
	}
}

// owned looks whose data a page of an export shows.
func (w *world) owned(by, body string, p exportPage) {
	mine, other := virtual.Athlete, stranger
	if by != "" {
		mine, other = by, virtual.Athlete
	}
	for _, o := range append([]string{other}, w.notOf(mine)...) {
		if strings.Contains(body, o) {
			w.obs.tell("I9", "an export of %s holds %s, which is another's", mine, o)
		}
	}
	for _, a := range p.Analyses {
		for _, f := range a.Files {
			if !ofAnalysis(f.Name, a.ID) {
				w.obs.tell("I9", "an export shows %s as a file of %s", f.Name, a.ID)
			}
		}
	}
}

// ofAnalysis reports whether a file is in a folder of an analysis.
func ofAnalysis(name, id string) bool {
	return slices.ContainsFunc(folders, func(p string) bool { return strings.HasPrefix(name, p+id+"/") })
}

// folders are where files of analyses are.
var folders = []string{names.PrefixClips, names.PrefixWork, names.PrefixReports}

// exported reads the export in the end, when all is still: everything that is held
// about the athlete is in it, as it stands.
func (w *world) exported(ctx context.Context, c *virtual.Cloud) {
	all := w.export(ctx, c, "")
	if all == nil {
		return
	}
	var ids []string
	for _, a := range all.Analyses {
		ids = append(ids, a.ID)
		w.whole(c, a)
	}
	if slices.Sort(ids); !slices.Equal(ids, w.obs.ids()) {
		w.obs.tell("I9", "the analyses %v are exported, there are %v", ids, w.obs.ids())
	}
	sum := int64(0)
	for _, e := range all.Ledger {
		sum += e.Credits
	}
	l, err := ledger(c)
	if err != nil {
		w.obs.tell("I9", "compare the ledger: %v", err)
	} else if sum != l.Sum || all.Balance != l.Sum {
		w.obs.tell("I9", "a ledger of %d and a balance of %d are exported, the entries add up to %d", sum, all.Balance, l.Sum)
	}
}

// whole looks whether an analysis is exported with all that there is of it.
func (w *world) whole(c *virtual.Cloud, a exportedOne) {
	if st := w.obs.row(a.ID).Status; a.Status != st {
		w.obs.tell("I9", "%s is exported as %s, it is %s", a.ID, a.Status, st)
	}
	for _, clip := range w.obs.row(a.ID).Clips {
		for _, f := range a.Files {
			if f.Name == clip.Key && clip.VersionID != "" && !strings.Contains(f.URL, "versionId="+clip.VersionID+"&") && !strings.HasSuffix(f.URL, "versionId="+clip.VersionID) {
				w.obs.tell("I9", "%s is exported by %s, version %s was confirmed", f.Name, f.URL, clip.VersionID)
			}
		}
	}
	var have, files []string
	for _, p := range folders {
		have = append(have, c.Keys(p+a.ID+"/")...)
	}
	for _, f := range a.Files {
		files = append(files, f.Name)
	}
	if slices.Sort(have); !slices.Equal(slices.Sorted(slices.Values(files)), have) {
		w.obs.tell("I9", "of %s the files %v are exported, there are %v", a.ID, files, have)
	}
	told, err := items(c, names.Notices, a.ID)
	paid, pErr := items(c, names.Usage, a.ID)
	switch {
	case err != nil || pErr != nil:
		w.obs.tell("I9", "compare the export: %v", errors.Join(err, pErr))
	case len(told) != len(a.Notices) || len(paid) != len(a.ModelCalls):
		w.obs.tell("I9", "of %s %d notices and %d calls of a model are exported, there are %d and %d", a.ID, len(a.Notices), len(a.ModelCalls), len(told), len(paid))
	}
}

package faults

import (
	"context"
	"fmt"
	"time"

	"fastbowlinglab/integration/virtual"
	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/names"
)

func athlete() context.Context { return virtual.As(context.Background(), "client") }

func clips(version string) []attrs {
	return []attrs{{"name": "clip", "key": names.ClipKey(sample, 0), "version_id": version}}
}

// added plants a delivered analysis, and then a revision of it that a run added.
func (d damaged) added(run string) {
	d.row("ready", nil)
	d.row("ready", attrs{"revisions": []attrs{{"number": 1, "name": "report-v2", "by_run": run}}})
}

// reported answers with a report whose one file is at a key, for so long.
func (d damaged) reported(revision int, key string, life time.Duration) {
	link := fmt.Sprintf(`{"url":"http://store/%s/%s","expires_at":%q}`, names.Bucket, key, time.Now().Add(life).UTC().Format(time.RFC3339))
	d.answers(200, fmt.Sprintf(`{"revision":%d,"revisions":[{"number":0,"report_pdf":%s,"report_json":%s}]}`, revision, link, link))
	d.w.report(athlete(), d.c, sample)
}

// exported answers with an export of one analysis, of which it tells this.
func (d damaged) exported(id, more string) {
	d.answers(200, fmt.Sprintf(`{"analyses":[{"analysis_id":%q%s}]}`, id, more))
	d.w.exported(athlete(), d.c)
}

// routeDamage is what the checks of reports, exports, forms and revisions are for.
func routeDamage() []damage {
	form := virtual.Form{Fields: map[string]string{"key": "clips/of-another/0"}}
	return []damage{
		{"forms for what is analysed", "I9", func(d damaged) {
			d.w.signed(analysis.Row{Status: analysis.Analysing}, created{sample, []virtual.Form{form}})
		}},
		{"a form for a clip of another", "I9", func(d damaged) { d.w.signed(analysis.Row{}, created{sample, []virtual.Form{form}}) }},
		{"a key used for something else", "I3", func(d damaged) { d.w.reused(sample, virtual.Reply{Status: 201}) }},
		{"a form that does not end", "I9", func(d damaged) { d.w.uploaded(form, 204) }},
		{"a pass of what was not confirmed", "I9", func(d damaged) {
			d.row("analysing", attrs{"clips": clips("v1")})
			d.w.source(sample, "http://store/"+names.Bucket+"/"+names.ClipKey(sample, 0)+"?versionId=v2")
		}},
		{"a clip pinned again", "I9", func(d damaged) {
			d.row("queued", attrs{"clips": clips("v1"), "queued_at": time.Now()})
			d.row("queued", attrs{"clips": clips("v2"), "queued_at": time.Now()})
		}},
		{"a rerun of other clips", "I9", func(d damaged) {
			d.o.rows["an-1"] = analysis.Row{Clips: []analysis.Clip{{VersionID: "v1"}}}
			d.row("queued", attrs{"clips": clips("v2"), "rerun_of": "an-1"})
		}},
		{"a revision by a run that has ended", "I6", func(d damaged) {
			d.put(names.Runs, attrs{"run": "redo", "part": "run", "effect": "report", "state": "ended"})
			d.added("redo")
		}},
		{"a revision by a run without its lease", "I6", func(d damaged) {
			d.put(names.Runs, attrs{"run": "redo", "part": "run", "effect": "report", "state": "open", "fence": 1})
			d.put(names.Effects, attrs{"effect": names.LeaseOf("report"), "token": "other", "fence": 2})
			d.added("redo")
		}},
		{"a report that is not shown", "I9", func(d damaged) {
			d.row("ready", nil)
			d.answers(404, `{}`)
			d.w.report(athlete(), d.c, sample)
		}},
		{"a report of what failed", "I9", func(d damaged) { d.row("failed", nil); d.reported(0, "k", time.Minute) }},
		{"a revision too many", "I9", func(d damaged) { d.row("ready", nil); d.reported(1, "k", time.Minute) }},
		{"a link for too long", "I9", func(d damaged) { d.row("ready", nil); d.reported(0, "k", time.Hour) }},
		{"a link to nothing", "I9", func(d damaged) { d.row("ready", nil); d.reported(0, "k", time.Minute) }},
		{"a report of another", "I9", func(d damaged) { d.w.saw(sample, "0 pdf", "report of an-1") }},
		{"a report that is another now", "I1", func(d damaged) {
			d.w.saw(sample, "0 pdf", "report of "+sample)
			d.w.saw(sample, "0 pdf", "new report of "+sample)
		}},
		{"a link that does not end", "I9", func(d damaged) {
			if err := d.c.Put(athlete(), "k", nil); err != nil {
				d.t.Error(err)
			}
			d.w.late(athlete(), d.c, sample, signedLink{"http://store/" + names.Bucket + "/k", time.Now()})
		}},
		{"an export that is refused", "I9", func(d damaged) { d.answers(409, `{}`); d.w.export(athlete(), d.c, "") }},
		{"an export of another's", "I9", func(d damaged) { d.exported(neighbours[0], "") }},
		{"a file of another's", "I9", func(d damaged) { d.exported(sample, `,"files":[{"name":"reports/an-1/1/report.pdf"}]`) }},
		{"an analysis twice", "I9", func(d damaged) {
			d.answers(200, fmt.Sprintf(`{"analyses":[{"analysis_id":%q},{"analysis_id":%q}]}`, sample, sample))
			d.w.export(athlete(), d.c, "")
		}},
		{"an analysis that is not exported", "I9", func(d damaged) { d.row("failed", nil); d.exported("an-1", "") }},
		{"a balance that is not exported", "I9", func(d damaged) { d.entry("grant", "1", 1); d.exported(sample, "") }},
		{"an end that is not exported", "I9", func(d damaged) { d.row("failed", nil); d.exported(sample, `,"status":"ready"`) }},
		{"a file that is not exported", "I9", func(d damaged) {
			if err := d.c.Put(athlete(), names.ReportPDFKey(sample, 1), nil); err != nil {
				d.t.Error(err)
			}
			d.exported(sample, "")
		}},
		{"a clip that was not confirmed, exported", "I9", func(d damaged) {
			d.row("failed", attrs{"clips": clips("v1")})
			d.exported(sample, fmt.Sprintf(`,"files":[{"name":%q,"url":"http://store/x?versionId=v12"}]`, names.ClipKey(sample, 0)))
		}},
		{"a notice that is not exported", "I9", func(d damaged) { d.notice("failed", "sent"); d.exported(sample, "") }},
		{"a stranger who is answered", "I9", func(d damaged) { d.w.strange(sample, routeReport, virtual.Reply{Status: 200}) }},
		{"a stranger's own that is not exported", "I9", func(d damaged) { d.w.strangers(&exportPage{}) }},
	}
}

package faults

import (
	"encoding/json"
	"fmt"
	"net/url"

	"fastbowlinglab/integration/promises"
	"fastbowlinglab/integration/virtual"
	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/notice"
	"fastbowlinglab/shared/outbox"
)

// mail looks at a mail that left: I4.
func (o *observer) mail(call virtual.Call) {
	var in struct {
		EmailTags []struct{ Name, Value string }
	}
	if err := json.Unmarshal(call.Body, &in); err != nil || len(in.EmailTags) != 2 {
		o.violation("I4", "a mail without its tags: %v", err)
		return
	}
	tag := map[string]string{}
	for _, t := range in.EmailTags {
		tag[t.Name] = t.Value
	}
	o.left(tag["analysis_id"], tag["kind"], outbox.Email)
}

// push looks at a push event that left: I4.
func (o *observer) push(call virtual.Call) {
	form, err := url.ParseQuery(string(call.Body))
	var in notice.PushEvent
	if err != nil || json.Unmarshal([]byte(form.Get("Message")), &in) != nil {
		o.violation("I4", "a push event without its message: %v", err)
		return
	}
	kind := ""
	for n := 1; form.Has(fmt.Sprintf("MessageAttributes.entry.%d.Name", n)); n++ {
		if form.Get(fmt.Sprintf("MessageAttributes.entry.%d.Name", n)) == "kind" {
			kind = form.Get(fmt.Sprintf("MessageAttributes.entry.%d.Value.StringValue", n))
		}
	}
	if r := o.rows[in.AnalysisID]; in.Status != r.Status || in.AthleteID != virtual.Athlete {
		o.violation("I4", "a push event for %s says %s of %s, which is %s", in.AthleteID, in.Status, in.AnalysisID, r.Status)
	}
	o.left(in.AnalysisID, kind, outbox.Push)
}

// left looks at what an athlete is told: of what stands, and once on a channel.
func (o *observer) left(id, kind string, on outbox.Channel) {
	r := o.rows[id]
	if n, ok := outbox.RevisionOf(kind); string(r.Status) != kind && (!ok || r.Status != analysis.Ready || n > len(r.Revisions)) {
		o.violation("I4", "what left by %s says %s of %s, which is %s with %d revisions", on, kind, id, r.Status, len(r.Revisions))
	}
	key := id + "/" + kind + "#" + string(on)
	if o.sent[key]++; o.sent[key] > 1 {
		o.violation("I4", "%d times %s was told of by %s, of %s", o.sent[key], kind, on, id)
	}
}

// outbox looks at an analysis's notices after a write: what is known of one that
// is over does not change any more.
func (o *observer) outbox(c *virtual.Cloud, id string) {
	ns, err := notices(c, id)
	if err != nil {
		return
	}
	for _, n := range ns {
		key := id + "/" + n.ID
		was := o.told[key]
		o.told[key] = n.State
		if over(was) && n.State != was {
			o.violation("I4", "notice %s was %s and is now %s", key, was, n.State)
		}
	}
}

// over reports whether a notice is in its last state.
func over(s outbox.State) bool {
	return s == outbox.Sent || s == outbox.Refused || s == outbox.Unknown
}

func notices(c *virtual.Cloud, id string) ([]outbox.Notice, error) {
	all, err := items(c, names.Notices, id)
	if err != nil {
		return nil, err
	}
	return promises.ReadNotices(all)
}

package faults

import (
	"encoding/json"

	"fastbowlinglab/integration/promises"
	"fastbowlinglab/integration/virtual"
	"fastbowlinglab/shared/names"
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
	id, kind := tag["analysis_id"], tag["kind"]
	if r := o.rows[id]; string(r.Status) != kind {
		o.violation("I4", "a mail says %s of %s, which is %s", kind, id, r.Status)
	}
	key := id + "/" + kind
	if o.mails[key]++; o.mails[key] > 1 {
		o.violation("I4", "%d mails say %s of %s", o.mails[key], kind, id)
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

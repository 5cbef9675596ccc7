package faults

import (
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"

	"fastbowlinglab/integration/virtual"
	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/posejob"
)

// job looks at a pose job after a write: I6, and the resuming of I5.
func (o *observer) job(c *virtual.Cloud, id string, call virtual.Call) {
	item, err := item(c, names.PoseJobs, analysis.Key(id))
	if err != nil || item == nil {
		return
	}
	var j posejob.Job
	if err := attributevalue.UnmarshalMap(item, &j); err != nil {
		o.violation("I9", "pose job of %s: %v", id, err)
		return
	}
	was := o.jobs[id]
	o.jobs[id] = j
	if j.State == posejob.Claimed && was.State == posejob.Claimed && j.Fence == was.Fence && j.Until.Before(was.Until) {
		o.violation("I6", "the lease of %s under fence %d was put back from %s to %s", id, j.Fence, was.Until, j.Until)
	}
	if j.Fence < was.Fence {
		o.violation("I6", "fence of %s went from %d to %d", id, was.Fence, j.Fence)
	}
	if j.State == posejob.Claimed && was.State == posejob.Claimed && j.Fence == was.Fence && j.Owner != was.Owner {
		o.violation("I6", "fence %d of %s was given to two owners", j.Fence, id)
	}
	// A lease's end is by its owner's clock, which may be behind the true time.
	if j.Fence > was.Fence && was.State == posejob.Claimed && was.Attempt == j.Attempt && time.Now().Before(was.Until.Add(-names.ClockSkew/2)) {
		o.violation("I6", "%s was claimed under fence %d while fence %d held until %s", id, j.Fence, was.Fence, was.Until)
	}
	if j.Fence > was.Fence {
		before := o.owners[fmt.Sprint(id, was.Fence)]
		if was.State == posejob.Claimed && was.Attempt == j.Attempt && o.atWork(before, id) {
			o.violation("I6", "%s was taken over from %s, which is at work and was never stopped", id, before)
		}
		o.owners[fmt.Sprint(id, j.Fence)] = call.Actor
	}
	if call.Op == "UpdateItem" {
		if f, ok := fenceOf(call.Original); ok && f != j.Fence {
			o.violation("I6", "a write under fence %d reached the job of %s, which is at fence %d", f, id, j.Fence)
		}
	}
	for ck, cp := range j.Checkpoints {
		key := fmt.Sprintf("%s/%d/%s", id, j.Attempt, ck)
		first, known := o.saved[key]
		if !known {
			o.saved[key] = j.Fence
			continue
		}
		if was, ok := was.Checkpoints[ck]; ok && was.Key != cp.Key {
			o.violation("I5", "chunk %s, saved under fence %d, was computed again under fence %d: the pass did not resume", key, first, j.Fence)
		}
	}
}

func fenceOf(body []byte) (int64, bool) {
	var in struct {
		ExpressionAttributeValues map[string]struct{ N string }
	}
	if json.Unmarshal(body, &in) != nil {
		return 0, false
	}
	f, err := strconv.ParseInt(in.ExpressionAttributeValues[":fence"].N, 10, 64)
	return f, err == nil
}

package statemachine

import (
	"reflect"
	"strings"
	"time"

	"fastbowlinglab/shared/names"
)

// contract is what a function takes and gives, as the definition sees it. For a
// state that waits for a token, out is what answers the token.
type contract struct{ in, out any }

// contracts lists the functions that a definition may invoke.
var contracts = map[string]contract{
	names.FnBegin:     {names.BeginIn{}, names.BeginOut{}},
	names.FnWake:      {names.Run{}, names.WakeOut{}},
	names.FnPrecheck:  {names.Run{}, names.VerdictOut{}},
	names.FnQueueJob:  {names.TokenIn{}, names.ClaimedOut{}},
	names.FnProbe:     {names.RoundIn{}, names.DispatchOut{}},
	names.FnPostJob:   {names.PostIn{}, names.DispatchOut{}},
	names.FnAwaitPose: {names.TokenIn{}, names.VerdictOut{}},
	names.FnFindings:  {names.TextIn{}, names.TextOut{}},
	names.FnCoaching:  {names.TextIn{}, names.TextOut{}},
	names.FnRender:    {names.RenderIn{}, names.RenderOut{}},
	names.FnDeliver:   {names.DeliverIn{}, names.EndOut{}},
	names.FnReject:    {names.RejectIn{}, names.EndOut{}},
	names.FnSettle:    {names.SettleIn{}, names.EndOut{}},
	names.FnBackfill:  {names.BatchIn{}, names.BatchOut{}},
	names.FnNightly:   {names.BatchIn{}, names.BatchOut{}},
}

// travelling lists every field that may travel between states, and the bytes
// that its value takes in JSON at most. There are ids, keys, codes and numbers,
// and the error that leads to Settle; no token is kept, no URL, name or note.
var travelling = map[string]int{
	"analysis_id":  64,
	"attempt":      20,
	"execution":    82,
	"task_token":   2048, // in a payload only
	"entered":      40,   // likewise
	"retry":        20,   // likewise
	"round":        20,   // likewise
	"result_key":   maxKey,
	"findings_key": maxKey,
	"coaching_key": maxKey,
	"pdf_key":      maxKey,
	"json_key":     maxKey,
	"key":          maxKey,
	"verdict":      16,
	"reason":       64,
	"state":        32,
	"status":       32,
	"until":        40,
	"pose_road":    16,
	"seq":          20,
	"fence":        20,
	"count":        20,
	"claimed":      5,
	"proceed":      5,
	"won":          5,
	"step":         16, // in a payload only
	"run":          82, // likewise
	"started":      40, // likewise
	"input":        0,  // likewise; what it may have is the execution's input
	"batch":        maxBatchKey,
	"batches":      names.MaxBatches * (maxBatchKey + 1),
	"held_by":      82,
	"since":        40,
	"begun":        20,
	"expected":     20,
	"new":          20,
	"already":      20,
	"failed":       20,
	"unknown":      20,
	"missing":      20,
	"error":        6 * 256,   // 256 characters, six bytes each when escaped
	"cause":        6 * 32768, // AWS's limit on a cause, likewise
}

// maxKey is S3's limit on a key, in bytes, with room for quotes.
const maxKey = 1024 + 2

// maxBatchKey is the length of the longest key of a batch, with room for quotes.
const maxBatchKey = 128

// outlasts is what a state machine's whole time-out must be longer than, besides
// refused calls: the two waits for a pose pass; all rounds of a backfill, four
// batches at a time; all calls of a nightly job.
var outlasts = map[string]time.Duration{
	Analysis: names.ClaimTimeout + names.PoseTimeout,
	Backfill: 10 * (names.MaxBatches/4 + 3) * (names.RedoTimeout + names.ClockSkew),
	Nightly:  Loops * (names.BatchTimeout + names.ClockSkew),
}

// waiting lists the timers of the states that wait for a task token.
var waiting = map[string]struct{ timeout, heartbeat time.Duration }{
	"QueueJob":  {names.ClaimTimeout, 0},
	"AwaitPose": {names.PoseTimeout, names.PoseHeartbeat},
}

// fields lists the JSON names of a payload type, and those that may be left out.
func fields(v any) (all map[string]bool, optional map[string]bool) {
	all, optional = map[string]bool{}, map[string]bool{}
	collect(reflect.TypeOf(v), all, optional)
	return all, optional
}

func collect(t reflect.Type, all, optional map[string]bool) {
	for i := range t.NumField() {
		f := t.Field(i)
		if f.Anonymous {
			collect(f.Type, all, optional)
			continue
		}
		name, opts, _ := strings.Cut(f.Tag.Get("json"), ",")
		all[name] = true
		optional[name] = strings.Contains(opts, "omitempty")
	}
}

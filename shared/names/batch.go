package names

import (
	"encoding/json"
	"fmt"
	"time"
)

// Functions of the batch machines and of operators.
const (
	FnBackfill = "backfill"
	FnNightly  = "nightly"
	FnWatch    = "watch"
	FnOperator = "operator"
)

// Tags holds, for each UTC day of delivery, the tags of its analyses, the nightly
// job's checkpoints and what it could not tag. Item is "row#", "done#" or
// "failed#", the analysis id, "#" and the tags' version.
var Tags = Table{Name: Prefix + "tags", Env: "TABLE_TAGS", PartitionKey: "day", SortKey: "item"}

// Runs holds the runs of nightly and backfill with their batches, and, by effect
// and version, the items of backfills. Open runs are in the index by effect.
var Runs = Table{
	Name: Prefix + "runs", Env: "TABLE_RUNS", PartitionKey: "run", SortKey: "part",
	Indexes: []Index{{Name: IndexOpen, PartitionKey: "open", SortKey: "opened_at"}},
}

// IndexByEndDay lists analyses by the UTC day of their end.
const IndexByEndDay = "by-end-day"

// Effects that a run may redo; each is the key of a lease, "lease#" before it.
// The nightly job's is EffectTags, whichever way it was started.
const (
	EffectTags    = "tags"
	EffectReport  = "report"
	EffectMeasure = "measure"
)

// BatchEffects lists them.
func BatchEffects() []string { return []string{EffectTags, EffectReport, EffectMeasure} }

// ItemTimeOf is how long one item of an effect takes at most.
func ItemTimeOf(effect string) time.Duration {
	if effect == EffectTags {
		return ItemTime
	}
	return ReportTime
}

// RevisionName names the revision of a report that an effect makes in a version:
// part of the keys of its files and of its model calls.
func RevisionName(effect, version string) string { return effect + "-" + version }

// MaxRevisions is how many revisions a delivered report can have.
const MaxRevisions = 20

// LeaseOf is the key of an effect's lease in the effects table.
func LeaseOf(effect string) string { return "lease#" + effect }

// TagsVersion is the version of the tags that the nightly job writes.
const TagsVersion = "tags-1"

// Limits and timers of the batch machines.
const (
	MaxBatch        = 1000              // ids in one batch
	MaxBatches      = 100               // batches of one execution
	BatchTimeout    = 300 * time.Second // of one call of nightly
	RedoTimeout     = 600 * time.Second // of one call of backfill
	RunLease        = 15 * time.Minute  // of a run's lease; each call renews it
	BatchRetries    = 4 * time.Minute   // all waits between the tries of one state, of calls that Lambda took
	MaxPause        = 4 * time.Minute   // between two calls of a run that waits for claims to run out
	ItemTime        = 45 * time.Second  // at most one item of tags takes; a call with less time left takes none
	ReportTime      = 130 * time.Second // the same for an item of which a report is made
	TextTime        = 90 * time.Second  // one model call of such an item
	WatchPeriod     = time.Minute
	NoProgressAlarm = 300 * time.Second // without progress, somebody must look
	NightlySettle   = 15 * time.Minute  // after midnight: the index of the day's ends is complete
)

// PrefixBatches starts the keys of batches.
const PrefixBatches = PrefixWork + "batches/"

// BatchKey is where the ids of batch n (from 0) of a run are.
func BatchKey(run string, n int) string { return fmt.Sprintf("%s%s/%04d.json", PrefixBatches, run, n) }

// RevisionPDFKey and RevisionJSONKey are where a revision of a delivered report
// is stored; the delivered one is never replaced. The number is the revision's,
// from 1: a call that is late writes under the number that it was given.
func RevisionPDFKey(analysisID string, attempt, number int, revision string) string {
	return fmt.Sprintf("%s%s/%d/rev-%d-%s/report.pdf", PrefixReports, analysisID, attempt, number, revision)
}

// RevisionJSONKey is the machine-readable report beside the PDF.
func RevisionJSONKey(analysisID string, attempt, number int, revision string) string {
	return fmt.Sprintf("%s%s/%d/rev-%d-%s/report.json", PrefixReports, analysisID, attempt, number, revision)
}

// RevisedResultKey is where a pose result that was measured again is stored.
func RevisedResultKey(analysisID string, attempt int, revision string) string {
	return fmt.Sprintf("%s%s/%d/rev-%s/result.json", PrefixWork, analysisID, attempt, revision)
}

// Steps of the batch functions.
const (
	StepPreflight = "preflight"
	StepOpen      = "open"
	StepWork      = "work"
	StepTally     = "tally"
	StepClose     = "close"
)

// BatchIn is the payload of backfill and nightly. Run is the execution's name,
// Started its start, Input what it was started with.
type BatchIn struct {
	Step    string          `json:"step"`
	Run     string          `json:"run"`
	Started string          `json:"started,omitempty"`
	Input   json.RawMessage `json:"input,omitempty"`
	Batch   string          `json:"batch,omitempty"`
}

// States of a batch machine's step.
const (
	BatchFree       = "free"       // nobody holds the effect
	BatchHeld       = "held"       // HeldBy does, since Since and until Until
	BatchOpen       = "open"       // this run does
	BatchMore       = "more"       // work is left; go on at Until
	BatchDone       = "done"       // no work is left
	BatchComplete   = "complete"   // the rows say that all is done
	BatchIncomplete = "incomplete" // the rows say that something is missing
)

// BatchOut is the answer of backfill and nightly. The counts are of rows: New
// were made by this run, Already were there.
type BatchOut struct {
	State    string   `json:"state"`
	HeldBy   string   `json:"held_by"`
	Since    string   `json:"since"`
	Until    string   `json:"until"`
	Batches  []string `json:"batches"`
	Begun    int      `json:"begun"` // batches begun and not ended, of any run of the effect
	Expected int      `json:"expected"`
	New      int      `json:"new"`
	Already  int      `json:"already"`
	Failed   int      `json:"failed"`
	Unknown  int      `json:"unknown"`
	Missing  int      `json:"missing"`
}

// EnvMachinePrefix is the ARN of state machines up to and with Prefix; a
// machine's name follows.
const EnvMachinePrefix = "STATE_MACHINES"

// EnvRender is the name or ARN of function render, for a backfill that makes
// revisions.
const EnvRender = "RENDER_FUNCTION"

// batchFunctions are the functions of the batch machines and of operators.
func batchFunctions() []Function {
	an, ef, ru, ta := Analyses.Env, Effects.Env, Runs.Env, Tags.Env
	ai := []string{an, ef, Usage.Env, EnvBucket, EnvParameters, ru, ta}
	return []Function{
		{Name: FnBackfill, Package: Zip, Timeout: RedoTimeout, MemoryMB: 1024, State: true, Machines: []string{MachineBackfill},
			Env: append([]string{Notices.Env, PoseJobs.Env, EnvRender}, ai...)},
		{Name: FnNightly, Package: Zip, Timeout: BatchTimeout, MemoryMB: 512, State: true, Machines: []string{MachineNightly}, Env: ai},
		{Name: FnWatch, Package: Zip, Timeout: 20 * time.Second, MemoryMB: 256, Every: WatchPeriod, Env: []string{ru}},
		{Name: FnOperator, Package: Zip, Timeout: 60 * time.Second, MemoryMB: 256,
			Env: []string{an, Credits.Env, ef, ru, Usage.Env, Prices.Env, Erasures.Env, EnvStateMachineARN, EnvMachinePrefix, PoseQueue.Env}},
	}
}

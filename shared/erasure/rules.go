package erasure

import "fastbowlinglab/shared/names"

// Rule says what becomes of a table's rows about an athlete when they ask to be
// deleted, and how they see them when they ask for what is held.
type Rule struct {
	Erased   Fate
	Why      string   // of what is kept
	Exported []string // members of the export that show it; none: why, in Unseen
	Unseen   string
}

// Fate is what a deletion does to rows.
type Fate string

// The fates.
const (
	Gone      Fate = "gone"      // deleted
	Renamed   Fate = "renamed"   // kept under a random pseudonym
	Anonymous Fate = "anonymous" // holds nobody's id, name or address
	Proof     Fate = "proof"     // the deletion itself
)

// Rules gives the rule of every table. A test plants rows in each of them, erases
// the athlete and exports them; a table without a rule fails it.
func Rules() map[string]Rule {
	return map[string]Rule{
		names.Analyses.Name: {Erased: Gone, Exported: []string{"analyses"}},
		names.PoseJobs.Name: {Erased: Gone, Exported: []string{"analyses.pose_job", "analyses.files"}},
		names.Notices.Name:  {Erased: Gone, Exported: []string{"analyses.notices"}},
		names.Tags.Name:     {Erased: Gone, Exported: []string{"analyses.tags"}},
		names.Athletes.Name: {Erased: Gone, Exported: []string{"me.channels"}},
		names.Runs.Name: {Erased: Gone,
			Unseen: "which run redid what; the results are among the files and the tags"},
		names.Effects.Name: {Erased: Gone,
			Why:    "what guards a payment stays, under the pseudonym: a later refund of it must find its credits. Marks of grants and events hold digests alone, of callbacks a message's id for minutes",
			Unseen: "what guards a call from being paid twice; the calls are shown"},
		names.Credits.Name: {Erased: Renamed, Why: "the audit must balance", Exported: []string{"balance", "ledger"}},
		names.Usage.Name:   {Erased: Renamed, Why: "what a day cost must stay what it was", Exported: []string{"analyses.model_calls"}},
		names.Suppressions.Name: {Erased: Anonymous, Why: "a digest keeps us from writing to somebody who complained",
			Exported: []string{"analyses.email_suppressed"}},
		names.Prices.Name:   {Erased: Anonymous, Unseen: "about models"},
		names.Erasures.Name: {Erased: Proof, Why: "a digest of the athlete id, dates and counts", Exported: []string{"me.erasure"}},
	}
}

package metric

// Names of the batch machines' metrics.
const (
	TagsMismatch         = "TagsMismatch"         // a row of tags is there that is not what it should be: a person must look
	SecondsSinceProgress = "SecondsSinceProgress" // of open runs of nightly and backfill; 0 when there is none. Dimension: effect
)

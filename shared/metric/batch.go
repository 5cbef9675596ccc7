package metric

// Names of the batch machines' metrics.
const (
	TagsMismatch         = "TagsMismatch"         // a row of tags is there that is not what it should be: a person must look
	TagsFailed           = "TagsFailed"           // an analysis cannot be tagged; counted when it is found, once
	SecondsSinceProgress = "SecondsSinceProgress" // of open runs of nightly and backfill; 0 when there is none. Dimension: effect
)

package names

// Table declares a DynamoDB table. All key attributes are strings.
type Table struct {
	Name         string // physical name
	Env          string // environment variable that carries the physical name
	PartitionKey string
	SortKey      string // "" for none
	Indexes      []Index
	Stream       bool   // NEW_IMAGE stream
	TTL          string // attribute (epoch seconds) after which a row may vanish; "" for never
}

// Index declares a global secondary index that projects ALL attributes.
// It is sparse: rows without its keys are not in it.
type Index struct {
	Name         string
	PartitionKey string
	SortKey      string
}

// The tables. Only rows of Effects may really vanish; the ledger never does.
var (
	Analyses = Table{
		Name: Prefix + "analyses", Env: "TABLE_ANALYSES", PartitionKey: "analysis_id",
		Indexes: []Index{
			{Name: IndexOpen, PartitionKey: "open", SortKey: "deadline"},
			{Name: IndexByAthlete, PartitionKey: "athlete_id", SortKey: "created_at"},
			{Name: IndexByEndDay, PartitionKey: "ended_day", SortKey: "ended_at"},
		},
	}
	Credits  = Table{Name: Prefix + "credits", Env: "TABLE_CREDITS", PartitionKey: "athlete_id", SortKey: "entry"}
	Effects  = Table{Name: Prefix + "effects", Env: "TABLE_EFFECTS", PartitionKey: "effect", TTL: "expires_at"}
	PoseJobs = Table{Name: Prefix + "pose-jobs", Env: "TABLE_POSE_JOBS", PartitionKey: "analysis_id"}
	Notices  = Table{
		Name: Prefix + "notices", Env: "TABLE_NOTICES", PartitionKey: "analysis_id", SortKey: "notice",
		Indexes: []Index{{Name: IndexUnsent, PartitionKey: "unsent", SortKey: "created_at"}},
		Stream:  true,
	}
	Usage = Table{
		Name: Prefix + "usage", Env: "TABLE_USAGE", PartitionKey: "analysis_id", SortKey: "call",
		Indexes: []Index{{Name: IndexByDay, PartitionKey: "day", SortKey: "at"}},
	}
	// Athletes holds what an athlete chose: the channels on which to be told.
	Athletes = Table{Name: Prefix + "athletes", Env: "TABLE_ATHLETES", PartitionKey: "athlete_id"}
	// Suppressions holds digests of addresses that no mail may go to.
	Suppressions = Table{Name: Prefix + "suppressions", Env: "TABLE_SUPPRESSIONS", PartitionKey: "address"}
	// Erasures holds the deletions that athletes asked for and, when they are done,
	// their proof. The key is a digest of the athlete id.
	Erasures = Table{
		Name: Prefix + "erasures", Env: "TABLE_ERASURES", PartitionKey: "erasure",
		Indexes: []Index{{Name: IndexOpen, PartitionKey: "open", SortKey: "requested_at"}},
		Stream:  true,
	}
	Prices = Table{Name: Prefix + "prices", Env: "TABLE_PRICES", PartitionKey: "model", SortKey: "from"}
)

// Names of the indexes above.
const (
	IndexOpen      = "open"       // open analyses by deadline; open erasures by request
	IndexByAthlete = "by-athlete" // an athlete's analyses by creation time
	IndexUnsent    = "unsent"     // notices not yet sent
	IndexByDay     = "by-day"     // model calls of a UTC day
)

// Tables lists every table.
func Tables() []Table {
	return []Table{Analyses, Credits, Effects, PoseJobs, Notices, Usage, Prices, Athletes, Suppressions, Erasures, Tags, Runs}
}

package apiclient

import "time"

// CreateRequest is the body of Create.
type CreateRequest struct {
	Athlete   Athlete   `json:"athlete"`
	Email     string    `json:"email,omitempty"`
	Push      bool      `json:"push,omitempty"`
	TimeZone  string    `json:"time_zone,omitempty"`
	Notes     string    `json:"notes,omitempty"`
	Consent   bool      `json:"consent"`
	ConsentBy ConsentBy `json:"consent_by,omitzero"`
	Clips     []Clip    `json:"clips"`
}

// Athlete is who is analysed.
type Athlete struct {
	Name     string `json:"name"`
	UnderAge bool   `json:"under_age,omitempty"`
}

// ConsentBy says who consents.
type ConsentBy struct {
	Role string `json:"role,omitempty"` // self or parent
	Name string `json:"name,omitempty"`
}

// Clip is a declared clip.
type Clip struct {
	Name      string `json:"name"`
	Type      string `json:"type"`
	SizeBytes int64  `json:"size_bytes"`
}

// Created is the answer of Create, Uploads and Rerun.
type Created struct {
	AnalysisID string   `json:"analysis_id"`
	Status     string   `json:"status"`
	Uploads    []Upload `json:"uploads"`
}

// Upload is a form: send its fields, then the file.
type Upload struct {
	Clip      int               `json:"clip"`
	URL       string            `json:"url"`
	Fields    map[string]string `json:"fields"`
	ExpiresAt time.Time         `json:"expires_at"`
}

// Standing is the answer of Confirm and Cancel.
type Standing struct {
	AnalysisID string `json:"analysis_id"`
	Status     string `json:"status"`
	Reason     string `json:"reason"`
}

// Analysis is an analysis's status.
type Analysis struct {
	AnalysisID   string     `json:"analysis_id"`
	Status       string     `json:"status"`
	Reason       string     `json:"reason"`
	Message      string     `json:"message"`
	Stage        string     `json:"stage"`
	Progress     *float64   `json:"progress"`
	EstimatedEnd *time.Time `json:"estimated_end"`
	Refunded     bool       `json:"refunded"`
	RerunOf      string     `json:"rerun_of"`
}

// Page is a page of analyses.
type Page struct {
	Analyses []Analysis `json:"analyses"`
	Next     string     `json:"next_cursor"`
}

// Report is where the newest report is, for minutes, and all that there are.
type Report struct {
	PDF       Link       `json:"report_pdf"`
	JSON      Link       `json:"report_json"`
	Pictures  []Link     `json:"pictures"`
	Revision  int        `json:"revision"` // 0 was delivered
	Changed   string     `json:"changed"`
	Revisions []Revision `json:"revisions"`
}

// Revision is one of the reports of an analysis.
type Revision struct {
	Number  int       `json:"number"`
	MadeAt  time.Time `json:"made_at"`
	Changed string    `json:"changed"`
	PDF     Link      `json:"report_pdf"`
	JSON    Link      `json:"report_json"`
}

// Link is a signed link.
type Link struct {
	URL       string    `json:"url"`
	ExpiresAt time.Time `json:"expires_at"`
}

// Ledger is the balance and a page of its history.
type Ledger struct {
	Balance int64   `json:"balance"`
	Entries []Entry `json:"entries"`
	Next    string  `json:"next_cursor"`
}

// Entry is one change of the balance.
type Entry struct {
	Entry      string    `json:"entry"`
	Kind       string    `json:"kind"`
	Credits    int64     `json:"credits"`
	AnalysisID string    `json:"analysis_id"`
	Reason     string    `json:"reason"`
	At         time.Time `json:"at"`
}

// Me is what an athlete chose.
type Me struct {
	AthleteID string   `json:"athlete_id"`
	Channels  Channels `json:"channels"`
	Erasure   *Erasure `json:"erasure"`
}

// Channels are the ways to be told.
type Channels struct {
	Email bool `json:"email"`
	Push  bool `json:"push"`
}

// Erasure tells how far a deletion is.
type Erasure struct {
	State       string     `json:"state"`
	RequestedAt time.Time  `json:"requested_at"`
	FinishedAt  *time.Time `json:"finished_at"`
}

// GrantRequest is the body of Grant.
type GrantRequest struct {
	AthleteID string `json:"athlete_id"`
	Credits   int64  `json:"credits"`
	Reason    string `json:"reason"`
}

// Granted is the answer of Grant.
type Granted struct {
	AthleteID string `json:"athlete_id"`
	Entry     Entry  `json:"entry"`
}

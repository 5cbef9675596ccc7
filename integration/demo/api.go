package demo

import "fastbowlinglab/shared/credit"

// What the API says, as far as the demo reads it.

type createRequest struct {
	Athlete  person        `json:"athlete"`
	Email    string        `json:"email"`
	TimeZone string        `json:"time_zone"`
	Notes    string        `json:"notes"`
	Consent  bool          `json:"consent"`
	Clips    []clipRequest `json:"clips"`
}

type person struct {
	Name string `json:"name"`
}

type clipRequest struct {
	Name      string `json:"name"`
	Type      string `json:"type"`
	SizeBytes int64  `json:"size_bytes"`
}

type created struct {
	AnalysisID string   `json:"analysis_id"`
	Status     string   `json:"status"`
	Uploads    []upload `json:"uploads"`
}

// upload is a presigned POST.
type upload struct {
	Clip   int               `json:"clip"`
	URL    string            `json:"url"`
	Fields map[string]string `json:"fields"`
}

// view is an analysis as the status route shows it.
type view struct {
	AnalysisID string   `json:"analysis_id"`
	Status     string   `json:"status"`
	Reason     string   `json:"reason"`
	Message    string   `json:"message"`
	Stage      string   `json:"stage"`
	Progress   *float64 `json:"progress"` // 0 to 1; nil while nobody can tell
	Attempt    int      `json:"attempt"`
}

func (v view) fraction() float64 {
	if v.Progress == nil {
		return 0
	}
	return *v.Progress
}

type reportLinks struct {
	PDF  link `json:"report_pdf"`
	JSON link `json:"report_json"`
}

type link struct {
	URL string `json:"url"`
}

type ledger struct {
	Balance int64          `json:"balance"`
	Entries []credit.Entry `json:"entries"`
}

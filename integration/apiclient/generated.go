// Code generated from the API's OpenAPI document by go test -run Generated -update; DO NOT EDIT.

package apiclient

import (
	"context"
	"net/http"
	"net/url"
	"time"
)

// Bill is the document's Bill.
type Bill struct {
	Calls    []Line  `json:"calls"`
	Groups   []Group `json:"groups"`
	More     bool    `json:"more"`
	TotalUSD string  `json:"total_usd"`
	Unpriced int64   `json:"unpriced"`
}

// Channels is the document's Channels.
type Channels struct {
	Email bool `json:"email"`
	Push  bool `json:"push"`
}

// Clip is the document's Clip.
type Clip struct {
	Name      string `json:"name"`
	SizeBytes int64  `json:"size_bytes"`
	Type      string `json:"type"`
}

// Consent is the document's Consent.
type Consent struct {
	At       time.Time `json:"at"`
	Name     string    `json:"name"`
	Role     string    `json:"role"`
	UnderAge bool      `json:"under_age"`
}

// Entry is the document's Entry.
type Entry struct {
	AnalysisID string    `json:"analysis_id"`
	At         time.Time `json:"at"`
	Credits    int64     `json:"credits"`
	Entry      string    `json:"entry"`
	Kind       string    `json:"kind"`
	Reason     string    `json:"reason"`
}

// Group is the document's Group.
type Group struct {
	Calls    int64  `json:"calls"`
	Model    string `json:"model"`
	Task     string `json:"task"`
	Tokens   Tokens `json:"tokens"`
	TotalUSD string `json:"total_usd"`
	Unpriced int64  `json:"unpriced"`
}

// Line is the document's Line.
type Line struct {
	AnalysisID    string    `json:"analysis_id"`
	At            time.Time `json:"at"`
	Attempt       int64     `json:"attempt"`
	CostUSD       *string   `json:"cost_usd"`
	Detail        string    `json:"detail"`
	DurationMS    int64     `json:"duration_ms"`
	Error         string    `json:"error"`
	Model         string    `json:"model"`
	Outcome       string    `json:"outcome"`
	PromptVersion string    `json:"prompt_version"`
	Provider      string    `json:"provider"`
	Task          string    `json:"task"`
	Throttled     int64     `json:"throttled"`
	Tokens        Tokens    `json:"tokens"`
	Try           int64     `json:"try"`
}

// Removed is the document's Removed.
type Removed struct {
	Analyses int64 `json:"analyses"`
	Entries  int64 `json:"entries"`
	Objects  int64 `json:"objects"`
	Rows     int64 `json:"rows"`
}

// Tokens is the document's Tokens.
type Tokens struct {
	CacheRead  *int64 `json:"cache_read"`
	CacheWrite *int64 `json:"cache_write"`
	Input      *int64 `json:"input"`
	Output     *int64 `json:"output"`
}

// Athlete is the document's athleteIn.
type Athlete struct {
	Name     string `json:"name,omitzero"`
	UnderAge bool   `json:"under_age,omitzero"`
}

// NewClip is the document's clipIn.
type NewClip struct {
	Name      string `json:"name,omitzero"`
	SizeBytes int64  `json:"size_bytes,omitzero"`
	Type      string `json:"type,omitzero"`
}

// ConsentBy is the document's consentIn.
type ConsentBy struct {
	Name string `json:"name,omitzero"`
	Role string `json:"role,omitzero"`
}

// CreateRequest is the document's createIn.
type CreateRequest struct {
	Athlete   Athlete   `json:"athlete,omitzero"`
	Clips     []NewClip `json:"clips"`
	Consent   bool      `json:"consent"`
	ConsentBy ConsentBy `json:"consent_by,omitzero"`
	Email     string    `json:"email,omitzero"`
	Notes     string    `json:"notes,omitzero"`
	Push      bool      `json:"push,omitzero"`
	TimeZone  string    `json:"time_zone,omitzero"`
}

// Created is the document's created.
type Created struct {
	AnalysisID string   `json:"analysis_id"`
	Status     string   `json:"status"`
	Uploads    []Upload `json:"uploads"`
}

// Ledger is the document's creditsOut.
type Ledger struct {
	Balance    int64   `json:"balance"`
	Entries    []Entry `json:"entries"`
	NextCursor string  `json:"next_cursor"`
}

// Erasure is the document's erasureOut.
type Erasure struct {
	FinishedAt  *time.Time `json:"finished_at"`
	Removed     Removed    `json:"removed"`
	RequestedAt time.Time  `json:"requested_at"`
	State       string     `json:"state"`
}

// ExportAnalysis is the document's exportAnalysis.
type ExportAnalysis struct {
	AnalysisID      string            `json:"analysis_id"`
	AthleteName     string            `json:"athlete_name"`
	Attempt         int64             `json:"attempt"`
	ClaimedAt       *time.Time        `json:"claimed_at"`
	Clips           []Clip            `json:"clips"`
	Consent         bool              `json:"consent"`
	ConsentBy       *Consent          `json:"consent_by"`
	CreatedAt       time.Time         `json:"created_at"`
	Deadline        *time.Time        `json:"deadline"`
	Email           string            `json:"email"`
	EmailSuppressed string            `json:"email_suppressed"`
	EndedAt         *time.Time        `json:"ended_at"`
	EstimatedEnd    *time.Time        `json:"estimated_end"`
	Files           []File            `json:"files"`
	Flags           map[string]string `json:"flags"`
	Message         string            `json:"message"`
	ModelCalls      []ExportCall      `json:"model_calls"`
	MoreFiles       bool              `json:"more_files"`
	Notes           string            `json:"notes"`
	Notices         []ExportNotice    `json:"notices"`
	PoseJob         *ExportJob        `json:"pose_job"`
	Progress        *float64          `json:"progress"`
	Push            bool              `json:"push"`
	QueuedAt        *time.Time        `json:"queued_at"`
	Reason          string            `json:"reason"`
	Refunded        bool              `json:"refunded"`
	RerunOf         string            `json:"rerun_of"`
	Stage           string            `json:"stage"`
	StartedAt       *time.Time        `json:"started_at"`
	Status          string            `json:"status"`
	Tags            []ExportTags      `json:"tags"`
	TimeZone        string            `json:"time_zone"`
}

// ExportCall is the document's exportCall.
type ExportCall struct {
	At       time.Time `json:"at"`
	Model    string    `json:"model"`
	Outcome  string    `json:"outcome"`
	Provider string    `json:"provider"`
	Task     string    `json:"task"`
}

// ExportJob is the document's exportJob.
type ExportJob struct {
	Attempt     int64     `json:"attempt"`
	Checkpoints int64     `json:"checkpoints"`
	CreatedAt   time.Time `json:"created_at"`
	Model       string    `json:"model"`
	Part        float64   `json:"part"`
	State       string    `json:"state"`
}

// ExportNotice is the document's exportNotice.
type ExportNotice struct {
	Channel string     `json:"channel"`
	Kind    string     `json:"kind"`
	SentAt  *time.Time `json:"sent_at"`
	State   string     `json:"state"`
}

// Export is the document's exportOut.
type Export struct {
	Analyses   []ExportAnalysis `json:"analyses"`
	Balance    int64            `json:"balance"`
	Ledger     []Entry          `json:"ledger"`
	Me         Me               `json:"me"`
	NextCursor string           `json:"next_cursor"`
}

// ExportTags is the document's exportTags.
type ExportTags struct {
	ActionType string    `json:"action_type"`
	Arm        string    `json:"arm"`
	Flags      []string  `json:"flags"`
	Version    string    `json:"version"`
	WrittenAt  time.Time `json:"written_at"`
}

// File is the document's file.
type File struct {
	ExpiresAt time.Time `json:"expires_at"`
	Name      string    `json:"name"`
	SizeBytes int64     `json:"size_bytes"`
	URL       string    `json:"url"`
}

// GrantRequest is the document's grantIn.
type GrantRequest struct {
	AthleteID string `json:"athlete_id"`
	Credits   int64  `json:"credits"`
	Reason    string `json:"reason"`
}

// Granted is the document's grantOut.
type Granted struct {
	AthleteID string `json:"athlete_id"`
	Entry     Entry  `json:"entry"`
}

// Link is the document's link.
type Link struct {
	ExpiresAt time.Time `json:"expires_at"`
	URL       string    `json:"url"`
}

// Page is the document's listOut.
type Page struct {
	Analyses   []Analysis `json:"analyses"`
	NextCursor string     `json:"next_cursor"`
}

// Choice is the document's meIn.
type Choice struct {
	Channels ChosenChannels `json:"channels"`
	Version  int64          `json:"version"`
}

// ChosenChannels is the document's meInChannels.
type ChosenChannels struct {
	Email bool `json:"email"`
	Push  bool `json:"push"`
}

// Me is the document's meOut.
type Me struct {
	AthleteID string   `json:"athlete_id"`
	Channels  Channels `json:"channels"`
	Erasure   *Erasure `json:"erasure"`
	Version   int64    `json:"version"`
}

// PaymentIn is the document's paymentIn.
type PaymentIn struct {
	AthleteID string `json:"athlete_id"`
	Credits   int64  `json:"credits"`
	PaymentID string `json:"payment_id"`
	Type      string `json:"type"`
}

// PaymentOut is the document's paymentOut.
type PaymentOut struct {
	EventID   string `json:"event_id"`
	PaymentID string `json:"payment_id"`
}

// Picture is the document's picture.
type Picture struct {
	Clip      int64     `json:"clip"`
	ExpiresAt time.Time `json:"expires_at"`
	Phase     string    `json:"phase"`
	URL       string    `json:"url"`
}

// Problem is the document's problem.
type Problem struct {
	Code   string `json:"code"`
	Detail string `json:"detail"`
	Status int64  `json:"status"`
	Title  string `json:"title"`
	Type   string `json:"type"`
}

// Report is the document's reportOut.
type Report struct {
	Changed    string     `json:"changed"`
	Pictures   []Picture  `json:"pictures"`
	ReportJSON Link       `json:"report_json"`
	ReportPDF  Link       `json:"report_pdf"`
	Revision   int64      `json:"revision"`
	Revisions  []Revision `json:"revisions"`
}

// Revision is the document's revision.
type Revision struct {
	Changed    string    `json:"changed"`
	MadeAt     time.Time `json:"made_at"`
	Number     int64     `json:"number"`
	ReportJSON Link      `json:"report_json"`
	ReportPDF  Link      `json:"report_pdf"`
}

// Standing is the document's standing.
type Standing struct {
	AnalysisID string `json:"analysis_id"`
	Reason     string `json:"reason"`
	Status     string `json:"status"`
}

// Upload is the document's upload.
type Upload struct {
	Clip      int64             `json:"clip"`
	ExpiresAt time.Time         `json:"expires_at"`
	Fields    map[string]string `json:"fields"`
	URL       string            `json:"url"`
}

// Analysis is the document's view.
type Analysis struct {
	AnalysisID   string     `json:"analysis_id"`
	Attempt      int64      `json:"attempt"`
	Clips        []Clip     `json:"clips"`
	ConsentBy    *Consent   `json:"consent_by"`
	CreatedAt    time.Time  `json:"created_at"`
	Deadline     *time.Time `json:"deadline"`
	EndedAt      *time.Time `json:"ended_at"`
	EstimatedEnd *time.Time `json:"estimated_end"`
	Message      string     `json:"message"`
	Progress     *float64   `json:"progress"`
	QueuedAt     *time.Time `json:"queued_at"`
	Reason       string     `json:"reason"`
	Refunded     bool       `json:"refunded"`
	RerunOf      string     `json:"rerun_of"`
	Stage        string     `json:"stage"`
	Status       string     `json:"status"`
}

// List is GET /v1/analyses. List the caller's analyses, newest first.
func (c *Client) List(ctx context.Context, limit int64, cursor string) (out Page, err error) {
	return out, c.call(ctx, request{http.MethodGet, "/v1/analyses", map[string]string{"limit": text(limit), "cursor": text(cursor)}, "", ""}, nil, &out)
}

// ListSince is List for who has seen the answer with a tag; out is empty when it is still the same.
func (c *Client) ListSince(ctx context.Context, limit int64, cursor string, tag string) (out Page, seen Seen, err error) {
	return tagged[Page](c, ctx, request{http.MethodGet, "/v1/analyses", map[string]string{"limit": text(limit), "cursor": text(cursor)}, "", tag})
}

// Create is POST /v1/analyses. Reserve a credit for an analysis and get an upload form for each clip. Repeated with the same key and body it returns the same analysis, however late, with its status of now.
func (c *Client) Create(ctx context.Context, key string, in CreateRequest) (out Created, err error) {
	return out, c.call(ctx, request{http.MethodPost, "/v1/analyses", nil, key, ""}, in, &out)
}

// Show is GET /v1/analyses/{analysis_id}. Status with stage, progress and estimate; made for polling with If-None-Match.
func (c *Client) Show(ctx context.Context, id string) (out Analysis, err error) {
	return out, c.call(ctx, request{http.MethodGet, "/v1/analyses/" + url.PathEscape(id), nil, "", ""}, nil, &out)
}

// ShowSince is Show for who has seen the answer with a tag; out is empty when it is still the same.
func (c *Client) ShowSince(ctx context.Context, id string, tag string) (out Analysis, seen Seen, err error) {
	return tagged[Analysis](c, ctx, request{http.MethodGet, "/v1/analyses/" + url.PathEscape(id), nil, "", tag})
}

// Cancel is POST /v1/analyses/{analysis_id}/cancel. End an analysis that no worker has claimed, with a refund.
func (c *Client) Cancel(ctx context.Context, id string, key string) (out Standing, err error) {
	return out, c.call(ctx, request{http.MethodPost, "/v1/analyses/" + url.PathEscape(id) + "/cancel", nil, key, ""}, nil, &out)
}

// Confirm is POST /v1/analyses/{analysis_id}/confirm. Pin the uploaded clips and start the analysis. Repeated, it finds what it did and answers the same: queued, whatever came of it since.
func (c *Client) Confirm(ctx context.Context, id string, key string) (out Standing, err error) {
	return out, c.call(ctx, request{http.MethodPost, "/v1/analyses/" + url.PathEscape(id) + "/confirm", nil, key, ""}, nil, &out)
}

// Report is GET /v1/analyses/{analysis_id}/report. Links to the report and its pictures, signed now, good for minutes: the newest one, with its number, and each that there is. Revision 0 was delivered; a later one stands beside it and is free.
func (c *Client) Report(ctx context.Context, id string) (out Report, err error) {
	return out, c.call(ctx, request{http.MethodGet, "/v1/analyses/" + url.PathEscape(id) + "/report", nil, "", ""}, nil, &out)
}

// Rerun is POST /v1/analyses/{analysis_id}/rerun. Analyse the same clips once more, as a new analysis with its own credit.
func (c *Client) Rerun(ctx context.Context, id string, key string) (out Created, err error) {
	return out, c.call(ctx, request{http.MethodPost, "/v1/analyses/" + url.PathEscape(id) + "/rerun", nil, key, ""}, nil, &out)
}

// Uploads is POST /v1/analyses/{analysis_id}/uploads. Sign fresh upload forms for the same keys.
func (c *Client) Uploads(ctx context.Context, id string, key string) (out Created, err error) {
	return out, c.call(ctx, request{http.MethodPost, "/v1/analyses/" + url.PathEscape(id) + "/uploads", nil, key, ""}, nil, &out)
}

// Credits is GET /v1/credits. Balance and history, newest first.
func (c *Client) Credits(ctx context.Context, limit int64, cursor string) (out Ledger, err error) {
	return out, c.call(ctx, request{http.MethodGet, "/v1/credits", map[string]string{"limit": text(limit), "cursor": text(cursor)}, "", ""}, nil, &out)
}

// CreditsSince is Credits for who has seen the answer with a tag; out is empty when it is still the same.
func (c *Client) CreditsSince(ctx context.Context, limit int64, cursor string, tag string) (out Ledger, seen Seen, err error) {
	return tagged[Ledger](c, ctx, request{http.MethodGet, "/v1/credits", map[string]string{"limit": text(limit), "cursor": text(cursor)}, "", tag})
}

// Erase is DELETE /v1/me. Ask for the deletion of everything held about the caller. It goes within minutes; the proof is there when no upload form can be good any more, after hours. GET /v1/me tells how far it is.
func (c *Client) Erase(ctx context.Context) (out Erasure, err error) {
	return out, c.call(ctx, request{http.MethodDelete, "/v1/me", nil, "", ""}, nil, &out)
}

// Me is GET /v1/me. What the caller chose, and how far a deletion is.
func (c *Client) Me(ctx context.Context) (out Me, err error) {
	return out, c.call(ctx, request{http.MethodGet, "/v1/me", nil, "", ""}, nil, &out)
}

// MeSince is Me for who has seen the answer with a tag; out is empty when it is still the same.
func (c *Client) MeSince(ctx context.Context, tag string) (out Me, seen Seen, err error) {
	return tagged[Me](c, ctx, request{http.MethodGet, "/v1/me", nil, "", tag})
}

// Choose is PUT /v1/me. Choose the channels on which to be told, from what GET /v1/me showed at that version. A choice without a version, as apps of before there were versions send it, only declines: it turns off what it declines and nothing on, and is answered 409 channels_changed unless it is what stands afterwards.
func (c *Client) Choose(ctx context.Context, in Choice) (out Me, err error) {
	return out, c.call(ctx, request{http.MethodPut, "/v1/me", nil, "", ""}, in, &out)
}

// Export is GET /v1/me/export. Everything held about the caller, a few analyses at a time, with links to every file.
func (c *Client) Export(ctx context.Context, cursor string) (out Export, err error) {
	return out, c.call(ctx, request{http.MethodGet, "/v1/me/export", map[string]string{"cursor": text(cursor)}, "", ""}, nil, &out)
}

// GetOpenapi is GET /v1/openapi.json. This document.
func (c *Client) GetOpenapi(ctx context.Context) (out any, err error) {
	return out, c.call(ctx, request{http.MethodGet, "/v1/openapi.json", nil, "", ""}, nil, &out)
}

// GetOpenapiSince is GetOpenapi for who has seen the answer with a tag; out is empty when it is still the same.
func (c *Client) GetOpenapiSince(ctx context.Context, tag string) (out any, seen Seen, err error) {
	return tagged[any](c, ctx, request{http.MethodGet, "/v1/openapi.json", nil, "", tag})
}

// Grant is POST /v1/operator/grants. Give an athlete credits, with a reason that stays in the ledger.
func (c *Client) Grant(ctx context.Context, key string, in GrantRequest) (out Granted, err error) {
	return out, c.call(ctx, request{http.MethodPost, "/v1/operator/grants", nil, key, ""}, in, &out)
}

// Usage is GET /v1/usage. Model calls with tokens and cost, of an analysis or of a day.
func (c *Client) Usage(ctx context.Context, analysisID string, day string, task string, model string) (out Bill, err error) {
	return out, c.call(ctx, request{http.MethodGet, "/v1/usage", map[string]string{"analysis_id": text(analysisID), "day": text(day), "task": text(task), "model": text(model)}, "", ""}, nil, &out)
}

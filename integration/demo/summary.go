package demo

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/credit"
	"fastbowlinglab/shared/outbox"
	"fastbowlinglab/shared/reason"
	"fastbowlinglab/shared/usage"
)

// Summary is what there is to say about an analysis.
type Summary struct {
	Clip       string
	AnalysisID string
	Status     string
	Reason     string // code, "" for a report
	Message    string // the sentence that goes with it
	Replayed   bool   // it had its end before this run
	ReportPDF  string // paths
	ReportJSON string
	Balance    int64
	Entries    []credit.Entry
	Notices    []outbox.Notice
	Bill       usage.Bill
	Seconds    float64       // from the first request to the end as seen here
	Total      time.Duration // what the stages and the time between them add up to
	Timeline   Timeline
}

// Fault says so where the analysis ended by a fault of ours: the athlete has the
// credit back, and whoever runs this has something to mend. A refusal of the
// clip is no fault.
func (s Summary) Fault() error {
	if s.Status != string(analysis.Failed) || !reason.Code(s.Reason).Ours() {
		return nil
	}
	return fmt.Errorf("%s ended by a fault of ours, %s, and was refunded", s.AnalysisID, s.Reason)
}

// Print writes the summary for people.
func (s Summary) Print(w io.Writer, paint bool) {
	p := &printer{w: w, style: style(paint)}
	p.end(s)
	p.ledger(s)
	p.notices(s)
	p.models(s)
	p.times(s)
	p.line("")
}

type printer struct {
	w io.Writer
	style
}

func (p *printer) line(format string, a ...any) {
	fmt.Fprintln(p.w, strings.TrimRight(fmt.Sprintf(format, a...), " "))
}

func (p *printer) head(text, more string) {
	p.line("")
	p.line("  %s  %s", p.bold(text), p.dim(more))
}

func (p *printer) end(s Summary) {
	p.line("")
	took := fmt.Sprintf("in %.1f s", s.Seconds)
	if s.Replayed {
		took = "as before"
	}
	word := strings.ToUpper(s.Status[:min(1, len(s.Status))]) + s.Status[min(1, len(s.Status)):]
	switch st := analysis.Status(s.Status); {
	case st == analysis.Ready:
		p.line("  %s %s   %s", p.green(word), took, p.dim(s.AnalysisID))
		p.line("  %s", s.ReportPDF)
		p.line("  %s", s.ReportJSON)
	case st.Ended():
		said := s.Message
		if said == "" {
			said = reason.Code(s.Reason).Sentence()
		}
		p.line("  %s %s   %s", p.red(word), took, p.dim(s.AnalysisID))
		p.line("  %s  %s", said, p.dim(s.Reason))
	default:
		p.line("  %s, no end yet   %s", word, p.dim(s.AnalysisID))
	}
}

func (p *printer) ledger(s Summary) {
	if len(s.Entries) == 0 {
		return
	}
	p.head("Ledger", fmt.Sprintf("balance %d", s.Balance))
	for _, e := range s.Entries {
		p.line("    %-10s %+d   %s", e.Kind, e.Credits, p.dim(e.At.UTC().Format("2006-01-02 15:04:05 UTC")))
	}
}

func (p *printer) notices(s Summary) {
	if len(s.Notices) == 0 {
		return
	}
	p.head("Notices", "")
	for _, n := range s.Notices {
		p.line("    %-10s by %s   %s", n.Kind, n.Channel, n.State)
	}
}

func (p *printer) models(s Summary) {
	if len(s.Bill.Lines) == 0 {
		return
	}
	total := "$" + s.Bill.TotalUSD
	if s.Bill.Unpriced > 0 {
		total += fmt.Sprintf(" and %d calls whose cost is not known", s.Bill.Unpriced)
	}
	p.head("Model calls", total)
	for _, c := range s.Bill.Lines {
		cost := "cost not known"
		if c.CostUSD != nil {
			cost = "$" + *c.CostUSD
		}
		p.line("    %-10s %-24s %7s in %7s out   %s", c.Task, c.Model, tokens(c.Tokens.Input), tokens(c.Tokens.Output), p.dim(cost))
	}
}

func (p *printer) times(s Summary) {
	if len(s.Timeline.Stages) == 0 || s.Total <= 0 {
		return
	}
	p.head("Where the time went", fmt.Sprintf("%.1f s", s.Total.Seconds()))
	line := func(name string, d time.Duration, note string) {
		share := float64(d) / float64(s.Total)
		p.line("    %-*s%s  %s%s", labelWidth, name, seconds(d), p.share(share), note)
	}
	for _, st := range s.Timeline.Stages {
		note := ""
		if st.Tries > 1 {
			note = p.dim("  " + tries(st.Tries))
		}
		line(label(st.Name), st.Took, note)
	}
	line("between stages", s.Timeline.Between(s.Total), "")
	p.line("    %s", p.dim(fmt.Sprintf("outside the stages' own work: %.1f %%", 100*s.Timeline.Outside(s.Total))))
}

// share is a bar as long as its part of the whole, in eighths of a column.
func (p *printer) share(f float64) string {
	eighths := int(math.Round(min(max(f, 0), 1) * barWidth * 8))
	bar := strings.Repeat("█", eighths/8)
	if r := eighths % 8; r > 0 {
		bar += string([]rune("▏▎▍▌▋▊▉")[r-1])
	}
	return p.cyan(bar)
}

func tokens(n *int64) string {
	if n == nil {
		return "unknown"
	}
	return strconv.FormatInt(*n, 10)
}

// cost is the total as a JSON number, null when a part of it is not known.
func (s Summary) cost() json.RawMessage {
	if _, err := strconv.ParseFloat(s.Bill.TotalUSD, 64); err != nil || s.Bill.Unpriced > 0 {
		return json.RawMessage("null")
	}
	return json.RawMessage(s.Bill.TotalUSD)
}

// between is the key of what belongs to no stage in the JSON line.
const between = "between"

// MarshalJSON gives the one line at the end: everything a script wants to know.
// notices and model_calls are counts; stages are seconds by stage, in order, and
// together with "queue" (the wait for a worker) "between" is nobody's work.
func (s Summary) MarshalJSON() ([]byte, error) {
	entries := s.Entries
	if entries == nil {
		entries = []credit.Entry{}
	}
	stages := &bytes.Buffer{}
	stages.WriteByte('{')
	for _, st := range s.Timeline.Stages {
		fmt.Fprintf(stages, "%q:%.3f,", st.Name, st.Took.Seconds())
	}
	fmt.Fprintf(stages, "%q:%.3f}", between, s.Timeline.Between(s.Total).Seconds())
	return json.Marshal(struct {
		AnalysisID string          `json:"analysis_id"`
		Status     string          `json:"status"`
		Reason     string          `json:"reason"`
		ReportPDF  string          `json:"report_pdf"`
		ReportJSON string          `json:"report_json"`
		Entries    []credit.Entry  `json:"entries"`
		Notices    int             `json:"notices"`
		ModelCalls int             `json:"model_calls"`
		CostUSD    json.RawMessage `json:"cost_usd"`
		Seconds    float64         `json:"seconds"`
		Stages     json.RawMessage `json:"stages"`
	}{s.AnalysisID, s.Status, s.Reason, s.ReportPDF, s.ReportJSON, entries, len(s.Notices), len(s.Bill.Lines), s.cost(),
		math.Round(s.Seconds*1000) / 1000, stages.Bytes()})
}

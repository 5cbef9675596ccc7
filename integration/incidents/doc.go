// Package incidents plays the three incidents that shaped the system, in virtual
// time, with its guards switched off, so that the incident appears, and on, so
// that it cannot. `make incidents` prints the table and the same as JSON lines.
//
//	A  one analysis, five paid runs    (five executions, a load balancer that cuts at 60 s)
//	B  two of me                       (a driver killed, its worker alive, another started)
//	C  every row twice                 (a run reclaimed at item 118 of 200 and restarted)
//
// A runs the real definition, handlers and database of integration/virtual; B and
// C run small drivers over shared/lease, shared/budget and shared/txn, since the
// batch programs of the product are another matter.
package incidents

// Row is one line of the table. What an incident does not have is 0.
type Row struct {
	Incident   string `json:"incident"`
	Guards     string `json:"guards"` // on, off
	ModelCalls int    `json:"model_calls"`
	Ends       int    `json:"ends"`
	Refunds    int    `json:"refunds"`
	Notices    int    `json:"notices"`
	PeakPerS   int    `json:"peak_per_s"`
	Rows       int    `json:"rows"`
	Note       string `json:"note"`
}

// word says how the guards are.
func word(guards bool) string {
	if guards {
		return "on"
	}
	return "off"
}

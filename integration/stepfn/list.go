package stepfn

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// pageSize checks maxResults; 0 means the default of 100.
func pageSize(n int) (int, error) {
	switch {
	case n < 0 || n > 1000:
		return 0, apiErr(CodeValidation, "maxResults must be from 0 to 1000")
	case n == 0:
		return 100, nil
	}
	return n, nil
}

// A page's token holds the number at which the next page starts.
func pageToken(kind string, n int) string {
	return base64.StdEncoding.EncodeToString(fmt.Appendf(nil, "%s:%d", kind, n))
}

func readPageToken(kind, token string, first int) (int, error) {
	if token == "" {
		return first, nil
	}
	b, err := base64.StdEncoding.DecodeString(token)
	text, ok := strings.CutPrefix(string(b), kind+":")
	n, convErr := strconv.Atoi(text)
	if err != nil || !ok || convErr != nil || n < 0 {
		return 0, apiErr(CodeInvalidToken, "Invalid Token: 'nextToken'")
	}
	return n, nil
}

// ListStateMachinesInput is the input of ListStateMachines.
type ListStateMachinesInput struct {
	MaxResults int    `json:"maxResults"`
	NextToken  string `json:"nextToken"`
}

// ListStateMachinesOutput is the output of ListStateMachines.
type ListStateMachinesOutput struct {
	StateMachines []StateMachineItem `json:"stateMachines"`
	NextToken     string             `json:"nextToken,omitempty"`
}

// StateMachineItem is one line of ListStateMachines.
type StateMachineItem struct {
	StateMachineARN string `json:"stateMachineArn"`
	Name            string `json:"name"`
	Type            string `json:"type"`
	CreationDate    Time   `json:"creationDate"`
}

// ListStateMachines lists state machines in the order of their creation. Errors:
// InvalidToken, ValidationException.
func (e *Engine) ListStateMachines(in ListStateMachinesInput) (ListStateMachinesOutput, error) {
	out := ListStateMachinesOutput{StateMachines: []StateMachineItem{}}
	size, err := pageSize(in.MaxResults)
	if err != nil {
		return out, err
	}
	from, err := readPageToken("machine", in.NextToken, 0)
	if err != nil {
		return out, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	for i := from; i < len(e.order); i++ {
		if len(out.StateMachines) == size {
			out.NextToken = pageToken("machine", i)
			break
		}
		m := e.order[i]
		out.StateMachines = append(out.StateMachines, StateMachineItem{m.arn, m.name, "STANDARD", Time{m.created}})
	}
	return out, nil
}

// ListExecutionsInput is the input of ListExecutions.
type ListExecutionsInput struct {
	StateMachineARN string `json:"stateMachineArn"`
	StatusFilter    Status `json:"statusFilter"`
	MaxResults      int    `json:"maxResults"`
	NextToken       string `json:"nextToken"`
}

// ListExecutionsOutput is the output of ListExecutions.
type ListExecutionsOutput struct {
	Executions []ExecutionItem `json:"executions"`
	NextToken  string          `json:"nextToken,omitempty"`
}

// ExecutionItem is one line of ListExecutions.
type ExecutionItem struct {
	ExecutionARN    string `json:"executionArn"`
	StateMachineARN string `json:"stateMachineArn"`
	Name            string `json:"name"`
	Status          Status `json:"status"`
	StartDate       Time   `json:"startDate"`
	StopDate        *Time  `json:"stopDate,omitempty"`
	RedriveCount    int    `json:"redriveCount"`
	RedriveDate     *Time  `json:"redriveDate,omitempty"`
	origin
}

// ListExecutions lists the executions of a state machine, or those that were started
// by a version or an alias of it, the latest first. Errors:
// InvalidArn, InvalidToken, StateMachineDoesNotExist, ValidationException.
func (e *Engine) ListExecutions(in ListExecutionsInput) (ListExecutionsOutput, error) {
	out := ListExecutionsOutput{Executions: []ExecutionItem{}}
	size, err := pageSize(in.MaxResults)
	if err != nil {
		return out, err
	}
	if in.StateMachineARN == "" {
		return out, apiErr(CodeValidation, "stateMachineArn is missing")
	}
	known := []Status{"", Running, Succeeded, Failed, TimedOut, Aborted}
	if !slices.Contains(known, in.StatusFilter) {
		return out, apiErr(CodeValidation, "statusFilter %q is no status of an execution", in.StatusFilter)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	m, _, _, err := e.resolve(in.StateMachineARN, "")
	if err != nil {
		return out, err
	}
	from, err := readPageToken("execution", in.NextToken, len(m.executions)-1)
	if err != nil {
		return out, err
	}
	for i := min(from, len(m.executions)-1); i >= 0; i-- {
		x := m.executions[i]
		if in.StatusFilter != "" && x.status != in.StatusFilter || !x.origin.by(in.StateMachineARN) {
			continue
		}
		if len(out.Executions) == size {
			out.NextToken = pageToken("execution", i)
			break
		}
		item := ExecutionItem{x.arn, m.arn, x.name, x.status, Time{x.start}, nil, x.drives.count, x.drives.date(), x.origin}
		if x.status != Running {
			item.StopDate = &Time{x.stop}
		}
		out.Executions = append(out.Executions, item)
	}
	return out, nil
}

// GetExecutionHistoryInput is the input of GetExecutionHistory.
type GetExecutionHistoryInput struct {
	ExecutionARN         string `json:"executionArn"`
	MaxResults           int    `json:"maxResults"`
	ReverseOrder         bool   `json:"reverseOrder"`
	NextToken            string `json:"nextToken"`
	IncludeExecutionData *bool  `json:"includeExecutionData"` // nil: true
}

// GetExecutionHistoryOutput is the output of GetExecutionHistory.
type GetExecutionHistoryOutput struct {
	Events    []Event `json:"events"`
	NextToken string  `json:"nextToken,omitempty"`
}

// GetExecutionHistory gives an execution's events, the oldest first unless
// ReverseOrder. Errors: ExecutionDoesNotExist, InvalidArn, InvalidToken,
// ValidationException.
func (e *Engine) GetExecutionHistory(in GetExecutionHistoryInput) (GetExecutionHistoryOutput, error) {
	out := GetExecutionHistoryOutput{Events: []Event{}}
	size, err := pageSize(in.MaxResults)
	if err != nil {
		return out, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	x, err := e.findExecution(in.ExecutionARN)
	if err != nil {
		return out, err
	}
	first, step := 0, 1
	if in.ReverseOrder {
		first, step = len(x.events)-1, -1
	}
	from, err := readPageToken("event", in.NextToken, first)
	if err != nil {
		return out, err
	}
	for i := from; i >= 0 && i < len(x.events); i += step {
		if len(out.Events) == size {
			out.NextToken = pageToken("event", i)
			break
		}
		ev := x.events[i]
		if in.IncludeExecutionData != nil && !*in.IncludeExecutionData {
			ev = ev.withoutData()
		}
		out.Events = append(out.Events, ev)
	}
	return out, nil
}

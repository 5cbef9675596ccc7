package chaosreal

import (
	"encoding/json"

	"fastbowlinglab/integration/promises"
	"fastbowlinglab/integration/stepfn"
	"fastbowlinglab/shared/names"
)

// executions lists the executions of each analysis, and the ends that their
// functions said they had written.
func (c *campaign) executions() (runs map[string][]promises.Execution, wins map[string][]names.EndOut, err error) {
	runs, wins = map[string][]promises.Execution{}, map[string][]names.EndOut{}
	in := stepfn.ListExecutionsInput{StateMachineARN: machineARN}
	for {
		page, err := c.cloud.States().ListExecutions(in)
		if err != nil {
			return nil, nil, err
		}
		for _, x := range page.Executions {
			d, err := c.cloud.States().DescribeExecution(stepfn.DescribeExecutionInput{ExecutionARN: x.ExecutionARN})
			if err != nil {
				return nil, nil, err
			}
			id := analysisID.FindString(d.Input)
			runs[id] = append(runs[id], promises.Execution{Name: x.Name, Input: d.Input})
			won, err := c.won(x.ExecutionARN)
			if err != nil {
				return nil, nil, err
			}
			wins[id] = append(wins[id], won...)
		}
		if in.NextToken = page.NextToken; in.NextToken == "" {
			return runs, wins, nil
		}
	}
}

// won reads the answers of an execution's functions that said "won".
func (c *campaign) won(arn string) (out []names.EndOut, err error) {
	h, err := c.cloud.States().GetExecutionHistory(stepfn.GetExecutionHistoryInput{ExecutionARN: arn, MaxResults: 1000})
	if err != nil {
		return nil, err
	}
	for _, ev := range h.Events {
		if ev.TaskSucceeded == nil || ev.TaskSucceeded.Output == nil {
			continue
		}
		var res struct{ Payload names.EndOut }
		if json.Unmarshal([]byte(*ev.TaskSucceeded.Output), &res) == nil && res.Payload.Won {
			out = append(out, res.Payload)
		}
	}
	return out, nil
}

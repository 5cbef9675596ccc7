package stepfn

import (
	"fastbowlinglab/integration/stepfn/asl"
)

// StatusChange is one change of an execution's status, with what EventBridge's
// event "Step Functions Execution Status Change" (source aws.states) carries.
type StatusChange struct {
	Time      Time         `json:"time"`
	Account   string       `json:"account"`
	Region    string       `json:"region"`
	Resources []string     `json:"resources"` // the execution's ARN
	Detail    StatusDetail `json:"detail"`
}

// The event's source and detail type.
const (
	EventSource     = "aws.states"
	EventDetailType = "Step Functions Execution Status Change"
)

// StatusDetail is the event's detail. Times are milliseconds since 1970. Fields
// without a value are null, as AWS sends them.
type StatusDetail struct {
	ExecutionARN    string        `json:"executionArn"`
	StateMachineARN string        `json:"stateMachineArn"`
	Name            string        `json:"name"`
	Status          Status        `json:"status"`
	StartDate       int64         `json:"startDate"`
	StopDate        *int64        `json:"stopDate"`
	Input           *string       `json:"input"`
	Output          *string       `json:"output"`
	InputDetails    *DataIncluded `json:"inputDetails"`
	OutputDetails   *DataIncluded `json:"outputDetails"`
	Error           *string       `json:"error"`
	Cause           *string       `json:"cause"`
	VersionARN      *string       `json:"stateMachineVersionArn"`
	AliasARN        *string       `json:"stateMachineAliasArn"`
	RedriveCount    int           `json:"redriveCount"`
	RedriveDate     *int64        `json:"redriveDate"`
	RedriveStatus   string        `json:"redriveStatus"`
	RedriveReason   *string       `json:"redriveStatusReason"`
}

// DataIncluded says whether a payload is in the event.
type DataIncluded struct {
	Included bool `json:"included"`
}

// maxEventData is the size of escaped input and output together above which
// AWS leaves them out of the event: 248 KiB.
const maxEventData = 248 << 10

func (e *Engine) change(x *execution, started bool) StatusChange {
	c := StatusChange{
		Time: Time{x.start}, Account: e.opt.Account, Region: e.opt.Region, Resources: []string{x.arn},
		Detail: StatusDetail{
			ExecutionARN: x.arn, StateMachineARN: x.machine.arn, Name: x.name, Status: Running,
			StartDate: x.start.UnixMilli(), RedriveCount: x.drives.count,
		},
	}
	d := &c.Detail
	if x.origin.VersionARN != "" {
		d.VersionARN = &x.origin.VersionARN
	}
	if x.origin.AliasARN != "" {
		d.AliasARN = &x.origin.AliasARN
	}
	at := c.Time.Time
	if x.drives.count > 0 {
		at = x.drives.last
		ms := at.UnixMilli()
		c.Time, d.RedriveDate = Time{at}, &ms
	}
	if !started {
		at = x.stop
	}
	status, reason := x.redrivable(at)
	if d.RedriveStatus = status; reason != "" {
		d.RedriveReason = &reason
	}
	size := len(asl.Encode(x.input))
	if !started {
		c.Time = Time{x.stop}
		stop := x.stop.UnixMilli()
		d.Status, d.StopDate = x.status, &stop
		if x.status == Succeeded {
			size += len(asl.Encode(x.output))
		}
		if x.fail != nil {
			d.Error, d.Cause = &x.fail.Name, &x.fail.Cause
		}
	}
	fits := size <= maxEventData
	d.InputDetails = &DataIncluded{fits}
	if fits {
		d.Input = &x.input
	}
	if !started && x.status == Succeeded {
		d.OutputDetails = &DataIncluded{fits}
		if fits {
			d.Output = &x.output
		}
	}
	return c
}

// notify reports a change; no lock is held.
func (e *Engine) notify(c StatusChange) {
	if e.opt.OnStatusChange != nil {
		e.opt.OnStatusChange(c)
	}
}

package local

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sfn"

	"fastbowlinglab/shared/names"
)

// timetable starts the nightly job each day, as EventBridge Scheduler does.
func (c *Cloud) timetable(ctx context.Context) error {
	hour, minute, err := daily(names.NightlySchedule)
	if err != nil {
		return err
	}
	c.running.Go(func() {
		for {
			now := time.Now().UTC()
			t := time.NewTimer(nextDaily(now, hour, minute).Sub(now))
			select {
			case <-ctx.Done():
				t.Stop()
				return
			case <-t.C:
			}
			if _, err := c.startScheduled(ctx, names.MachineNightly); err != nil {
				c.cfg.Log.Error("schedule not carried out", "machine", names.MachineNightly, "error", err)
			}
		}
	})
	return nil
}

// startScheduled starts a state machine now, as its schedule would: with the
// input {} and without a name, so that Step Functions makes one. It gives the
// execution's ARN.
func (c *Cloud) startScheduled(ctx context.Context, machine string) (string, error) {
	arn, input := MachinePrefix+machine, "{}"
	out, err := sfn.NewFromConfig(c.AWS()).StartExecution(ctx, &sfn.StartExecutionInput{StateMachineArn: &arn, Input: &input})
	if err != nil {
		return "", fmt.Errorf("start %s on schedule: %w", machine, err)
	}
	return *out.ExecutionArn, nil
}

var dailyForm = regexp.MustCompile(`^cron\((\d{1,2}) (\d{1,2}) \* \* \? \*\)$`)

// daily reads a schedule of EventBridge Scheduler that is due once a day.
func daily(schedule string) (hour, minute int, err error) {
	m := dailyForm.FindStringSubmatch(schedule)
	if m == nil {
		return 0, 0, fmt.Errorf("schedule %q: the embedded cloud knows cron(minute hour * * ? *) alone", schedule)
	}
	minute, _ = strconv.Atoi(m[1]) // two digits
	hour, _ = strconv.Atoi(m[2])
	if hour > 23 || minute > 59 {
		return 0, 0, fmt.Errorf("schedule %q: there is no such time", schedule)
	}
	return hour, minute, nil
}

// nextDaily is the next time of day after now.
func nextDaily(now time.Time, hour, minute int) time.Time {
	at := time.Date(now.Year(), now.Month(), now.Day(), hour, minute, 0, 0, time.UTC)
	if !at.After(now) {
		at = at.AddDate(0, 0, 1)
	}
	return at
}

package precheck

import (
	"context"

	"fastbowlinglab/shared/names"
)

// Judge asks tasks for the verdict on footage without clips.
func Judge(ctx context.Context, tasks Tasks) (Record, error) {
	var rec Record
	err := Deps{Tasks: tasks}.judge(ctx, names.Run{AnalysisID: "an-1", Attempt: 1}, &rec, nil)
	return rec, err
}

package notice

import (
	"encoding/json"

	"github.com/aws/aws-sdk-go-v2/service/sns"
	snstypes "github.com/aws/aws-sdk-go-v2/service/sns/types"

	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/outbox"
)

// PushEvent is the message of an app's push event. It tells that there is
// something to ask the API about, and nothing that anybody else may not see: no
// name, no address, no link.
type PushEvent struct {
	Type       string          `json:"type"` // "analysis.ended" or "analysis.revised"
	AnalysisID string          `json:"analysis_id"`
	AthleteID  string          `json:"athlete_id"`
	Status     analysis.Status `json:"status"`
	Reason     string          `json:"reason,omitempty"`
}

// pushInput is the publication of an event. The attributes let a subscription
// filter by athlete or by status.
func pushInput(topic string, r analysis.Row, n outbox.Notice) *sns.PublishInput {
	kind := "analysis.ended"
	if _, ok := outbox.RevisionOf(n.Kind); ok {
		kind = "analysis.revised"
	}
	b, err := json.Marshal(PushEvent{kind, r.AnalysisID, r.AthleteID, r.Status, r.Reason})
	if err != nil {
		panic("notice: encode an event: " + err.Error()) // strings always encode
	}
	body := string(b)
	attr := func(v string) snstypes.MessageAttributeValue {
		kind := "String"
		return snstypes.MessageAttributeValue{DataType: &kind, StringValue: &v}
	}
	return &sns.PublishInput{TopicArn: &topic, Message: &body, MessageAttributes: map[string]snstypes.MessageAttributeValue{
		"athlete_id": attr(r.AthleteID), "status": attr(string(r.Status)), "kind": attr(n.Kind)}}
}

package faults

import (
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	ddb "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"fastbowlinglab/integration/virtual"
	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/batchrun"
	"fastbowlinglab/shared/names"
)

// run looks at the run that added a revision: at that moment it is open, and the
// lease of its effect is its own, under its fence (I6).
func (o *observer) run(c *virtual.Cloud, v analysis.Revision, id string) {
	var r batchrun.Run
	it, err := item(c, names.Runs, batchrun.Key(v.By, "run"))
	if err == nil {
		err = attributevalue.UnmarshalMap(it, &r)
	}
	var held struct {
		Token string `dynamodbav:"token"`
		Fence int64  `dynamodbav:"fence"`
	}
	if err == nil {
		it, err = item(c, names.Effects, map[string]ddb.AttributeValue{names.Effects.PartitionKey: &ddb.AttributeValueMemberS{Value: names.LeaseOf(r.Effect)}})
	}
	if err == nil {
		err = attributevalue.UnmarshalMap(it, &held)
	}
	if err != nil {
		o.violation("I9", "run of revision %s of %s: %v", v.Name, id, err)
		return
	}
	if r.State != batchrun.Open {
		o.violation("I6", "run %q added revision %s to %s, and the run is %q", v.By, v.Name, id, r.State)
	} else if held.Token != r.ID || held.Fence != r.Fence {
		o.violation("I6", "run %s of fence %d added revision %s to %s, and %q holds its effect under fence %d", r.ID, r.Fence, v.Name, id, held.Token, held.Fence)
	}
}

package tags_test

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"fastbowlinglab/shared/dynamotest"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/stamp"
	"fastbowlinglab/shared/tags"
)

// Of one analysis, in every version, and of no other whose id begins alike.
func TestOfOneAnalysis(t *testing.T) {
	db := dynamotest.New(t)
	for _, r := range []tags.Row{
		{Day: "2026-01-02", Item: tags.PartRow + "an-a#tags-1", AnalysisID: "an-a", Version: "tags-1", ActionType: "side-on"},
		{Day: "2026-01-02", Item: tags.PartRow + "an-a#tags-2", AnalysisID: "an-a", Version: "tags-2"},
		{Day: "2026-01-02", Item: tags.PartDone + "an-a#tags-1"},
		{Day: "2026-01-02", Item: tags.PartRow + "an-ab#tags-1", AnalysisID: "an-ab"},
		{Day: "2026-01-03", Item: tags.PartRow + "an-a#tags-1", AnalysisID: "an-a"},
	} {
		item, err := stamp.MarshalMap(r)
		if err == nil {
			_, err = db.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &names.Tags.Name, Item: item})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	rows, err := tags.Of(t.Context(), db, names.Tags.Name, "2026-01-02", "an-a")
	if err != nil || len(rows) != 2 || rows[0].ActionType != "side-on" || rows[1].Version != "tags-2" {
		t.Errorf("%+v, %v", rows, err)
	}
	keys, err := tags.KeysOf(t.Context(), db, names.Tags.Name, "2026-01-02", "an-a")
	if err != nil || len(keys) != 3 {
		t.Errorf("%d keys, %v", len(keys), err)
	}
	for _, day := range []string{"", "yesterday"} { // an analysis without an end has no tags
		if rows, err := tags.Of(t.Context(), db, names.Tags.Name, day, "an-a"); err != nil || len(rows) != 0 {
			t.Errorf("day %q: %+v, %v", day, rows, err)
		}
	}
}

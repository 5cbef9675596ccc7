package analysis

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	ddb "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/paging"
)

// Open calls visit for every open analysis, the one whose deadline comes first
// before the others, until visit returns false. It reads an index, which lags
// behind: whoever acts on a row does so under a condition.
func (s Store) Open(ctx context.Context, visit func(Row) bool) error {
	cond, index := "#o = :mark", names.IndexOpen
	in := &dynamodb.QueryInput{TableName: &s.Analyses, IndexName: &index, KeyConditionExpression: &cond,
		ExpressionAttributeNames:  map[string]string{"#o": "open"},
		ExpressionAttributeValues: map[string]ddb.AttributeValue{":mark": text(OpenMark)}}
	for item, err := range paging.Query(ctx, s.DB, s.Retry, in) {
		if err != nil {
			return fmt.Errorf("list open analyses: %w", err)
		}
		r, err := decode(item)
		if err != nil { // one bad row does not hide the others
			r = Row{AnalysisID: idOf(item)}
		}
		if !visit(r) {
			return nil
		}
	}
	return nil
}

func idOf(item map[string]ddb.AttributeValue) string {
	if v, ok := item["analysis_id"].(*ddb.AttributeValueMemberS); ok {
		return v.Value
	}
	return ""
}

// Page is a part of an athlete's analyses, newest first. Next is the creation
// time and id to go on from, "" at the end.
type Page struct {
	Rows []Row
	Next Cursor
}

// Cursor says where a page ended.
type Cursor struct {
	CreatedAt  string `json:"c"`
	AnalysisID string `json:"i"`
}

// ByAthlete lists an athlete's analyses, newest first, limit at a time.
func (s Store) ByAthlete(ctx context.Context, athleteID string, from Cursor, limit int32) (Page, error) {
	cond, index, newest := "athlete_id = :athlete", names.IndexByAthlete, false
	in := &dynamodb.QueryInput{
		TableName: &s.Analyses, IndexName: &index, KeyConditionExpression: &cond, ScanIndexForward: &newest, Limit: &limit,
		ExpressionAttributeValues: map[string]ddb.AttributeValue{":athlete": text(athleteID)},
	}
	if from != (Cursor{}) {
		in.ExclusiveStartKey = map[string]ddb.AttributeValue{"athlete_id": text(athleteID),
			"created_at": text(from.CreatedAt), "analysis_id": text(from.AnalysisID)}
	}
	var out *dynamodb.QueryOutput
	err := s.Retry.Do(ctx, func() (err error) {
		out, err = s.DB.Query(ctx, in)
		return err
	})
	if err != nil {
		return Page{}, fmt.Errorf("list the analyses of %s: %w", athleteID, err)
	}
	var p Page
	for _, item := range out.Items {
		r, err := decode(item)
		if err != nil {
			return Page{}, err
		}
		p.Rows = append(p.Rows, r)
	}
	if k := out.LastEvaluatedKey; k != nil {
		if c, ok := k["created_at"].(*ddb.AttributeValueMemberS); ok {
			p.Next = Cursor{c.Value, idOf(k)}
		}
	}
	return p, nil
}

// Overdue reports whether the analysis must have left its state by now.
func (r Row) Overdue(now time.Time) bool {
	return !r.Status.Ended() && !r.Deadline.IsZero() && now.After(r.Deadline)
}

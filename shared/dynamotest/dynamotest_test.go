package dynamotest

import (
	"context"
	"errors"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	ddb "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"fastbowlinglab/shared/names"
)

func TestTablesAndLostAnswer(t *testing.T) {
	s := Start(t)
	db := s.Client()
	out, err := db.ListTables(context.Background(), &dynamodb.ListTablesInput{})
	if err != nil || len(out.TableNames) != len(names.Tables()) {
		t.Fatalf("tables = %v, %v; want %d", out, err, len(names.Tables()))
	}

	f := &Faults{Next: First(1, "PutItem", Lost)}
	put := &dynamodb.PutItemInput{TableName: &names.Effects.Name, Item: map[string]ddb.AttributeValue{
		"effect": &ddb.AttributeValueMemberS{Value: "x"}}, ConditionExpression: aws.String("attribute_not_exists(effect)")}
	if _, err := s.Faulty(f).PutItem(context.Background(), put); !errors.Is(err, ErrInjected) {
		t.Fatalf("first put: %v, want ErrInjected", err)
	}
	var cond *ddb.ConditionalCheckFailedException
	if _, err := s.Faulty(f).PutItem(context.Background(), put); !errors.As(err, &cond) {
		t.Fatalf("second put: %v, want a failed condition: the first was carried out", err)
	}
	if f.Calls("PutItem") != 2 {
		t.Errorf("calls = %d, want 2", f.Calls("PutItem"))
	}
}

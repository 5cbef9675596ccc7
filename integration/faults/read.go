package faults

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	ddb "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"fastbowlinglab/integration/virtual"
	"fastbowlinglab/shared/names"
)

func item(c *virtual.Cloud, t names.Table, key map[string]ddb.AttributeValue) (map[string]ddb.AttributeValue, error) {
	out, err := c.Direct.GetItem(context.Background(), &dynamodb.GetItemInput{
		TableName: aws.String(t.Name), Key: key, ConsistentRead: aws.Bool(true)})
	if err != nil {
		return nil, fmt.Errorf("observe: %w", err)
	}
	return out.Item, nil
}

// items reads all items of a partition.
func items(c *virtual.Cloud, t names.Table, partition string) ([]map[string]ddb.AttributeValue, error) {
	out, err := c.Direct.Query(context.Background(), &dynamodb.QueryInput{
		TableName: aws.String(t.Name), KeyConditionExpression: aws.String(t.PartitionKey + " = :k"), ConsistentRead: aws.Bool(true),
		ExpressionAttributeValues: map[string]ddb.AttributeValue{":k": &ddb.AttributeValueMemberS{Value: partition}}})
	if err != nil {
		return nil, fmt.Errorf("observe: %w", err)
	}
	return out.Items, nil
}

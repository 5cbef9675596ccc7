package awserr

import (
	"errors"

	ddb "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
)

// Winner gives the item as it stood when a single conditional write was refused,
// if ReturnValuesOnConditionCheckFailure asked for it; nil when the item does
// not exist or err is something else. A transaction's items come from Reasons.
func Winner(err error) map[string]ddb.AttributeValue {
	var c *ddb.ConditionalCheckFailedException
	if !errors.As(err, &c) {
		return nil
	}
	return c.Item
}

// Code gives the AWS error code in err, "" when it carries none. It is for logs:
// decisions go by KindOf.
func Code(err error) string {
	var api smithy.APIError
	if !errors.As(err, &api) {
		return ""
	}
	return api.ErrorCode()
}

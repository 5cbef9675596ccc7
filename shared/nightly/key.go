package nightly

import (
	"strings"

	ddb "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

func key(day, item string) map[string]ddb.AttributeValue {
	return map[string]ddb.AttributeValue{"day": text(day), "item": text(item)}
}

func text(s string) ddb.AttributeValue { return &ddb.AttributeValueMemberS{Value: s} }

// cut splits the end of a sort key into analysis id and version; neither holds a #.
func cut(s string) (id, version string, ok bool) { return strings.Cut(s, "#") }

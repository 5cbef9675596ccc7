package wire

import (
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

// Field case 6: a request whose answer does not come is one request. The SDK would
// ask three times.
func TestARequestWithoutAnAnswerIsSentOnce(t *testing.T) {
	var hits atomic.Int64
	srv := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		hits.Add(1)
		panic(http.ErrAbortHandler) // the connection breaks
	}))
	defer srv.Close()
	for k, v := range map[string]string{"AWS_REGION": "us-east-1", "AWS_ACCESS_KEY_ID": "k", "AWS_SECRET_ACCESS_KEY": "s", "AWS_ENDPOINT_URL": srv.URL,
		"AWS_EC2_METADATA_DISABLED": "true"} {
		t.Setenv(k, v)
	}
	for name, cfg := range map[string]aws.Config{"functions": Lambda(), "programs": AWS()} {
		hits.Store(0)
		_, err := dynamodb.NewFromConfig(cfg).DescribeTable(t.Context(), &dynamodb.DescribeTableInput{TableName: aws.String("t")})
		if n := hits.Load(); err == nil || n != 1 {
			t.Errorf("%s: %d requests, %v; want one, and an error", name, n, err)
		}
	}
}

package endpoint

import (
	"encoding/json"
	"encoding/xml"
	"net/http"
)

// namespaces are the prefixes of error types in AWS's JSON answers.
var namespaces = map[string]string{
	DynamoDB: "com.amazonaws.dynamodb.v20120810#",
	Streams:  "com.amazonaws.dynamodb.v20120810#",
	SQS:      "com.amazonaws.sqs#",
}

// WriteError answers with an error in the form of the request's service: XML
// for S3, a header for the REST services, a type for AWS JSON.
func WriteError(w http.ResponseWriter, q *Request, status int, code, message string) {
	switch q.Service {
	case S3:
		writeXML(w, q, status, code, message)
	default:
		w.Header().Set("X-Amzn-ErrorType", code)
		WriteJSON(w, status, map[string]string{"__type": namespaces[q.Service] + code, "message": message})
	}
}

// WriteJSON answers in AWS JSON.
func WriteJSON(w http.ResponseWriter, status int, v any) {
	b, err := json.Marshal(v)
	if err != nil { // a value of ours that is no JSON is a bug; say so to the caller
		status, b = http.StatusInternalServerError, []byte(`{"__type":"InternalFailure"}`)
	}
	w.Header().Set("Content-Type", "application/x-amz-json-1.1")
	w.WriteHeader(status)
	_, _ = w.Write(b)
}

func writeXML(w http.ResponseWriter, q *Request, status int, code, message string) {
	b, err := xml.Marshal(struct {
		XMLName  xml.Name `xml:"Error"`
		Code     string
		Message  string
		Resource string
	}{Code: code, Message: message, Resource: q.HTTP.URL.Path})
	if err != nil {
		b = nil // a path that is no XML: the status alone must do
	}
	w.Header().Set("Content-Type", "application/xml")
	w.WriteHeader(status)
	if q.HTTP.Method != http.MethodHead {
		_, _ = w.Write(append([]byte(xml.Header), b...))
	}
}

package virtual

import (
	"fmt"
	"net/http"
)

// topicARN is the topic of push events in every virtual world.
const topicARN = "arn:aws:sns:us-east-1:000000000000:push"

// topicService accepts what is published on topics.
type topicService struct{ published int }

// ServeHTTP speaks SNS's query protocol: Publish.
func (s *topicService) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/xml")
	if err := r.ParseForm(); err != nil || r.PostForm.Get("Action") != "Publish" || r.PostForm.Get("TopicArn") != topicARN {
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprint(w, queryError("InvalidParameter", "virtual SNS has only Publish, on one topic"))
		return
	}
	s.published++
	fmt.Fprintf(w, `<PublishResponse><PublishResult><MessageId>push-%d</MessageId></PublishResult></PublishResponse>`, s.published)
}

// queryError is an error of AWS's query protocol.
func queryError(code, message string) string {
	return `<ErrorResponse><Error><Type>Sender</Type><Code>` + code + `</Code><Message>` + message + `</Message></Error></ErrorResponse>`
}

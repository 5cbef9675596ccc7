package local

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"encoding/xml"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"fastbowlinglab/integration/local/endpoint"
	"fastbowlinglab/shared/names"
)

// mailSets are SES's configuration sets, by the topic that each tells of bounces
// and complaints.
var mailSets = map[string]string{names.MailEventSet: names.MailEventsTopic}

// maxPublish bounds a request to SNS: a message of 256 KiB, encoded.
const maxPublish = 2 << 20

// topics delivers what is published on a topic to the functions that it starts
// (names.Function.Topic), as SNS does: asynchronously, at least once. kumo
// takes the messages and knows nothing of our functions. PublishBatch, which
// nothing here uses, is delivered to nobody.
func (c *Cloud) topics(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(io.LimitReader(r.Body, maxPublish))
		if err != nil {
			http.Error(w, "read the request", http.StatusBadRequest)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		rec := &tee{ResponseWriter: w}
		next.ServeHTTP(rec, r)
		form, err := url.ParseQuery(string(body))
		if err != nil || form.Get("Action") != "Publish" || !rec.ok() {
			return
		}
		var answer struct {
			ID string `xml:"PublishResult>MessageId"`
		}
		_ = xml.Unmarshal(rec.body.Bytes(), &answer) // a message without an id is delivered all the same
		c.deliver(form.Get("TopicArn"), answer.ID, form.Get("Subject"), form.Get("Message"), attributes(form))
	})
}

// tee keeps a copy of an answer.
type tee struct {
	http.ResponseWriter
	status int
	body   bytes.Buffer
}

func (t *tee) WriteHeader(status int) { t.status = status; t.ResponseWriter.WriteHeader(status) }

func (t *tee) Write(b []byte) (int, error) { t.body.Write(b); return t.ResponseWriter.Write(b) }

func (t *tee) ok() bool { return t.status == 0 || t.status/100 == 2 }

// attribute is a message attribute as a function sees it.
type attribute struct {
	Type  string `json:"Type"`
	Value string `json:"Value"`
}

// attributes reads MessageAttributes.entry.N of a Publish request.
func attributes(form url.Values) map[string]attribute {
	out := map[string]attribute{}
	for n := 1; ; n++ {
		at := "MessageAttributes.entry." + strconv.Itoa(n) + "."
		name := form.Get(at + "Name")
		if name == "" {
			return out
		}
		out[name] = attribute{form.Get(at + "Value.DataType"), form.Get(at + "Value.StringValue")}
	}
}

// deliver invokes the functions of a topic with SNS's event. It does not block.
func (c *Cloud) deliver(topicARN, id, subject, message string, attrs map[string]attribute) {
	type m = map[string]any
	for _, f := range c.cfg.Functions {
		if f.Topic == "" || TopicARN(f.Topic) != topicARN {
			continue
		}
		sns := m{"Type": "Notification", "MessageId": id, "TopicArn": topicARN, "Subject": nil, "Message": message,
			"Timestamp": time.Now().UTC().Format("2006-01-02T15:04:05.000Z"), "SignatureVersion": "1", "Signature": "none",
			"SigningCertUrl": c.Endpoint, "UnsubscribeUrl": c.Endpoint, "MessageAttributes": attrs}
		if subject != "" {
			sns["Subject"] = subject
		}
		payload, err := json.Marshal(m{"Records": []m{{"EventSource": "aws:sns", "EventVersion": "1.0",
			"EventSubscriptionArn": topicARN + ":" + f.Name, "Sns": sns}}})
		if err != nil {
			c.cfg.Log.Error("event not made", "topic", topicARN, "error", err)
			continue
		}
		c.emit("topic", f, payload)
	}
}

// simulator is SES's mailbox simulator: mail to these addresses at its domain,
// with any +label, comes back as the event that their name says.
const simulator = "@simulator.amazonses.com"

// mailEvents tells, as SES does, what became of an accepted mail to the mailbox
// simulator, on the topic of the configuration set that the mail names. A mail
// that names none is told of nowhere; a set that does not exist refuses it.
func (c *Cloud) mailEvents(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost || r.URL.Path != "/v2/email/outbound-emails" {
			next.ServeHTTP(w, r)
			return
		}
		body, err := io.ReadAll(io.LimitReader(r.Body, maxMail))
		if err != nil {
			http.Error(w, "read the request", http.StatusBadRequest)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		var in outbound
		_ = json.Unmarshal(body, &in) // kumo refuses what it cannot read
		topic, known := mailSets[in.ConfigurationSetName]
		if in.ConfigurationSetName != "" && !known {
			w.Header().Set("X-Amzn-Errortype", "NotFoundException")
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusNotFound)
			_ = json.NewEncoder(w).Encode(map[string]string{"message": "Configuration set <" + in.ConfigurationSetName + "> does not exist."})
			return
		}
		rec := &tee{ResponseWriter: w}
		next.ServeHTTP(rec, r)
		if !rec.ok() || topic == "" {
			return
		}
		var answer struct{ MessageId string }
		_ = json.Unmarshal(rec.body.Bytes(), &answer) // as above
		for _, to := range in.Destination.ToAddresses {
			if kind := simulated(to); kind != "" {
				c.deliver(TopicARN(topic), rand.Text(), "", in.event(kind, to, answer.MessageId), nil)
			}
		}
	})
}

// maxMail is the most that SES takes of a mail, encoded.
const maxMail = 60 << 20

// outbound is the part of a SendEmail request that its events tell.
type outbound struct {
	ConfigurationSetName string
	FromEmailAddress     string
	Destination          struct{ ToAddresses []string }
	EmailTags            []struct{ Name, Value string }
}

// simulated is the event of a mail to an address: Bounce or Complaint, "" for none.
func simulated(to string) string {
	box, ok := strings.CutSuffix(strings.ToLower(to), simulator)
	if !ok {
		return ""
	}
	box, _, _ = strings.Cut(box, "+")
	return map[string]string{"bounce": "Bounce", "suppressionlist": "Bounce", "complaint": "Complaint"}[box]
}

// event is the message that SES publishes of a mail.
func (o outbound) event(kind, to, id string) string {
	type m = map[string]any
	now := time.Now().UTC().Format("2006-01-02T15:04:05.000Z")
	tags := map[string][]string{"ses:configuration-set": {o.ConfigurationSetName}}
	for _, t := range o.EmailTags {
		tags[t.Name] = []string{t.Value}
	}
	ev := m{"eventType": kind, "mail": m{"timestamp": now, "source": o.FromEmailAddress, "messageId": id,
		"destination": o.Destination.ToAddresses, "headersTruncated": false, "tags": tags}}
	who := []m{{"emailAddress": to}}
	if kind == "Bounce" {
		who[0]["action"], who[0]["status"], who[0]["diagnosticCode"] = "failed", "5.1.1", "smtp; 550 5.1.1 user unknown"
		ev["bounce"] = m{"bounceType": "Permanent", "bounceSubType": "General", "bouncedRecipients": who, "timestamp": now, "feedbackId": rand.Text()}
	} else {
		ev["complaint"] = m{"complainedRecipients": who, "timestamp": now, "feedbackId": rand.Text(), "complaintFeedbackType": "abuse"}
	}
	b, err := json.Marshal(ev)
	if err != nil {
		panic("local: encode an event of SES: " + err.Error()) // texts always encode
	}
	return string(b)
}

// watched puts the two in front of kumo.
func (c *Cloud) watched() {
	s := c.services.Services
	s[endpoint.SNS], s[endpoint.SES] = c.topics(s[endpoint.SNS]), c.mailEvents(s[endpoint.SES])
}

package names

// PushTopic is the SNS topic of the app's push events; a message says that an
// analysis has ended, and names neither address nor person.
const (
	PushTopic    = Prefix + "push"
	EnvPushTopic = "PUSH_TOPIC_ARN"
)

// MailEventsTopic is the SNS topic on which SES tells of bounces and
// complaints; function feedback reads it. MailEventSet is the SES configuration
// set that sends them there.
const (
	MailEventsTopic = Prefix + "mail-events"
	MailEventSet    = Prefix + "mail"
)

// PaymentsSecret is the Secrets Manager secret with the keys that sign payment
// events, {"current": "...", "previous": "..."}: previous may be missing.
const (
	PaymentsSecret    = Prefix + "payments"
	EnvPaymentsSecret = "PAYMENTS_SECRET"
)

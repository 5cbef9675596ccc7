package infra

import (
	"fmt"
	"os"
	"regexp"
	"strings"

	"fastbowlinglab/shared/names"
)

// Settings are what an installation decides. They come from cdk.json's context
// or from -c key=value on the command line; account and region from the CDK
// CLI's own environment. Without account and region the templates are
// environment-agnostic, which is how they are checked here.
type Settings struct {
	Account    string
	Region     string
	MailFrom   string // verified SES identity that mails come from
	AppURL     string // address of the app, which mails lead to; "" for none
	SignIn     string // prefix of the address at which people sign in on the web page
	AlarmEmail string // subscriber of the alarm topic; "" for none
	WebOrigin  string // origin that may call the API from a browser; "*" for any
	Dist       string // folder with the built functions: <Dist>/<function>/bootstrap
	Image      string // folder with the worker's image: Dockerfile and what it copies
	Closed     bool   // intake closed: the API answers 503 before anyone is charged
}

// What Cognito takes as the prefix of a domain.
var (
	prefix   = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`)
	reserved = regexp.MustCompile(`aws|amazon|cognito`)
)

// Lookup reads one context value; ok is false where it is not set.
type Lookup func(key string) (value string, ok bool)

// SettingsFrom reads the settings, with defaults that make `cdk synth` work on
// a fresh clone. It names every value that it cannot use.
func SettingsFrom(get Lookup) (Settings, error) {
	or := func(key, def string) string {
		if v, ok := get(key); ok && v != "" {
			return v
		}
		return def
	}
	s := Settings{
		Account:    os.Getenv("CDK_DEFAULT_ACCOUNT"),
		Region:     os.Getenv("CDK_DEFAULT_REGION"),
		MailFrom:   or("mailFrom", "reports@example.com"),
		AppURL:     or("appUrl", ""),
		SignIn:     or("signIn", names.Prefix+"${AWS::AccountId}"), // no other account of the region may have it
		AlarmEmail: or("alarmEmail", ""),
		WebOrigin:  or("webOrigin", "*"),
		Dist:       or("dist", ".local/dist"),
		Image:      or("image", ".local/image"),
	}
	switch v := or("intake", "open"); v {
	case "open":
	case "closed":
		s.Closed = true
	default:
		return Settings{}, fmt.Errorf("context value intake is %q: use open or closed", v)
	}
	for key, mail := range map[string]string{"mailFrom": s.MailFrom, "alarmEmail": s.AlarmEmail} {
		if mail != "" && !strings.Contains(mail, "@") {
			return Settings{}, fmt.Errorf("context value %s is %q: it must be a mail address", key, mail)
		}
	}
	if v, set := get("signIn"); set && v != "" && (!prefix.MatchString(v) || reserved.MatchString(v)) {
		return Settings{}, fmt.Errorf("context value signIn is %q: use at most 63 small letters, digits and hyphens, without aws, amazon and cognito", v)
	}
	if err := names.CheckAppURL(s.AppURL); err != nil {
		return Settings{}, fmt.Errorf("context value appUrl is %w", err)
	}
	return s, nil
}

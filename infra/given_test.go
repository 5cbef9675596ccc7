package infra

import (
	"strings"
	"testing"
)

// What an installation decides is refused by its name when it cannot be meant.
func TestSettingsThatCannotBe(t *testing.T) {
	for key, bad := range map[string]string{
		"mailFrom": "reports", "alarmEmail": "ops", "intake": "maybe", "appUrl": "http://app.example.com", "signIn": "my-cognito",
	} {
		_, err := SettingsFrom(func(k string) (string, bool) { return bad, k == key })
		if err == nil || !strings.Contains(err.Error(), key) || !strings.Contains(err.Error(), bad) {
			t.Errorf("%s = %s: %v", key, bad, err)
		}
	}
	s, err := SettingsFrom(func(k string) (string, bool) { return "https://app.example.com/", k == "appUrl" })
	if err != nil || s.AppURL != "https://app.example.com/" {
		t.Errorf("%+v, %v", s, err)
	}
}

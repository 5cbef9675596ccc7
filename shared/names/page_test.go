package names_test

import (
	"encoding/json"
	"strings"
	"testing"

	"fastbowlinglab/shared/names"
)

func TestPageCheck(t *testing.T) {
	good := names.NewPage("https://app.example.com/", "https://api.example.com", "https://media.s3.us-east-1.amazonaws.com",
		"https://cognito-idp.us-east-1.amazonaws.com/us-east-1_x", "client", "https://lab.auth.us-east-1.amazoncognito.com")
	if err := good.Check(); err != nil {
		t.Error(err)
	}
	local := names.NewPage("http://127.0.0.1:1/app/", "http://127.0.0.1:1", "http://127.0.0.1:2", "https://issuer.example", "client", "http://[::1]:3")
	if err := local.Check(); err != nil {
		t.Error(err)
	}
	for _, field := range []string{"app", "api", "storage", "issuer", "authorize", "token", "revoke", "logout"} {
		for _, bad := range []string{"", "app.example.com", "http://app.example.com/", "http://127.0.0.1.example.com/", "javascript:alert(1)", "https://u:p@x.example/",
			"https://x.example/?a=1", "https://x.example/?", "https://x.example/#a", "https://x.example; script-src *", "https://x.example,https://y.example",
			"https://*.example", "https://x.example/'self'", "https://x.example/\"><script>", "https://${Token[TOKEN.1]}/", "//x.example"} {
			if err := changed(t, good, field, bad).Check(); err == nil || !strings.Contains(err.Error(), "page's "+field) {
				t.Errorf("%s = %q: %v", field, bad, err)
			}
		}
	}
	for _, field := range []string{"client", "scope"} {
		if changed(t, good, field, "").Check() == nil {
			t.Errorf("a page without %s is taken", field)
		}
	}
}

// changed is a page with another value in one member of its JSON.
func changed(t *testing.T, p names.Page, field, value string) names.Page {
	b, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	m := map[string]string{}
	if err := json.Unmarshal(b, &m); err != nil {
		t.Fatal(err)
	}
	if _, ok := m[field]; !ok {
		t.Fatalf("the page has no %s", field)
	}
	m[field] = value
	if b, err = json.Marshal(m); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &p); err != nil {
		t.Fatal(err)
	}
	return p
}

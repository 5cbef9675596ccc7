package signin_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"fastbowlinglab/integration/local/httpapi"
	"fastbowlinglab/shared/names"
)

func TestSignIn(t *testing.T) {
	w := newWorld(t)
	a := w.do("GET", w.page.Authorize+"?"+w.request().Encode(), nil)
	if a.to == nil || a.to.Path != "/login" {
		t.Fatalf("a browser that nobody knows: %+v", a)
	}
	if a = w.do("GET", a.to.String(), nil); a.status != http.StatusOK || !strings.Contains(a.body, `value="athlete-1"`) {
		t.Errorf("the form: %+v", a)
	}
	reply := w.exchange(w.code())
	id, access, refresh := w.tokens(reply)
	if reply.header.Get("Access-Control-Allow-Origin") != "*" || reply.header.Get("Cache-Control") != "no-store" {
		t.Errorf("headers %v", reply.header)
	}
	for k, want := range map[string]any{"sub": "ada@example.com", "nonce": "n-1", "aud": w.page.Client, "iss": w.page.Issuer, "token_use": "id"} {
		if id[k] != want {
			t.Errorf("the ID token's %s is %v", k, id[k])
		}
	}
	for k, want := range map[string]any{"sub": "ada@example.com", "client_id": w.page.Client, "iss": w.page.Issuer, "token_use": "access", "scope": "openid", "nonce": nil, "aud": nil, "cognito:groups": nil} {
		if access[k] != want {
			t.Errorf("the access token's %s is %v", k, access[k])
		}
	}
	if life := access["exp"].(float64) - access["iat"].(float64); life != names.PageAccess.Seconds() {
		t.Errorf("the access token is good for %v s", life)
	}
	if refresh == "" || strings.Contains(refresh, ".") {
		t.Errorf("refresh token %q", refresh)
	}
	if a := w.do("GET", w.page.Authorize+"?"+w.request("state", "s2").Encode(), nil); a.to == nil || a.to.Query().Get("code") == "" || a.to.Query().Get("state") != "s2" {
		t.Errorf("a browser that is known: %+v", a)
	}
	w.pass(time.Hour + time.Second)
	if a := w.do("GET", w.page.Authorize+"?"+w.request().Encode(), nil); a.to == nil || a.to.Path != "/login" {
		t.Errorf("a browser that was known an hour ago: %+v", a)
	}
}

// Authorization requests that are not the page's: what could be somebody else's
// address is never redirected to, whether the browser is known or not.
func TestRequestsRefused(t *testing.T) {
	w := newWorld(t)
	w.code() // the browser is known from here on
	for what, tc := range map[string]struct{ key, value, code string }{
		"another client":            {"client_id", "x", ""},
		"no client":                 {"client_id", "", ""},
		"another address":           {"redirect_uri", "https://evil.example/", ""},
		"a longer address":          {"redirect_uri", w.page.App + "x", ""},
		"an address with a query":   {"redirect_uri", w.page.App + "?a=1", ""},
		"a shorter address":         {"redirect_uri", strings.TrimSuffix(w.page.App, "/"), ""},
		"another case":              {"redirect_uri", strings.ToUpper(w.page.App), ""},
		"no address":                {"redirect_uri", "", ""},
		"the implicit grant":        {"response_type", "token", "unauthorized_client"},
		"a hybrid":                  {"response_type", "code token", "unauthorized_client"},
		"no response type":          {"response_type", "", "unauthorized_client"},
		"more scopes":               {"scope", "openid aws.cognito.signin.user.admin", "invalid_scope"},
		"no scope":                  {"scope", "", "invalid_scope"},
		"no challenge":              {"code_challenge", "", "invalid_request"},
		"the plain method":          {"code_challenge_method", "plain", "invalid_request"},
		"no method, which is plain": {"code_challenge_method", "", "invalid_request"},
		"a short challenge":         {"code_challenge", challenge[1:], "invalid_request"},
	} {
		for where, a := range map[string]answer{
			"authorize": w.do("GET", w.page.Authorize+"?"+w.request(tc.key, tc.value).Encode(), nil),
			"form":      w.do("GET", w.login(w.request(tc.key, tc.value)), nil),
			"login":     w.do("POST", w.login(w.request(tc.key, tc.value)), url.Values{"user": {"ada"}, "do": {"sign-in"}}),
		} {
			switch {
			case tc.code == "" && (a.status != http.StatusBadRequest || a.to != nil):
				t.Errorf("%s: %s answered %+v", what, where, a)
			case tc.code != "" && (a.to == nil || !strings.HasPrefix(a.to.String(), w.page.App+"?") || a.to.Query().Get("error") != tc.code ||
				a.to.Query().Has("code") || a.to.Query().Get("state") != "s&1"):
				t.Errorf("%s: %s answered %+v to %v", what, where, a, a.to)
			}
		}
	}
	twice := w.request()
	twice.Add("redirect_uri", "https://evil.example/")
	if a := w.do("GET", w.page.Authorize+"?"+twice.Encode(), nil); a.status != http.StatusBadRequest {
		t.Errorf("an address twice: %+v", a)
	}
	hostile := w.request("state", `"><script>x</script>`)
	if a := w.do("GET", w.login(hostile), nil); strings.Contains(a.body, "<script") || a.status != http.StatusOK {
		t.Errorf("the form holds a script: %s", a.body)
	}
	for _, name := range []string{"", " ", "<b>", "-x", strings.Repeat("a", 129), "a\r\nb"} {
		if a := w.do("POST", w.login(w.request()), url.Values{"user": {name}, "do": {"sign-in"}}); a.status != http.StatusBadRequest || strings.Contains(a.body, "<b>") {
			t.Errorf("the name %q: %+v", name, a)
		}
	}
	if a := w.do("POST", w.login(w.request()), url.Values{"do": {"cancel"}}); a.to == nil || a.to.Query().Get("error") != "access_denied" {
		t.Errorf("cancel: %+v", a)
	}
}

// A code is exchanged by whoever has its verifier, once, in time, for the same
// client and address.
func TestCodesRefused(t *testing.T) {
	w := newWorld(t)
	for what, tc := range map[string]struct{ key, value, says string }{
		"another verifier":        {"code_verifier", strings.Repeat("a", 43), "invalid_grant"},
		"the challenge":           {"code_verifier", challenge, "invalid_grant"},
		"no verifier":             {"code_verifier", "", "invalid_grant"},
		"a verifier cut short":    {"code_verifier", verifier[:42], "invalid_grant"},
		"a verifier and more":     {"code_verifier", verifier + "=", "invalid_grant"},
		"another address":         {"redirect_uri", w.page.App + "x", "invalid_grant"},
		"no address":              {"redirect_uri", "", "invalid_grant"},
		"another client":          {"client_id", httpapi.ClientID, "invalid_client"},
		"no client":               {"client_id", "", "invalid_client"},
		"another code":            {"code", "x", "invalid_grant"},
		"no code":                 {"code", "", "invalid_grant"},
		"a password":              {"grant_type", "password", "unsupported_grant_type"},
		"the client's own tokens": {"grant_type", "client_credentials", "unsupported_grant_type"},
	} {
		code := w.code()
		a := w.exchange(code, tc.key, tc.value)
		if a.status != http.StatusBadRequest || a.body != fmt.Sprintf("{\"error\":%q}\n", tc.says) {
			t.Errorf("%s: %+v", what, a)
		}
		if again := w.exchange(code); (again.status == http.StatusOK) != (tc.says != "invalid_grant" || tc.key == "code") {
			t.Errorf("%s: then the right request answered %+v", what, again)
		}
	}
	if a := w.do("GET", w.page.Token+"?code="+w.code(), nil); a.status != http.StatusMethodNotAllowed {
		t.Errorf("a code in an address: %+v", a)
	}
	if a := w.exchange(w.code(), "code_verifier", strings.Repeat("a", 20_000)); a.status != http.StatusBadRequest {
		t.Errorf("a form of 20 kB: %+v", a)
	}

	code := w.code()
	w.pass(5*time.Minute + time.Second)
	if a := w.exchange(code); a.status == http.StatusOK {
		t.Error("a code of five minutes ago was taken")
	}

	code = w.code()
	_, _, refresh := w.tokens(w.exchange(code))
	if a := w.exchange(code); a.status == http.StatusOK {
		t.Error("a code was taken twice")
	}
	if a := w.renew(refresh); a.status == http.StatusOK {
		t.Error("what a code gave is good although it was used twice")
	}
}

// Of many who bring a code at once, one gets tokens.
func TestCodeAtOnce(t *testing.T) {
	w := newWorld(t)
	code := w.code()
	var mu sync.Mutex
	var all sync.WaitGroup
	good := 0
	for range 20 {
		all.Go(func() {
			if a := w.exchange(code); a.status == http.StatusOK {
				mu.Lock()
				good++
				mu.Unlock()
			}
		})
	}
	if all.Wait(); good != 1 {
		t.Errorf("%d of 20 got tokens", good)
	}
}

// A refresh token is replaced at each use, stays good for a minute in case that the
// answer was lost, and ends with the sign-in.
func TestRefresh(t *testing.T) {
	w := newWorld(t)
	_, first, r1 := w.tokens(w.exchange(w.code()))
	id, access, r2 := w.tokens(w.renew(r1))
	if r1 == r2 || access["sub"] != "ada@example.com" || access["origin_jti"] != first["origin_jti"] || access["jti"] == first["jti"] || id["nonce"] != nil {
		t.Errorf("renewed: %v, %v, %s", id, access, r2)
	}
	w.tokens(w.renew(r1)) // the answer was lost
	w.pass(names.PageRefreshGrace + time.Second)
	if a := w.renew(r1); a.status == http.StatusOK {
		t.Error("a used refresh token was taken after its grace")
	}
	_, _, r3 := w.tokens(w.renew(r2))
	w.pass(names.PageRefresh - names.PageRefreshGrace/2) // half a minute over the whole
	if a := w.renew(r3); a.status == http.StatusOK {
		t.Error("a refresh token outlived its sign-in")
	}
	if a := w.renew(""); a.status == http.StatusOK {
		t.Error("no refresh token was taken")
	}
}

// Revoking one refresh token ends all of the sign-in; logging out forgets the
// browser and leads to the page's address alone.
func TestLeave(t *testing.T) {
	w := newWorld(t)
	_, _, r1 := w.tokens(w.exchange(w.code()))
	_, _, other := w.tokens(w.exchange(w.code()))
	_, _, r2 := w.tokens(w.renew(r1))
	for _, token := range []string{r1, r1, "unknown", ""} {
		if a := w.do("POST", w.page.Revoke, url.Values{"client_id": {w.page.Client}, "token": {token}}); a.status != http.StatusOK {
			t.Errorf("revoke %q: %+v", token, a)
		}
	}
	if w.renew(r1).status == http.StatusOK || w.renew(r2).status == http.StatusOK {
		t.Error("a token of a revoked sign-in was taken")
	}
	if w.renew(other).status != http.StatusOK {
		t.Error("revoking ended another sign-in")
	}
	for _, bad := range []url.Values{{"client_id": {w.page.Client}, "logout_uri": {"https://evil.example/"}}, {"client_id": {"x"}, "logout_uri": {w.page.App}}, {"logout_uri": {w.page.App + "?x"}, "client_id": {w.page.Client}}, {}} {
		if a := w.do("GET", w.page.Logout+"?"+bad.Encode(), nil); a.status != http.StatusBadRequest || a.to != nil {
			t.Errorf("logout by %v: %+v", bad, a)
		}
	}
	if a := w.do("GET", w.page.Authorize+"?"+w.request().Encode(), nil); a.to == nil || a.to.Query().Get("code") == "" {
		t.Fatalf("the browser is not known any more: %+v", a)
	}
	pages, err := url.Parse(w.page.Authorize)
	if err != nil {
		t.Fatal(err)
	}
	cookies := w.http.Jar.Cookies(pages)
	a := w.do("GET", w.page.Logout+"?"+url.Values{"client_id": {w.page.Client}, "logout_uri": {w.page.App}}.Encode(), nil)
	if a.to == nil || a.to.String() != w.page.App {
		t.Errorf("logout: %+v", a)
	}
	if a := w.do("GET", w.page.Authorize+"?"+w.request().Encode(), nil); a.to == nil || a.to.Path != "/login" {
		t.Errorf("after logout: %+v", a)
	}
	w.http.Jar.SetCookies(pages, cookies) // as somebody who copied it
	if a := w.do("GET", w.page.Authorize+"?"+w.request().Encode(), nil); len(cookies) != 1 || a.to == nil || a.to.Path != "/login" {
		t.Errorf("by the cookie of before: %v, %+v", cookies, a)
	}
}

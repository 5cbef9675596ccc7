package web_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"fastbowlinglab/integration/web"
	"fastbowlinglab/shared/names"
)

const (
	signedIn  = "document.getElementById('who').textContent.includes('credits')"
	signedOut = "!document.getElementById('sign-in').hidden && !document.getElementById('enter').disabled"
	said      = "document.getElementById('trouble').textContent"
)

// goTo opens an address and waits until the page has made up its mind.
func (b *browser) goTo(address string) {
	b.t.Helper()
	b.do("Page.navigate", map[string]any{"url": address})
	b.until("the page", "document.readyState === 'complete' && ("+signedIn+" || "+signedOut+")", 90*time.Second)
}

// history gives every address in the tab's history.
func (b *browser) history() string {
	b.t.Helper()
	var all []string
	for _, e := range b.do("Page.getNavigationHistory", nil)["entries"].([]any) {
		all = append(all, fmt.Sprint(e.(map[string]any)["url"]))
	}
	return strings.Join(all, "\n")
}

// begin goes to the user pool's page and gives the request for authorization.
func (b *browser) begin() url.Values {
	b.t.Helper()
	b.until("the way in", signedOut, 90*time.Second)
	b.eval("document.getElementById('enter').click()")
	b.until("the user pool's page", "document.readyState === 'complete' && document.getElementById('user')", 90*time.Second)
	u, err := url.Parse(fmt.Sprint(b.eval("location.href")))
	if err != nil {
		b.t.Fatal(err)
	}
	return u.Query()
}

// What signing in leaves behind: no code and no token in any address or history,
// the access token nowhere but in memory, the analysis of the mail's link in the
// address. What comes back once more does nothing.
func TestSignInLeavesNothing(t *testing.T) {
	c := start(t)
	c.polls = ended
	b := open(t)
	b.goTo(names.AppLink(c.page.App, "an-1"))
	request := b.begin()
	for k, want := range map[string]string{"response_type": "code", "client_id": c.page.Client, "redirect_uri": c.page.App, "scope": "openid", "code_challenge_method": "S256"} {
		if request.Get(k) != want {
			t.Errorf("%s is %q, want %q", k, request.Get(k), want)
		}
	}
	for _, k := range []string{"state", "nonce", "code_challenge"} {
		if len(request.Get(k)) != 43 {
			t.Errorf("%s is %q: want 256 bits", k, request.Get(k))
		}
	}
	var came []string // what the page came back with
	b.do("Network.enable", nil)
	b.heard = func(method, params string) {
		if method == "Network.requestWillBeSent" && strings.Contains(params, "code=") {
			came = append(came, params)
		}
	}
	b.eval("document.getElementById('sign-in').click()")
	b.until("the report", "location.pathname === '/app/' && !document.getElementById('report').hidden", time.Minute)
	if got := b.eval("location.href"); got != names.AppLink(c.page.App, "an-1") {
		t.Errorf("signing in came back to %v", got)
	}
	for _, secret := range []string{"code=", "token", "eyJ"} {
		if h := b.history(); strings.Contains(h, secret) {
			t.Errorf("the history holds %s: %s", secret, h)
		}
	}
	if got := b.eval("Object.keys(sessionStorage).join() + '|' + Object.keys(localStorage).join() + '|' + document.cookie"); got != "fbl.refresh||" {
		t.Errorf("the browser keeps %v", got)
	}
	if got := b.eval("sessionStorage.getItem('fbl.refresh')"); got != c.last() || strings.HasPrefix(c.last(), "eyJ") {
		t.Errorf("kept is %v, not the refresh token", got)
	}
	again := ""
	for _, e := range came {
		if strings.Contains(e, `"Referer":"http`) {
			t.Errorf("a code went on as Referer: %s", e)
		}
		if at := strings.Index(e, c.page.App+"?code="); at >= 0 && again == "" {
			again, _, _ = strings.Cut(e[at:], `"`)
		}
	}
	if again == "" {
		t.Fatal("no code came back: nothing was tested")
	}

	before := c.asked()
	b.goTo(again)
	b.until("the way on", signedIn, time.Minute)
	if got := c.asked(); got != before+" refresh_token" {
		t.Errorf("the answer again led to requests for tokens: %q, then %q", before, got)
	}
	if strings.Contains(b.history(), "code=") {
		t.Errorf("the history holds the code again: %s", b.history())
	}
}

// Answers that this tab did not ask for, or that were changed on the way: no code
// is used, nobody is signed in, nothing of the address is shown or kept.
func TestSignInAnswersOfOthers(t *testing.T) {
	c := start(t)
	b := open(t)
	for what, tc := range map[string]struct {
		begun bool
		query func(state string) url.Values
		says  string
	}{
		"another's code, nothing begun": {false, func(string) url.Values { return url.Values{"code": {"x"}, "state": {"y"}} }, "not begun here"},
		"another's code, begun here":    {true, func(string) url.Values { return url.Values{"code": {"x"}, "state": {"y"}} }, "not begun here"},
		"a code without state":          {true, func(string) url.Values { return url.Values{"code": {"x"}} }, "not begun here"},
		"an empty state":                {true, func(string) url.Values { return url.Values{"code": {"x"}, "state": {""}} }, "not begun here"},
		"a state of JavaScript's":       {true, func(string) url.Values { return url.Values{"code": {"x"}, "state": {"undefined"}} }, "not begun here"},
		"our state after another":       {true, func(s string) url.Values { return url.Values{"code": {"x"}, "state": {"y", s}} }, "not begun here"},
		"a code that is none":           {true, func(s string) url.Values { return url.Values{"code": {"x"}, "state": {s}} }, "used already"},
		"an error and a code":           {true, func(s string) url.Values { return url.Values{"code": {"x"}, "error": {"access_denied"}, "state": {s}} }, "You did not sign in."},
		"a refusal":                     {true, func(s string) url.Values { return url.Values{"error": {"access_denied"}, "state": {s}} }, "You did not sign in."},
		"trouble":                       {true, func(s string) url.Values { return url.Values{"error": {"server_error"}, "state": {s}} }, "has trouble"},
		"an error of a script": {true, func(s string) url.Values {
			return url.Values{"error": {evil}, "error_description": {evil}, "error_uri": {"javascript:alert(1)"}, "state": {s}}
		}, "Signing in did not work. Please try again; if it goes on, tell us."},
		"an error that nobody asked for": {false, func(string) url.Values { return url.Values{"error": {evil}, "error_description": {"Call 0900 12345"}} }, "not begun here"},
	} {
		tab := b.tab() // a tab of its own: nothing begun yet
		tab.goTo(names.AppLink(c.page.App, "an-1"))
		state := ""
		if tc.begun {
			state = tab.begin().Get("state")
		}
		before := c.asked()
		tab.goTo(c.page.App + "?" + tc.query(state).Encode())
		got := fmt.Sprint(tab.eval("document.body.innerText"))
		if says := fmt.Sprint(tab.eval(said)); !strings.Contains(says, tc.says) || strings.Contains(got, "onerror") || strings.Contains(got, "0900") {
			t.Errorf("%s: the page says %q", what, got)
		}
		if n := strings.Count(c.asked(), "authorization_code") - strings.Count(before, "authorization_code"); (n > 0) != (tc.says == "used already") {
			t.Errorf("%s: %d requests for tokens", what, n)
		}
		if kept := tab.eval("sessionStorage.getItem('fbl.refresh')"); kept != nil {
			t.Errorf("%s: kept %v", what, kept)
		}
		if h := tab.history(); strings.Contains(h, "code=") && strings.Contains(h, c.page.App+"?code") || strings.Contains(h, "error=") {
			t.Errorf("%s: the history is %s", what, h)
		}
		want := c.page.App // the link's analysis comes back with an answer of ours alone
		if tc.begun && tc.says != "not begun here" {
			want = names.AppLink(c.page.App, "an-1")
		}
		if at := tab.eval("location.href"); at != want {
			t.Errorf("%s: the address is %v, want %s", what, at, want)
		}
	}
	title := b.eval("document.title")
	c.mu.Lock()
	defer c.mu.Unlock()
	if title == "owned" || len(c.users) > 0 {
		t.Errorf("title %v; users %v", title, c.users)
	}
}

// A link's analysis never leads anywhere but to the page: whatever it holds comes
// back as the same text, in the page's own address.
func TestSignInDeepLinks(t *testing.T) {
	c := start(t)
	c.polls = ended
	b := open(t)
	for i, id := range []string{"an-1", "https://evil.example/", "javascript:document.title='owned'", "a&redirect_uri=https://evil.example", "x#y", "%2e%2e/\\பந்து 💥", evil} {
		tab := b.tab()
		tab.goTo(names.AppLink(c.page.App, id))
		if i == 0 {
			tab.signIn("athlete-1")
		} else {
			tab.eval("document.getElementById('enter').click()") // the cookie signs in
		}
		tab.until("the page again", "location.origin === '"+c.api.URL+"' && document.readyState === 'complete' && "+signedIn, time.Minute)
		if at, back := tab.eval("location.origin + location.pathname"), tab.eval("new URLSearchParams(location.search).get('analysis')"); at != c.page.App || back != id {
			t.Errorf("%q came back as %v at %v", id, back, at)
		}
		if tab.eval("document.title") != "Bowling analysis" {
			t.Errorf("%q: title %v", id, tab.eval("document.title"))
		}
	}
}

// A page that was opened by another name of the same host goes to the one that
// signing in comes back to, and takes the link's analysis along.
func TestSignInAtTheOneAddress(t *testing.T) {
	c := start(t)
	b := open(t)
	b.do("Page.navigate", map[string]any{"url": names.AppLink(strings.Replace(c.page.App, "127.0.0.1", "localhost", 1), "an-1&x")})
	b.until("the page", "location.origin === '"+c.api.URL+"' && document.readyState === 'complete' && "+signedOut, time.Minute)
	if at := b.eval("location.href"); at != names.AppLink(c.page.App, "an-1&x") {
		t.Errorf("it went to %v", at)
	}
}

// An ID token that does not answer this very request is no sign-in: another's
// nonce, none, another client's, another pool's, an access token in its place.
func TestSignInNonce(t *testing.T) {
	c := start(t)
	b := open(t)
	b.goTo(c.page.App)
	claims := func(nonce string) map[string]any {
		return map[string]any{"nonce": nonce, "iss": c.page.Issuer, "aud": c.page.Client, "token_use": "id", "sub": "mallory"}
	}
	for what, change := range map[string]func(m map[string]any){
		"another nonce":   func(m map[string]any) { m["nonce"] = "x" },
		"no nonce":        func(m map[string]any) { delete(m, "nonce") },
		"another client":  func(m map[string]any) { m["aud"] = "x" },
		"another pool":    func(m map[string]any) { m["iss"] = "https://evil.example" },
		"an access token": func(m map[string]any) { m["token_use"] = "access" },
		"no ID token":     nil,
		"":                func(map[string]any) {},
	} {
		nonce := b.begin().Get("nonce")
		c.set(func() { c.tamper = nil })
		m := claims(nonce)
		id := "none"
		if change != nil {
			change(m)
			id = forged(m)
		}
		c.set(func() {
			c.tamper = func(w http.ResponseWriter, r *http.Request) bool {
				if r.URL.Path != names.PathToken {
					return false
				}
				w.Header().Set("Access-Control-Allow-Origin", "*")
				fmt.Fprintf(w, `{"access_token":%q,"id_token":%q,"refresh_token":"r","expires_in":900}`, forged(map[string]any{"token_use": "access", "client_id": c.page.Client, "sub": "mallory"}), id)
				return true
			}
		})
		b.eval("document.getElementById('sign-in').click()")
		b.until("the page", "location.origin === '"+c.api.URL+"' && document.readyState === 'complete' && ("+signedIn+" || "+signedOut+")", time.Minute)
		in := b.eval(signedIn) == true
		if in != (what == "") {
			t.Errorf("%q: signed in is %v, and the page says %v", what, in, b.eval(said))
		}
		if !in && b.eval("sessionStorage.length") != 0.0 {
			t.Errorf("%q: the browser keeps %v", what, b.eval("JSON.stringify(sessionStorage)"))
		}
		b.eval("sessionStorage.clear()")
		b.do("Network.clearBrowserCookies", nil)
		b.goTo(c.page.App)
	}
}

// The policy holds a script to the addresses that take tokens: the rest of the user
// pool's domain cannot be reached by one.
func TestPolicyOfTheUserPool(t *testing.T) {
	c := start(t)
	b := open(t)
	b.goTo(c.page.App)
	reach := func(address string) any {
		return b.eval(fmt.Sprintf("fetch(%q, { method: 'POST', mode: 'no-cors', body: new URLSearchParams({ a: 1 }) }).then(() => true, () => false)", address))
	}
	for address, want := range map[string]bool{c.page.Token: true, c.page.Revoke: true, c.pool.URL + "/oauth2/userInfo": false, c.page.Token + "/x": false,
		c.page.Logout: false, c.pool.URL + "/login": false, c.page.Authorize: false, c.pool.URL: false, c.api.URL + web.Path: true} {
		if got := reach(address); got != want {
			t.Errorf("a script may reach %s: %v, want %v", address, got, want)
		}
	}
}

package web_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"fastbowlinglab/shared/names"
)

const report = "!document.getElementById('report').hidden"

// Tokens that the API takes no more while the page is at work are renewed, one
// renewal for calls at once, and nobody notices.
func TestTokenEndsMidway(t *testing.T) {
	c := start(t)
	c.polls, c.takes = ended, 1 // each of the calls up to the report needs a token of its own
	b := open(t)
	b.goTo(names.AppLink(c.page.App, "an-1"))
	b.signIn("athlete-1")
	b.until("the report", "location.pathname === '/app/' && document.getElementById('report') && "+report, 2*time.Minute)
	if got := c.asked(); strings.Count(got, "refresh_token") != 2 {
		t.Errorf("requests for tokens: %s", got)
	}
	c.set(func() { c.takes = 0 })
	before := c.last()
	b.eval("signIn.token('').then(token => { window.old = token; })")
	c.set(func() {
		for token := range c.calls {
			c.stale[token] = true
		}
	})
	asked := strings.Count(c.asked(), "refresh_token")
	if got := b.eval("Promise.all([1, 2, 3, 4].map(() => call('GET', '/v1/credits'))).then(all => all.map(a => a.status).join())"); got != "200,200,200,200" {
		t.Errorf("four calls at once: %v", got)
	}
	if n := strings.Count(c.asked(), "refresh_token") - asked; n != 1 {
		t.Errorf("%d renewals for four calls at once, want 1", n)
	}
	if b.eval("sessionStorage.getItem('fbl.refresh')") == before {
		t.Error("the refresh token has stayed the same")
	}
}

// A sign-in that ends in mid-use, by whatever, leads to the way in, and signing in
// leads back to the analysis that was shown.
func TestSignInEndsMidway(t *testing.T) {
	c := start(t)
	b := open(t)
	b.goTo(names.AppLink(c.page.App, "an-1"))
	b.signIn("athlete-1")
	b.until("the pose pass", "location.pathname === '/app/' && document.getElementById('stage').textContent.includes('pose')", time.Minute)
	c.set(func() {
		for token := range c.calls {
			c.stale[token] = true
		}
		c.polls = 2
		c.tamper = func(w http.ResponseWriter, r *http.Request) bool {
			if r.URL.Path != names.PathToken {
				return false
			}
			w.Header().Set("Access-Control-Allow-Origin", "*")
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprint(w, `{"error":"invalid_grant"}`)
			return true
		}
	})
	b.until("the way in", signedOut, time.Minute)
	if got := fmt.Sprint(b.eval("document.querySelector('main').innerText")); !strings.Contains(got, "Sign in to see the analysis an-1.") || !strings.Contains(got, "Your sign-in has ended.") {
		t.Errorf("the page says %q", got)
	}
	if got := b.eval("document.getElementById('run').hidden && document.getElementById('report').hidden && document.getElementById('leave').hidden && sessionStorage.length"); got != 0.0 {
		t.Errorf("something of the sign-in is left: %v", got)
	}
	c.set(func() { c.tamper = nil })
	b.eval("document.getElementById('enter').click()") // the cookie is still good
	b.until("the report", "location.pathname === '/app/' && document.getElementById('report') && "+report, time.Minute)
	if at := b.eval("location.href"); at != names.AppLink(c.page.App, "an-1") {
		t.Errorf("it came back to %v", at)
	}
}

// A user pool that is away for a moment ends no sign-in.
func TestUserPoolAway(t *testing.T) {
	c := start(t)
	b := open(t)
	b.goTo(c.page.App)
	b.signIn("athlete-1")
	b.until("the form", "document.getElementById('submit') && !document.getElementById('submit').hidden", time.Minute)
	away := 2
	c.set(func() {
		for token := range c.calls {
			c.stale[token] = true
		}
		c.tamper = func(w http.ResponseWriter, r *http.Request) bool {
			c.mu.Lock()
			defer c.mu.Unlock()
			if away--; r.URL.Path != names.PathToken || away < 0 {
				return false
			}
			if away == 0 {
				w.Header().Set("Access-Control-Allow-Origin", "*")
				w.WriteHeader(http.StatusServiceUnavailable)
				fmt.Fprint(w, `{"error":"busy"}`)
			} else if conn, _, err := http.NewResponseController(w).Hijack(); err == nil {
				conn.Close()
			}
			return true
		}
	})
	if got := b.eval("call('GET', '/v1/credits').then(a => a.status, e => e.message)"); got != 200.0 {
		t.Errorf("a call while the pool was away: %v", got)
	}
	c.set(func() {
		c.takes, away = 0, 100
		for token := range c.calls {
			c.stale[token] = true
		}
	})
	b.eval("{ const real = setTimeout; window.setTimeout = (then) => real(then, 0); 0 }") // five tries at once
	if got := b.eval("call('GET', '/v1/credits').then(a => a.status, e => e.message)"); got != "The sign-in service has trouble. Please try again in a minute." && got != "The sign-in service cannot be reached. Please try again in a minute." {
		t.Errorf("a call while the pool is away: %v", got)
	}
	if b.eval("sessionStorage.getItem('fbl.refresh')") != c.last() {
		t.Error("the sign-in was given up")
	}
}

// A device whose clock is wrong signs in and stays signed in; one whose clock jumps
// at most renews a token too early.
func TestSignInByAWrongClock(t *testing.T) {
	c := start(t)
	b := open(t)
	for what, skew := range map[string]string{"two days ahead": "+172800000", "two days behind": "-172800000", "1970": "* 0"} {
		tab := b.tab()
		tab.do("Page.addScriptToEvaluateOnNewDocument", map[string]any{"source": "{ const now = Date.now; Date.now = () => now() " + skew + "; window.jump = (ms) => { const was = Date.now; Date.now = () => was() + ms; }; }"})
		tab.goTo(c.page.App)
		tab.eval("document.getElementById('enter').click()")
		tab.until("an end", "document.readyState === 'complete' && (document.getElementById('user') || document.getElementById('submit') && !document.getElementById('submit').hidden)", time.Minute)
		if tab.eval("!!document.getElementById('user')") == true {
			tab.eval("document.getElementById('sign-in').click()")
		}
		tab.until("the form", "document.getElementById('submit') && !document.getElementById('submit').hidden", time.Minute)
		n := strings.Count(c.asked(), "refresh_token")
		for _, jump := range []string{"86400000", "-172800000"} {
			if got := tab.eval("jump(" + jump + "); call('GET', '/v1/credits').then(a => a.status, e => e.message)"); got != 200.0 {
				t.Errorf("%s, after a jump of %s ms: %v", what, jump, got)
			}
		}
		if got := strings.Count(c.asked(), "refresh_token") - n; got != 1 {
			t.Errorf("%s: %d renewals, want the one of the jump ahead", what, got)
		}
	}
}

// A page that is loaded again is still signed in, and shows the same analysis.
func TestReload(t *testing.T) {
	c := start(t)
	c.polls = ended
	b := open(t)
	b.goTo(names.AppLink(c.page.App, "an-1"))
	b.signIn("athlete-1")
	b.until("the report", "location.pathname === '/app/' && document.getElementById('report') && "+report, 2*time.Minute)
	b.do("Page.reload", nil)
	b.until("the report again", "performance.getEntriesByType('navigation')[0].type === 'reload' && document.getElementById('report') && "+report, time.Minute)
	if got := c.asked(); got != "authorization_code refresh_token" {
		t.Errorf("requests for tokens: %s", got)
	}
}

// Two tabs sign in side by side, each with a state of its own; an answer in the
// wrong one does nothing. Signing out in one signs out the other, ends both refresh
// tokens and the pool's cookie, and the way back shows nothing.
func TestTwoTabs(t *testing.T) {
	c := start(t)
	c.polls = ended
	one := open(t)
	two := one.tab()
	one.goTo(names.AppLink(c.page.App, "an-1"))
	two.goTo(c.page.App)
	first, second := one.begin(), two.begin()
	if first.Get("state") == second.Get("state") || first.Get("code_challenge") == second.Get("code_challenge") || first.Get("nonce") == second.Get("nonce") {
		t.Error("two sign-ins share a secret")
	}
	two.eval("document.getElementById('sign-in').click()")
	two.until("the form", "document.getElementById('submit') && !document.getElementById('submit').hidden", time.Minute)
	tokenOfTwo := c.last()
	one.eval("document.getElementById('sign-in').click()")
	one.until("the report", "location.pathname === '/app/' && document.getElementById('report') && "+report, time.Minute)
	tokenOfOne := c.last()
	if two.eval("sessionStorage.getItem('fbl.refresh')") != tokenOfTwo || one.eval("sessionStorage.getItem('fbl.refresh')") != tokenOfOne || tokenOfOne == tokenOfTwo {
		t.Error("the tabs' sign-ins are mixed up")
	}

	one.eval("document.getElementById('leave').click()")
	one.until("the way in", "document.readyState === 'complete' && location.search === '' && "+signedOut, time.Minute)
	two.until("the way in", signedOut, time.Minute)
	if says := two.eval(said); says != "You have signed out in another tab." {
		t.Errorf("the other tab says %v", says)
	}
	for what, b := range map[string]*browser{"the one": one, "the other": two} {
		if n := b.eval("sessionStorage.length"); n != 0.0 {
			t.Errorf("%s keeps %v", what, b.eval("JSON.stringify(sessionStorage)"))
		}
		if got := b.eval("document.getElementById('report').hidden && document.getElementById('submit').hidden && document.getElementById('who').textContent"); got != "Not signed in" {
			t.Errorf("%s shows %v", what, got)
		}
		if got := b.eval("call('GET', '/v1/credits').then(a => a.status, e => e.message)"); got != "Your sign-in has ended. Please sign in again." {
			t.Errorf("%s may still call: %v", what, got)
		}
	}
	until(t, "both refresh tokens have ended", func() bool { return c.ended(tokenOfOne) && c.ended(tokenOfTwo) })
	two.begin() // asks who it is: the cookie has gone
	one.eval("history.back()")
	one.until("the way in", "document.readyState === 'complete' && "+signedOut, time.Minute)
	if got := one.eval("document.getElementById('report').hidden && document.getElementById('submit').hidden"); got != true {
		t.Error("the way back shows what was there")
	}
	one.eval("window.was = true; dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))") // from the browser's memory of pages
	one.until("a new load", "!window.was && document.readyState === 'complete' && "+signedOut, time.Minute)
}

// until waits for a condition of the test's own.
func until(t *testing.T, what string, is func() bool) {
	t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(time.Minute); !is(); <-tick.C {
		if time.Now().After(end) {
			t.Fatalf("waited a minute: not so: %s", what)
		}
	}
}

// A renewal whose answer comes after signing out signs nobody in again, and what it
// brought is ended too.
func TestSignOutDuringARenewal(t *testing.T) {
	c := start(t)
	b := open(t)
	b.goTo(c.page.App)
	b.signIn("athlete-1")
	b.until("the form", "document.getElementById('submit') && !document.getElementById('submit').hidden", time.Minute)
	b.eval(`{ const real = fetch; window.fetch = async (...a) => { const r = await real(...a); if (String(a[0]).endsWith('/oauth2/token')) { window.held = true; await new Promise(go => { window.go = go; }); } return r; };
		signIn.token(undefined).then(token => signIn.token(token)).catch(e => { window.ended = e.message; }); 0 }`)
	b.until("the renewal", "window.held", time.Minute)
	late := c.last()
	b.eval("new BroadcastChannel('fbl.sign-out').postMessage('out')") // as another tab does
	b.until("the way in", signedOut, time.Minute)
	b.eval("go()")
	b.until("its end", "window.ended", time.Minute)
	if got := b.eval("sessionStorage.length + window.ended"); got != "0You have signed out." {
		t.Errorf("after signing out: %v", got)
	}
	until(t, "the late refresh token has ended", func() bool { return c.ended(late) })
}

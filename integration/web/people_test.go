package web_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"fastbowlinglab/shared/names"
)

// What the API refuses is said in words that tell what to do, and the form stays.
func TestRefusals(t *testing.T) {
	c := start(t)
	status, body := 0, ""
	c.inAPI = func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method != http.MethodPost || r.URL.Path != "/v1/analyses" {
			return false
		}
		w.WriteHeader(status)
		fmt.Fprint(w, body)
		return true
	}
	b, clip := open(t), newClip(t)
	b.do("Emulation.setDeviceMetricsOverride", map[string]any{"width": 390, "height": 420, "deviceScaleFactor": 2, "mobile": true}) // with its keyboard
	b.enter(c, c.page.App)
	for _, tc := range []struct {
		status     int
		body, says string
	}{
		{402, `{"code":"no_credit","title":"There is no credit left."}`, "There is no credit left, so nothing was sent. Buy one"},
		{503, `{"code":"intake_closed","title":"x"}`, "Nothing was charged; please try again later."},
		{429, `{"code":"too_many_given_back","title":"Too many analyses of today. Nothing was charged; try again tomorrow."}`, "try again tomorrow"},
		{409, `{"code":"athlete_erased","title":"This athlete has asked to be deleted."}`, "takes nothing new"},
		{422, `{"code":"validation_failed","title":"x","errors":[{"field":"email","detail":"not an address"},{"field":"clips[0].size_bytes","detail":"9; between 0 and 3"}]}`,
			"The e-mail address: not an address. The clip is too large. Cut it to the one delivery."},
		{422, `{"code":"validation_failed","title":"x","errors":[{"field":"consent_by.name","detail":"is missing"},{"field":"` + "new" + `","detail":"<b>"}]}`, "The parent's name: is missing. new: <b>."},
		{502, `<html>bad gateway</html>`, "The service has trouble."},
	} {
		c.set(func() { status, body = tc.status, tc.body })
		b.eval("document.getElementById('send').scrollIntoView()")
		b.submit(clip)
		b.until("a refusal", "!document.getElementById('trouble').hidden && !document.getElementById('send').disabled", time.Minute)
		if got := b.text("trouble"); !strings.Contains(got, tc.says) || !b.shows("submit") {
			t.Errorf("%d %s: the page says %q", tc.status, tc.body, got)
		}
		if seen := b.eval("{ const r = document.getElementById('trouble').getBoundingClientRect(); r.top >= 0 && r.bottom <= innerHeight }"); seen != true {
			t.Errorf("%d: what the page says is out of sight", tc.status)
		}
	}
	b.shot("people-1-refused")
}

// A submission that was changed after a try without an answer is another one.
func TestChangedSubmission(t *testing.T) {
	c := start(t)
	keys, away := []string{}, true
	c.inAPI = func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method != http.MethodPost || r.URL.Path != "/v1/analyses" {
			return false
		}
		if away {
			cutOff(w)
			return true
		}
		if keys = append(keys, r.Header.Get("Idempotency-Key")); len(keys) > 1 {
			return false
		}
		w.WriteHeader(422)
		fmt.Fprint(w, `{"code":"idempotency_key_reused","title":"This Idempotency-Key was used for another request."}`)
		return true
	}
	b, clip := open(t), newClip(t)
	b.enter(c, c.page.App)
	b.submit(clip)
	b.until("no answer", "!document.getElementById('trouble').hidden && !document.getElementById('send').disabled", time.Minute)
	first := b.eval("key")
	c.set(func() { away = false })
	b.eval("document.getElementById('name').value = 'Zoë'; 0")
	b.submit(clip)
	b.until("the report", report, time.Minute)
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(keys) < 2 || keys[0] != first || keys[1] == first || len(c.created) != 1 {
		t.Errorf("keys %v, the first %v; created %v", keys, first, c.created)
	}
}

// What somebody has sent is listed, so that a report is found again without a mail and
// on another device; names of files are text.
func TestEarlier(t *testing.T) {
	c := start(t)
	c.polls = ended
	queries := []string{}
	c.inAPI = func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method != http.MethodGet || r.URL.Path != "/v1/analyses" {
			return false
		}
		queries = append(queries, r.URL.RawQuery)
		if r.URL.Query().Get("cursor") == "" {
			fmt.Fprintf(w, `{"analyses":[{"analysis_id":"an-1","status":"ready","created_at":"2026-11-30T07:00:00Z","clips":[{"name":%q}]},
				{"analysis_id":"a&b","status":"reserved","created_at":"2026-11-29T07:00:00Z","clips":[{"name":"b.mp4"}]}],"next_cursor":"on"}`, evil)
		} else {
			fmt.Fprint(w, `{"analyses":[{"analysis_id":"an-3","status":"rejected","created_at":"2026-11-28T07:00:00Z","clips":[{"name":"c.mp4"}]}]}`)
		}
		return true
	}
	b := open(t)
	b.phone()
	b.enter(c, c.page.App)
	b.until("the list", "document.querySelectorAll('#list li').length === 2", time.Minute)
	b.eval("document.getElementById('more').click()")
	b.until("the rest", "document.querySelectorAll('#list li').length === 3 && document.getElementById('more').hidden", time.Minute)
	b.shot("people-2-earlier")
	text := b.text("list")
	for _, want := range []string{evil, "report ready", "clip not uploaded yet", "not analysed, credit given back", "2026"} {
		if !strings.Contains(text, want) {
			t.Errorf("the list is %q, without %q", text, want)
		}
	}
	if got := b.eval("document.querySelectorAll('#list img').length + document.querySelectorAll('#list a')[1].search"); got != "0?analysis=a%26b" {
		t.Errorf("names are text, and links lead to %v", got)
	}
	if wide := b.eval("document.documentElement.scrollWidth <= 390"); wide != true {
		t.Error("the list is wider than the phone")
	}
	b.eval("document.querySelector('#list a').click()")
	b.until("the report", "location.search === '?analysis=an-1' && document.readyState === 'complete' && "+report, time.Minute)
	b.eval("history.back()")
	b.until("the list again", "location.search === '' && document.readyState === 'complete' && document.querySelectorAll('#list li').length === 2", time.Minute)
	if strings.Join(queries[:2], " ") != "limit=10 limit=10&cursor=on" {
		t.Errorf("asked for %v", queries)
	}
}

// The form asks for a parent's name as long as its box says so, also after it was
// emptied; the address for the news is sent when there is one.
func TestForm(t *testing.T) {
	c := start(t)
	b, clip := open(t), newClip(t)
	b.enter(c, c.page.App)
	b.until("the form", "!document.getElementById('submit').hidden", time.Minute)
	const parent = "!document.getElementById('parent-row').hidden + '' + document.getElementById('parent').required + document.getElementById('consent-text').textContent.includes('parent')"
	b.eval("document.getElementById('under').click(); document.getElementById('parent').value = 'Ana'; document.getElementById('email').value = ' ana@example.com '; 0")
	if got := b.eval(parent); got != "truetruetrue" {
		t.Errorf("under age: %v", got)
	}
	b.submit(clip)
	b.until("the report", report, time.Minute)
	c.mu.Lock()
	email := c.request["email"]
	c.request = nil
	c.mu.Unlock()
	if email != "ana@example.com" {
		t.Errorf("the address sent is %v", email)
	}
	b.eval("document.getElementById('again').click()")
	if got := b.eval(parent); got != "falsefalsefalse" {
		t.Errorf("the next clip: %v", got)
	}
	long := filepath.Join(t.TempDir(), strings.Repeat("n", 230)+".mp4") // a longer name than the API takes
	if err := os.WriteFile(long, []byte("video"), 0o644); err != nil {
		t.Fatal(err)
	}
	b.submit(long)
	b.until("the report", report, time.Minute)
	c.mu.Lock()
	defer c.mu.Unlock()
	if name := fmt.Sprint(c.request["clips"].([]any)[0].(map[string]any)["name"]); len(name) != names.MaxNameRunes || !strings.HasSuffix(name, "n.mp4") {
		t.Errorf("the clip is called %s", name)
	}
	if email, sent := c.request["email"]; sent || len(c.created) != 2 {
		t.Errorf("an empty address is sent as %v; %d submissions", email, len(c.created))
	}
}

// A report that is read for long keeps links that are good, by whichever clock.
func TestLinksStayGood(t *testing.T) {
	c := start(t)
	c.polls = ended
	n := 0
	c.inAPI = func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.HasSuffix(r.URL.Path, "/report") {
			return false
		}
		n++
		fmt.Fprintf(w, `{"report_pdf":{"url":"%[1]s/report.pdf?signed=%[2]d"},"report_json":{"url":"%[1]s/report.json"},"pictures":[{"clip":0,"phase":"release","url":"%[1]s/frame.jpg?signed=%[2]d"}]}`, c.bucket.URL, n)
		return true
	}
	b := open(t)
	b.enter(c, names.AppLink(c.page.App, "an-1"))
	b.until("the report", report, time.Minute)
	b.eval("document.dispatchEvent(new Event('visibilitychange'))")
	for i, jump := range []string{"600000", "-86400000"} {
		b.eval("{ const was = Date.now; Date.now = () => was() + " + jump + "; document.dispatchEvent(new Event('visibilitychange')); }")
		b.until("new links", fmt.Sprintf("[document.getElementById('pdf'), document.querySelector('#pictures a')].every(a => a.href.endsWith('signed=%d'))", i+2), time.Minute)
	}
	if err := b.eval("renewLinks().then(() => 0)"); err != 0.0 || n != 3 {
		t.Errorf("links were signed %d times, want 3", n)
	}
}

// Who signed out in another tab leaves nothing of themselves in this one.
func TestNothingIsLeftInAnotherTab(t *testing.T) {
	c := start(t)
	b := open(t)
	b.enter(c, c.page.App)
	b.until("the form", "!document.getElementById('submit').hidden", time.Minute)
	b.eval("document.getElementById('name').value = 'Zoë'; document.getElementById('email').value = 'zoe@example.com'; 0")
	b.submit(newClip(t))
	b.until("the report", report, time.Minute)
	b.eval("new BroadcastChannel('fbl.sign-out').postMessage('out')")
	b.until("the way in", signedOut, time.Minute)
	got := fmt.Sprint(b.eval("document.body.textContent + [...document.querySelectorAll('input, a, img')].map(e => [e.value, e.href, e.src, e.files && e.files.length].join()).join()"))
	for _, left := range []string{"Zoë", "zoe@", "strong action", "report.pdf", "frame.jpg", "clip.mp4"} {
		if strings.Contains(got, left) {
			t.Errorf("%s is left: %s", left, got)
		}
	}
}

// Nor does an answer that was on its way when they signed out.
func TestALateAnswerShowsNothing(t *testing.T) {
	c := start(t)
	c.has(&account{Email: true, Push: true})
	b := open(t)
	b.enter(c, c.page.App)
	b.until("the form", "!document.getElementById('me').hidden", time.Minute)
	b.eval("{ const real = fetch; window.held = []; window.fetch = async (...a) => { const got = await real(...a); await new Promise((on) => held.push(on)); return got; }; window.late = front().catch((e) => e.message); 0 }")
	b.until("the answers", "held.length === 2", time.Minute)
	b.eval("new BroadcastChannel('fbl.sign-out').postMessage('out')")
	b.until("the way in", signedOut, time.Minute)
	if failed := b.eval("held.forEach((on) => on()); late.then((e) => e || '')"); failed != "" {
		t.Errorf("the page failed: %v", failed)
	}
	if b.shows("me") || b.shows("earlier") || b.eval("me === null && document.getElementById('list').children.length === 0") != true {
		t.Errorf("after signing out the page shows %q", b.eval("document.body.innerText"))
	}
}

// A report whose words cannot be had, or are of another shape, still has its PDF.
func TestReportWithoutItsWords(t *testing.T) {
	for what, answer := range map[string]func(w http.ResponseWriter){
		"refused":       func(w http.ResponseWriter) { w.WriteHeader(http.StatusForbidden) },
		"another shape": func(w http.ResponseWriter) { fmt.Fprint(w, `{"clips":[]}`) },
		"cut":           func(w http.ResponseWriter) { fmt.Fprint(w, `{"findings":`) },
	} {
		t.Run(what, func(t *testing.T) {
			c := start(t)
			c.polls = ended
			c.inStore = func(w http.ResponseWriter, r *http.Request) bool {
				if r.URL.Path == "/report.json" {
					answer(w)
				}
				return r.URL.Path == "/report.json"
			}
			b := open(t)
			b.enter(c, names.AppLink(c.page.App, "an-1"))
			b.until("the report", report, time.Minute)
			if at, words := b.eval("document.getElementById('pdf').href"), b.text("words"); at != c.bucket.URL+"/report.pdf" || !strings.Contains(words, "in the PDF") || b.shows("trouble") {
				t.Errorf("the PDF is at %v, and the page says %q, %q", at, words, b.text("trouble"))
			}
		})
	}
}

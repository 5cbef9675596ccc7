package web_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"fastbowlinglab/shared/names"
)

// hasty makes the page wait a moment where it would wait for seconds; what guards
// against a connection that stands still stays as it is.
const hasty = `{ const real = setTimeout; window.setTimeout = (then, ms) => real(then, ms >= 60000 ? ms : Math.min(ms, 20)); }`

// enter opens the page at an address, hasty, and signs in.
func (b *browser) enter(c *cloud, address string) {
	b.t.Helper()
	b.do("Page.addScriptToEvaluateOnNewDocument", map[string]any{"source": hasty})
	b.goTo(address)
	b.signIn("athlete-1")
	b.until("the page again", "location.origin === '"+c.api.URL+"' && document.readyState === 'complete' && "+signedIn, time.Minute)
}

func newClip(t *testing.T) string {
	t.Helper()
	clip := filepath.Join(t.TempDir(), "clip.mp4")
	if err := os.WriteFile(clip, bytes.Repeat([]byte("video"), 20_000), 0o644); err != nil {
		t.Fatal(err)
	}
	return clip
}

// submit fills the form and sends it.
func (b *browser) submit(clip string) {
	b.t.Helper()
	b.until("the form", "!document.getElementById('submit').hidden", time.Minute)
	b.choose("#clip", clip)
	b.eval("{ const c = document.getElementById('consent'); if (!c.checked) c.click(); document.getElementById('send').click(); }")
}

func (b *browser) text(id string) string {
	b.t.Helper()
	return fmt.Sprint(b.eval("document.getElementById('" + id + "').innerText"))
}

func (b *browser) shows(id string) bool {
	b.t.Helper()
	return b.eval("!document.getElementById('"+id+"').hidden") == true
}

func cutOff(w http.ResponseWriter) {
	if conn, _, err := http.NewResponseController(w).Hijack(); err == nil {
		conn.Close()
	}
}

// reserved has the API tell of an analysis whose clip has not come, until it is
// confirmed. It counts what is asked for.
func (c *cloud) reserved(count map[string]int) {
	confirmed := false
	c.inAPI = func(w http.ResponseWriter, r *http.Request) bool {
		what := r.Method + " " + r.URL.Path
		count[what]++
		switch {
		case strings.HasSuffix(what, "/confirm") && c.bytes == 0:
			w.WriteHeader(http.StatusConflict)
			fmt.Fprint(w, `{"code":"clips_missing","title":"Some clips have not been uploaded.","clips":[0]}`)
			return true
		case strings.HasSuffix(what, "/confirm"):
			confirmed = true
		case strings.HasSuffix(what, "/cancel"):
			fmt.Fprint(w, `{"analysis_id":"an-1","status":"failed","reason":"cancelled"}`)
			return true
		case what == "GET /v1/analyses/an-1" && count["POST /v1/analyses/an-1/cancel"] > 0:
			fmt.Fprint(w, `{"analysis_id":"an-1","status":"failed","reason":"cancelled","message":"You cancelled this analysis.","progress":null,"refunded":true,"clips":[]}`)
			return true
		case what == "GET /v1/analyses/an-1" && !confirmed:
			fmt.Fprint(w, `{"analysis_id":"an-1","status":"reserved","stage":"waiting for uploads","progress":null,"refunded":false,"clips":[]}`)
			return true
		}
		return false
	}
}

// An upload that does not get through is no dead end and costs no second credit: the
// page offers the clip it has; after it was closed, the same analysis asks for it.
func TestUploadThatIsCutOff(t *testing.T) {
	c := start(t)
	count, away := map[string]int{}, true
	c.reserved(count)
	c.inStore = func(w http.ResponseWriter, r *http.Request) bool {
		if away && r.Method == http.MethodPost {
			cutOff(w)
		}
		return away && r.Method == http.MethodPost
	}
	b, clip := open(t), newClip(t)
	b.phone()
	b.enter(c, c.page.App)
	b.submit(clip)
	b.until("what to do", "!document.getElementById('resume').hidden", time.Minute)
	b.shot("stuck-1-cut-off")
	if said := b.text("trouble"); !strings.Contains(said, "did not get through") || !strings.Contains(b.text("hint"), "Upload clip.mp4 again") || b.shows("submit") || b.text("who") != "2 credits" {
		t.Errorf("the page says %q, %q, %q", said, b.text("hint"), b.text("who"))
	}
	if at := b.eval("location.href"); at != names.AppLink(c.page.App, "an-1") {
		t.Errorf("the address is %v: the analysis is not found again", at)
	}
	b.do("Page.reload", nil)
	b.until("the page again", "performance.getEntriesByType('navigation')[0].type === 'reload' && document.readyState === 'complete' && !document.getElementById('resume').hidden", time.Minute)
	b.shot("stuck-2-reserved")
	if got := b.eval("document.querySelector('[aria-current]').dataset.step + document.getElementById('clip-again').required + document.getElementById('bar').hidden"); got != "uploadtruetrue" {
		t.Errorf("an analysis without its clip is shown as %v", got)
	}
	c.set(func() { away = false })
	b.choose("#clip-again", clip)
	b.eval("document.querySelector('#resume button').click()")
	b.until("the report", report, time.Minute)
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.created) != 1 || c.bytes != 100_000 || count["POST /v1/analyses/an-1/confirm"] < 1 {
		t.Errorf("%d submissions, %d bytes, %v", len(c.created), c.bytes, count)
	}
}

// A clip that had arrived when the page was closed is not asked for again.
func TestUploadThatWasThere(t *testing.T) {
	c := start(t)
	count := map[string]int{}
	c.bytes = 1
	c.reserved(count)
	b := open(t)
	b.enter(c, names.AppLink(c.page.App, "an-1"))
	b.until("the report", report, time.Minute)
	c.mu.Lock()
	defer c.mu.Unlock()
	if count["POST /v1/analyses/an-1/uploads"] != 0 || count["POST /v1/analyses/an-1/confirm"] == 0 {
		t.Errorf("%v", count)
	}
}

// A connection on which nothing moves any more is given up for a new one.
func TestUploadThatStandsStill(t *testing.T) {
	c := start(t)
	c.reserved(map[string]int{})
	held := make(chan struct{})
	tries := 0
	c.bucket.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			c.mu.Lock()
			tries++
			first := tries == 1
			c.mu.Unlock()
			if first { // takes it, and never answers
				_, _ = io.Copy(io.Discard, r.Body)
				close(held)
				<-r.Context().Done()
				return
			}
		}
		c.store(w, r)
	})
	b := open(t)
	b.do("Page.addScriptToEvaluateOnNewDocument", map[string]any{"source": "{ const real = setTimeout; window.setTimeout = (then, ms) => ms >= 60000 ? (window.watch = then, real(() => {}, 0)) : real(then, Math.min(ms, 20)); }"})
	b.goTo(c.page.App)
	b.signIn("athlete-1")
	b.until("the page again", "location.origin === '"+c.api.URL+"' && document.readyState === 'complete' && "+signedIn, time.Minute)
	b.submit(newClip(t))
	const asks = "(() => { const e = new Event('beforeunload', { cancelable: true }); dispatchEvent(e); return e.defaultPrevented; })()"
	<-held
	if b.eval(asks) != true {
		t.Error("leaving in the middle of an upload asks nothing")
	}
	b.eval("watch()") // a minute has passed
	b.until("the report", report, time.Minute)
	c.mu.Lock()
	defer c.mu.Unlock()
	if b.eval(asks) != false {
		t.Error("leaving asks after the upload too")
	}
	if tries != 2 || c.bytes != 100_000 {
		t.Errorf("%d tries, %d bytes", tries, c.bytes)
	}
}

// A form that is no longer good is replaced; a clip that is too large is said to be.
func TestUploadForms(t *testing.T) {
	c := start(t)
	count, refused, says := map[string]int{}, 1, `<Error><Code>AccessDenied</Code><Message>Invalid according to Policy: Policy expired.</Message></Error>`
	c.reserved(count)
	c.inStore = func(w http.ResponseWriter, r *http.Request) bool {
		if refused == 0 || r.Method != http.MethodPost {
			return false
		}
		refused--
		w.WriteHeader(http.StatusForbidden)
		fmt.Fprint(w, says)
		return true
	}
	b, clip := open(t), newClip(t)
	b.enter(c, names.AppLink(c.page.App, "an-1"))
	b.until("the way on", "!document.getElementById('resume').hidden", time.Minute)
	c.set(func() { refused, says = 1, "<Code>EntityTooLarge</Code>" })
	b.choose("#clip-again", clip)
	b.eval("document.querySelector('#resume button').click()")
	b.until("a refusal", "!document.getElementById('trouble').hidden", time.Minute)
	said, forms := b.text("trouble"), 0
	c.set(func() { // the page goes on asking meanwhile
		forms = count["POST /v1/analyses/an-1/uploads"]
		refused, says = 2, "<Code>AccessDenied</Code>"
	})
	if !strings.Contains(said, "too large") || forms != 1 {
		t.Errorf("the page says %q after %d forms", said, forms)
	}
	b.eval("document.querySelector('#resume button').click()") // the clip is still there
	b.until("the report", report, time.Minute)
	if b.shows("trouble") {
		t.Errorf("beside the report the page says %q", b.text("trouble"))
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if count["POST /v1/analyses/an-1/uploads"] != 4 || c.bytes != 100_000 {
		t.Errorf("%d bytes, %v", c.bytes, count)
	}
}

// An upload that comes after its time finds the analysis ended, and the credit back.
func TestUploadTooLate(t *testing.T) {
	c := start(t)
	late := false
	c.inAPI = func(w http.ResponseWriter, r *http.Request) bool {
		switch what := r.Method + " " + r.URL.Path; {
		case strings.HasSuffix(what, "/uploads"):
			late = true
			fmt.Fprint(w, `{"analysis_id":"an-1","status":"reserved","uploads":[]}`)
		case strings.HasSuffix(what, "/confirm"):
			w.WriteHeader(http.StatusConflict)
			fmt.Fprintf(w, `{"code":%q,"title":"x"}`, map[bool]string{true: "analysis_ended", false: "clips_missing"}[late])
		case what == "GET /v1/analyses/an-1":
			fmt.Fprintf(w, `{"analysis_id":"an-1","status":%q,"message":"The clip was not uploaded in time.","progress":null,"refunded":%t,"clips":[]}`, map[bool]string{true: "expired", false: "reserved"}[late], late)
		default:
			return false
		}
		return true
	}
	b := open(t)
	b.enter(c, names.AppLink(c.page.App, "an-1"))
	b.until("the way on", "!document.getElementById('resume').hidden", time.Minute)
	b.choose("#clip-again", newClip(t))
	b.eval("document.querySelector('#resume button').click()")
	b.until("its end", "!document.getElementById('again').hidden && !document.getElementById('refund').hidden", time.Minute)
	if b.shows("trouble") || b.text("stage") != "The clip was not uploaded in time." || b.shows("resume") {
		t.Errorf("the page shows %q and %q", b.text("trouble"), b.text("run"))
	}
}

// An app's several clips are not mixed up with one of the page's.
func TestSeveralClipsOfAnApp(t *testing.T) {
	c := start(t)
	c.inAPI = func(w http.ResponseWriter, r *http.Request) bool {
		switch r.URL.Path {
		case "/v1/analyses/an-1/confirm":
			w.WriteHeader(http.StatusConflict)
			fmt.Fprint(w, `{"code":"clips_missing","title":"x","clips":[1]}`)
		case "/v1/analyses/an-1":
			fmt.Fprint(w, `{"analysis_id":"an-1","status":"reserved","progress":null,"clips":[{"name":"a.mp4"},{"name":"b.mp4"}]}`)
		default:
			return false
		}
		return true
	}
	b := open(t)
	b.enter(c, names.AppLink(c.page.App, "an-1"))
	b.until("the way out", "!document.getElementById('cancel').hidden", time.Minute)
	if b.shows("resume") || !strings.Contains(b.text("hint"), "several clips") {
		t.Errorf("the page offers %q", b.text("run"))
	}
}

// What was reserved and is not wanted is given back.
func TestCancel(t *testing.T) {
	c := start(t)
	count := map[string]int{}
	c.reserved(count)
	b := open(t)
	b.enter(c, names.AppLink(c.page.App, "an-1"))
	b.until("the way out", "!document.getElementById('cancel').hidden", time.Minute)
	b.eval("document.getElementById('cancel').click()")
	b.until("its end", "!document.getElementById('again').hidden && document.getElementById('refund').textContent === 'Your credit has been given back.'", time.Minute)
	if b.shows("cancel") || b.shows("resume") || b.text("stage") != "You cancelled this analysis." {
		t.Errorf("the page shows %q", b.text("run"))
	}
}

// A connection that is away while an analysis goes on, and a gateway that has too much
// to do, are waited for: the report comes without anybody's doing.
func TestServiceAwayInBetween(t *testing.T) {
	for what, answer := range map[string]func(w http.ResponseWriter){
		"cut off":   cutOff,
		"throttled": func(w http.ResponseWriter) { w.WriteHeader(429); fmt.Fprint(w, `{"message":"Too Many Requests"}`) },
		"broken":    func(w http.ResponseWriter) { w.WriteHeader(500); fmt.Fprint(w, `{"message":"Internal Server Error"}`) },
	} {
		t.Run(what, func(t *testing.T) {
			c := start(t)
			left := 0
			c.inAPI = func(w http.ResponseWriter, r *http.Request) bool {
				if left == 0 || r.URL.Path != "/v1/analyses/an-1" {
					return false
				}
				left--
				answer(w)
				return true
			}
			b := open(t)
			b.enter(c, names.AppLink(c.page.App, "an-1"))
			b.eval("{ window.seen = []; new MutationObserver(() => seen.push(document.getElementById('trouble').textContent)).observe(document.getElementById('trouble'), { childList: true }); }")
			c.set(func() { left, c.polls = 12, 2 })
			b.until("the report", report, time.Minute)
			if seen := fmt.Sprint(b.eval("seen.join('|')")); !strings.Contains(seen, "goes on without it") || b.shows("trouble") || b.shows("submit") {
				t.Errorf("meanwhile the page said %q, and now %q", seen, b.text("trouble"))
			}
		})
	}
}

// A service that is away when the page is opened ends no sign-in: the page says so
// and has a way to try again.
func TestServiceAwayAtTheStart(t *testing.T) {
	c := start(t)
	b := open(t)
	b.phone()
	b.enter(c, c.page.App)
	c.set(func() {
		c.inAPI = func(w http.ResponseWriter, _ *http.Request) bool {
			w.WriteHeader(503)
			fmt.Fprint(w, `{"message":"Service Unavailable"}`)
			return true
		}
	})
	b.do("Page.reload", nil)
	b.until("the trouble", "performance.getEntriesByType('navigation')[0].type === 'reload' && document.readyState === 'complete' && !document.getElementById('retry').hidden", time.Minute)
	b.shot("stuck-3-away")
	if got := b.eval("document.getElementById('sign-in').hidden && document.getElementById('who').textContent === '' && " + said); got != "The service has trouble. Please try again in a minute." {
		t.Errorf("the page says %v", got)
	}
	c.set(func() { c.inAPI = nil })
	b.eval("document.getElementById('retry').click()")
	b.until("the form", "document.readyState === 'complete' && "+signedIn+" && !document.getElementById('submit').hidden", time.Minute)
}

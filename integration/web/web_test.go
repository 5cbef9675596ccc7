package web_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"fastbowlinglab/integration/local/httpapi"
	"fastbowlinglab/integration/local/signin"
	"fastbowlinglab/integration/web"
	"fastbowlinglab/shared/names"
)

const evil = `<img src=x onerror="document.title='owned'">"&amp;`

// cloud answers as the API and the bucket do, the first time of each POST by
// cutting the connection after the effect. The user pool is the embedded cloud's.
type cloud struct {
	mu      sync.Mutex
	api     *httptest.Server
	bucket  *httptest.Server
	pool    *httptest.Server
	issuer  *httpapi.Issuer
	signIn  http.Handler // the user pool's pages
	page    names.Page
	created map[string]string // request by key
	cut     map[string]bool
	bytes   int
	form    map[string]string
	polls   int
	notMod  int
	request map[string]any
	body    []byte // of the request that the API answers

	users   map[string]bool                                          // who called the API
	stale   map[string]bool                                          // tokens that the API takes no more
	takes   int                                                      // calls that a token is good for; 0: all
	calls   map[string]int                                           // by token
	grants  []string                                                 // grant_type of each request for tokens
	revoked []string                                                 // refresh tokens
	refresh string                                                   // the last refresh token that was given
	tamper  func(w http.ResponseWriter, r *http.Request) (done bool) // at the user pool
	inAPI   func(w http.ResponseWriter, r *http.Request) (done bool) // in place of the API; the caller is known, and CORS headers are written
	inStore func(w http.ResponseWriter, r *http.Request) (done bool) // in place of the bucket, as well
}

// ended is how many polls lead to the report.
const ended = 6

func start(t *testing.T) *cloud {
	t.Helper()
	c := &cloud{created: map[string]string{}, cut: map[string]bool{}, users: map[string]bool{}, stale: map[string]bool{}, calls: map[string]int{}}
	c.bucket = httptest.NewServer(http.HandlerFunc(c.store))
	issuer, err := httpapi.OpenIssuer(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	c.issuer = issuer
	c.api, c.pool = httptest.NewUnstartedServer(nil), httptest.NewUnstartedServer(nil)
	at := func(s *httptest.Server) string { return "http://" + s.Listener.Addr().String() }
	c.page = names.NewPage(at(c.api)+web.Path, at(c.api), c.bucket.URL, httpapi.IssuerURL, httpapi.PageClientID, at(c.pool))
	c.signIn = signin.New(c.page, issuer, "athlete-1", nil)
	page, err := web.Handler(c.page)
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle(web.Path, page)
	mux.HandleFunc("/v1/", c.cors)
	mux.HandleFunc("/favicon.ico", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	c.api.Config.Handler, c.pool.Config.Handler = mux, c.watch()
	c.api.Start()
	c.pool.Start()
	t.Cleanup(func() { c.api.Close(); c.bucket.Close(); c.pool.Close() })
	return c
}

// caller tells whose token a request has, "" where the API takes it no more. That
// tokens are checked well is tested where they are.
func (c *cloud) caller(r *http.Request) string {
	token := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	claims := jwt.MapClaims{}
	if _, _, err := jwt.NewParser().ParseUnverified(token, claims); err != nil || claims["token_use"] != "access" || claims["client_id"] != c.page.Client {
		return ""
	}
	if c.calls[token]++; c.stale[token] || c.takes > 0 && c.calls[token] > c.takes {
		return ""
	}
	who := fmt.Sprint(claims["sub"])
	c.users[who] = true
	return who
}

// lost cuts the answer to the first request of each kind.
func (c *cloud) lost(w http.ResponseWriter, what string) bool {
	if c.cut[what] {
		return false
	}
	c.cut[what] = true
	if conn, _, err := http.NewResponseController(w).Hijack(); err == nil {
		conn.Close()
	}
	return true
}

func (c *cloud) serve(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	body, _ := io.ReadAll(r.Body)
	c.body = body
	if c.caller(r) == "" {
		http.Error(w, `{"message":"Unauthorized"}`, http.StatusUnauthorized)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	if c.inAPI != nil && c.inAPI(w, r) {
		return
	}
	say := func(status int, v any) { w.WriteHeader(status); _ = json.NewEncoder(w).Encode(v) }
	type m = map[string]any
	forms := []m{{"clip": 0, "url": c.bucket.URL + "/clips", "fields": m{"key": "clips/an-1/0", "policy": "p"}}}
	switch r.Method + " " + r.URL.Path {
	case "GET /v1/credits":
		say(200, m{"balance": 3 - len(c.created), "entries": []any{}})
	case "POST /v1/analyses":
		c.created[r.Header.Get("Idempotency-Key")] = string(body)
		_ = json.Unmarshal(body, &c.request)
		if !c.lost(w, "create") {
			say(201, m{"analysis_id": "an-1", "status": "reserved", "uploads": forms})
		}
	case "POST /v1/analyses/an-1/uploads":
		say(200, m{"analysis_id": "an-1", "status": "reserved", "uploads": forms})
	case "GET /v1/analyses":
		say(200, m{"analyses": []m{}})
	case "GET /v1/me":
		say(200, m{"athlete_id": "athlete-1", "channels": m{"email": true, "push": true}, "version": 0})
	case "POST /v1/analyses/an-1/confirm":
		if !c.lost(w, "confirm") {
			say(202, m{"analysis_id": "an-1", "status": "queued"})
		}
	case "GET /v1/analyses/an-1":
		c.polls++
		step := min(c.polls/2, 3) // each state twice, so that one poll finds nothing new
		tag := fmt.Sprintf(`"%d"`, step)
		w.Header().Set("ETag", tag)
		if r.Header.Get("If-None-Match") == tag {
			c.notMod++
			w.WriteHeader(http.StatusNotModified)
			return
		}
		say(200, []m{{"status": "queued", "stage": "queued", "progress": nil}, {"status": "analysing", "stage": "clip 1 of 1: pose " + evil, "progress": .4,
			"estimated_end": time.Now().Add(time.Minute)}, {"status": "analysing", "stage": "writing the report", "progress": .9}, {"status": "ready", "progress": 1}}[step])
	case "GET /v1/analyses/an-1/report":
		link := func(p string) m { return m{"url": c.bucket.URL + p, "expires_at": time.Now()} }
		say(200, m{"report_pdf": link("/report.pdf"), "report_json": link("/report.json"), "pictures": []m{
			{"clip": 0, "phase": "front_foot_contact", "url": c.bucket.URL + "/frame.jpg"}, {"clip": 0, "phase": evil, "url": c.bucket.URL + "/frame.jpg"}}})
	default:
		say(404, m{"title": "no such thing: " + r.URL.Path})
	}
}

// store is the bucket, with its CORS rule.
func (c *cloud) store(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	w.Header().Set("Access-Control-Allow-Origin", "*")
	if c.inStore != nil && c.inStore(w, r) {
		return
	}
	switch {
	case r.Method == http.MethodOptions:
		w.Header().Set("Access-Control-Allow-Methods", "POST, GET")
	case r.Method == http.MethodPost:
		if err := r.ParseMultipartForm(1 << 20); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		c.form = map[string]string{}
		for k, v := range r.MultipartForm.Value {
			c.form[k] = v[0]
		}
		c.bytes = int(r.MultipartForm.File["file"][0].Size)
		w.WriteHeader(http.StatusNoContent)
	case r.URL.Path == "/report.json":
		_ = json.NewEncoder(w).Encode(map[string]any{"findings": map[string]any{"summary": "A strong action. " + evil, "author": map[string]string{"provider": "rules"},
			"items": []map[string]string{{"title": "Braced front leg " + evil, "detail": "The front knee stays firm. பந்துவீச்சு"}}},
			"coaching": map[string]any{"summary": "One drill.", "safety": "Warm up first. " + evil,
				"drills": []map[string]any{{"title": "Box " + evil, "purpose": "A firm knee.", "steps": []string{"Step off.", "Land firm."}, "dose": "2 sets of 6"}}},
			"limits": []string{"It is no medical advice."}})
	case r.URL.Path == "/frame.jpg":
		img := image.NewRGBA(image.Rect(0, 0, 180, 320))
		for i := range img.Pix {
			img.Pix[i] = byte(i * 7)
		}
		img.Set(0, 0, color.Black)
		var b bytes.Buffer
		_ = jpeg.Encode(&b, img, nil)
		_, _ = w.Write(b.Bytes())
	}
}

// An athlete's way through the page on a phone, with every POST's first answer
// lost: one analysis, the clip whole, every stage shown, hostile text as text.
func TestPage(t *testing.T) {
	c := start(t)
	b := open(t)
	b.phone()
	clip := filepath.Join(t.TempDir(), "clip.mp4")
	if err := os.WriteFile(clip, bytes.Repeat([]byte("video"), 200_000), 0o644); err != nil {
		t.Fatal(err)
	}
	b.do("Page.navigate", map[string]any{"url": c.api.URL + web.Path})
	b.signIn("athlete-1")
	b.until("the balance", "document.getElementById('who').textContent === '3 credits'", time.Minute)
	b.choose("#clip", clip)
	b.eval(`{ const set = (id, v) => { const e = document.getElementById(id); if (e.type === 'checkbox') { e.click(); } else { e.value = v; } };
		set('name', ` + "`" + evil + "`" + `); set('under'); set('parent', 'Ana'); set('consent'); }`)
	b.shot("2-form")
	b.eval(`{ window.seen = new Set(); new MutationObserver(() => seen.add(document.getElementById('stage').textContent)).observe(document.getElementById('stage'), { childList: true });
		window.bars = []; new MutationObserver(() => bars.push(document.getElementById('bar').value)).observe(document.getElementById('bar'), { attributes: true }); }`)
	b.eval("document.getElementById('send').click()")
	b.until("the pose pass", "document.getElementById('stage').textContent.includes('pose')", time.Minute)
	b.shot("3-running")
	b.until("the report", "!document.getElementById('report').hidden", 2*time.Minute)
	b.until("the pictures", "document.querySelectorAll('#pictures img').length === 2 && [...document.images].every(i => i.complete && i.naturalWidth > 0)", time.Minute)
	b.shot("4-report")

	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.created) != 1 {
		t.Errorf("%d keys for one submission: %v", len(c.created), c.created)
	}
	if c.bytes != 1_000_000 || c.form["key"] != "clips/an-1/0" || c.form["policy"] != "p" {
		t.Errorf("%d bytes under %v were uploaded", c.bytes, c.form)
	}
	if by := fmt.Sprint(c.request["consent_by"]); by != "map[name:Ana role:parent]" || c.request["athlete"].(map[string]any)["under_age"] != true {
		t.Errorf("request %v", c.request)
	}
	if c.notMod == 0 {
		t.Error("no poll was answered with 304: the tag is not used")
	}
	seen := fmt.Sprint(b.eval("[...seen].join('|')"))
	for _, s := range []string{"Uploading", "Queued", "pose", "Writing the report", "Your report is ready."} {
		if !strings.Contains(seen, s) {
			t.Errorf("the stages shown were %q, without %q", seen, s)
		}
	}
	if title := b.eval("document.title"); title != "Bowling analysis" {
		t.Errorf("hostile text ran: title %q", title)
	}
	if n := b.eval("document.querySelectorAll('#words img, #stage img').length"); n != 0.0 {
		t.Errorf("%v elements were made of text", n)
	}
	text := fmt.Sprint(b.eval("document.getElementById('words').textContent"))
	for _, want := range []string{"A strong action. " + evil, "பந்துவீச்சு", "Box " + evil, "Step off. Land firm.", "2 sets of 6", "Warm up first. " + evil, "no medical advice"} {
		if !strings.Contains(text, want) {
			t.Errorf("words %q, without %q", text, want)
		}
	}
	if wide := b.eval("document.documentElement.scrollWidth <= 390 && innerWidth <= 390"); wide != true {
		t.Error("the page is wider than the phone")
	}
	for _, e := range b.errors {
		if !strings.Contains(e, "ERR_EMPTY_RESPONSE") && !strings.Contains(e, "Failed to load resource") { // the answers that were cut
			t.Errorf("the console says %s", e)
		}
	}
}

// A mail's link names an analysis: whoever signs in sees that one, whatever the
// link holds, and no other is made.
func TestPageOfAnAnalysis(t *testing.T) {
	c := start(t)
	c.polls = ended
	b := open(t)
	b.phone()
	b.do("Page.navigate", map[string]any{"url": names.AppLink(c.api.URL+web.Path, "an-1")})
	b.until("the way in", "document.readyState === 'complete' && !document.getElementById('enter').disabled", 90*time.Second)
	if said := fmt.Sprint(b.eval("document.getElementById('sign-in').innerText")); !strings.Contains(said, "an-1") {
		t.Errorf("before signing in the page says %q", said)
	}
	b.signIn("athlete-1")
	b.until("the report", "!document.getElementById('report').hidden", 2*time.Minute)
	if got := b.eval("document.getElementById('submit').hidden && document.getElementById('sign-in').hidden && document.getElementById('pdf').href"); got != c.bucket.URL+"/report.pdf" {
		t.Errorf("a form, or another report: %v", got)
	}
	b.shot("6-of-an-analysis")
	b.eval("document.getElementById('again').click()")
	if got := b.eval("location.search + document.getElementById('submit').hidden"); got != "false" {
		t.Errorf("another clip is sent from %v", got)
	}

	const other = "../" + evil
	b = b.tab()
	b.do("Page.navigate", map[string]any{"url": names.AppLink(c.api.URL+web.Path, other)})
	b.until("the way in", "document.readyState === 'complete' && !document.getElementById('enter').disabled", 90*time.Second)
	b.eval("document.getElementById('enter').click()") // the pool's pages know who it is
	b.until("a refusal", "!document.getElementById('trouble').hidden", time.Minute)
	if said := b.eval("document.getElementById('trouble').textContent"); !strings.HasPrefix(fmt.Sprint(said), "You have no analysis "+other+". ") {
		t.Errorf("of an analysis that is not there the page says %q", said)
	}
	if n := b.eval("document.querySelectorAll('#trouble *, #sign-in-text *').length"); n != 0.0 {
		t.Errorf("%v elements were made of text", n)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.created) != 0 {
		t.Errorf("looking made %v", c.created)
	}
}

package web_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"fastbowlinglab/integration/web"
	"fastbowlinglab/shared/names"
)

// The policy lets nothing in that is not the page's own or its storage's, and of
// the user pool's domain the two addresses that take tokens.
func TestPolicy(t *testing.T) {
	c := start(t)
	resp, err := http.Get(c.api.URL + web.Path)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, _ := io.ReadAll(resp.Body)
	csp := resp.Header.Get("Content-Security-Policy")
	want := "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self' " + c.api.URL + " " + c.bucket.URL + " " +
		c.pool.URL + "/oauth2/token " + c.pool.URL + "/oauth2/revoke; img-src 'self' " + c.bucket.URL + "; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
	if csp != want {
		t.Errorf("policy %q, want %q", csp, want)
	}
	for _, inline := range []string{"onclick", "style=", "<style", "javascript:"} {
		if bytes.Contains(body, []byte(inline)) {
			t.Errorf("the page holds %q", inline)
		}
	}
	scripts, err := filepath.Glob("page/*.js")
	if err != nil || len(scripts) != 8 {
		t.Fatalf("scripts %v, %v", scripts, err)
	}
	for _, name := range scripts {
		js, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, unsafe := range []string{"innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "localStorage", "document.cookie", "console.", "http://", "https://"} {
			if bytes.Contains(js, []byte(unsafe)) {
				t.Errorf("%s uses %s", name, unsafe)
			}
		}
	}
	bad := c.page
	bad.Storage = "http://x; script-src *"
	if _, err := web.Handler(bad); err == nil {
		t.Error("an origin that changes the policy was taken")
	}
	if err := web.Write(t.TempDir(), bad); err == nil {
		t.Error("an origin that changes the policy was written")
	}
}

// The page as it is written for a host is the page that is served, told of its
// deployment by config.json alone, with the policy in it.
func TestWrite(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new")
	page := names.NewPage("https://app.example.com/", "https://api.example.com", "https://media.example.com", "https://issuer.example.com/pool", "client-1", "https://lab.auth.example.com")
	if err := web.Write(dir, page); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(filepath.Join(dir, web.ConfigFile))
	if err != nil {
		t.Fatal(err)
	}
	var got names.Page
	if err := json.Unmarshal(b, &got); err != nil || got != page {
		t.Errorf("%s is %s, %v", web.ConfigFile, b, err)
	}
	index, err := os.ReadFile(filepath.Join(dir, "index.html"))
	if err != nil {
		t.Fatal(err)
	}
	meta := `<meta http-equiv="Content-Security-Policy" content="` + web.Policy(page) + `">`
	if n := bytes.Count(index, []byte(meta)); n != 1 || bytes.Index(index, []byte(meta)) > bytes.Index(index, []byte("<link")) || bytes.Index(index, []byte(meta)) > bytes.Index(index, []byte("<script")) {
		t.Errorf("the policy is %d times, or too late, in %s", n, index)
	}
	sources, err := os.ReadDir("page")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range sources {
		source, err1 := os.ReadFile(filepath.Join("page", f.Name()))
		written, err2 := os.ReadFile(filepath.Join(dir, f.Name()))
		if f.Name() == "index.html" {
			written = bytes.Replace(written, []byte("\n"+meta), nil, 1)
		}
		if err1 != nil || err2 != nil || !bytes.Equal(source, written) {
			t.Errorf("%s is written differently: %v, %v", f.Name(), err1, err2)
		}
		for _, own := range []string{"example.com", "client-1", "amazoncognito"} {
			if strings.Contains(string(source), own) {
				t.Errorf("%s holds %s", f.Name(), own)
			}
		}
	}
}

// The written page works as it does in a deployment: on a host that knows nothing of
// it, at another origin than the API, held to the policy that is in it.
func TestWrittenPage(t *testing.T) {
	c := start(t)
	c.polls = ended
	dir := t.TempDir()
	var told atomic.Value
	files := http.StripPrefix("/lab", http.FileServer(http.Dir(dir)))
	host := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(r.Referer(), "code=") {
			told.Store(r.URL.Path)
		}
		files.ServeHTTP(w, r)
	}))
	t.Cleanup(host.Close)
	page := names.NewPage(host.URL+"/lab/", c.api.URL, c.bucket.URL, c.page.Issuer, c.page.Client, c.pool.URL)
	if err := web.Write(dir, page); err != nil {
		t.Fatal(err)
	}
	c.move(page)
	b := open(t)
	b.goTo(names.AppLink(page.App, "an-1"))
	b.signIn("athlete-1")
	b.until("the report", "location.pathname === '/lab/' && document.readyState === 'complete' && "+report, time.Minute)
	b.until("the pictures", "document.querySelectorAll('#pictures img').length === 2 && [...document.images].every(i => i.complete && i.naturalWidth > 0)", time.Minute)
	if at := b.eval("location.href"); at != names.AppLink(page.App, "an-1") {
		t.Errorf("it came back to %v", at)
	}
	if path := told.Load(); path != nil {
		t.Errorf("a code is the Referer of %v: such a host sends no Referrer-Policy, and the page's own comes too late", path)
	}
	for _, e := range b.errors {
		t.Errorf("the console says %s", e)
	}
	got := b.eval(fmt.Sprintf("fetch(%q, { method: 'POST', mode: 'no-cors' }).then(() => true, () => false)", c.pool.URL+"/oauth2/userInfo"))
	if got != false {
		t.Error("the written page is not held to its policy")
	}
}

package web_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// account is an athlete as the API knows one.
type account struct {
	Email, Push bool
	Version     int
	Erased      bool
	puts        []string
}

// has lets the API tell of an account, by the rules of PUT /v1/me.
func (c *cloud) has(a *account) {
	c.inAPI = func(w http.ResponseWriter, r *http.Request) bool {
		switch r.Method + " " + r.URL.Path {
		case "PUT /v1/me":
			var in struct {
				Channels struct{ Email, Push bool }
				Version  int
			}
			_ = json.Unmarshal(c.body, &in)
			a.puts = append(a.puts, string(c.body))
			if in.Version != a.Version {
				w.WriteHeader(http.StatusConflict)
				fmt.Fprint(w, `{"code":"channels_changed","title":"x"}`)
				return true
			}
			a.Email, a.Push = in.Channels.Email, in.Channels.Push
			a.Version++
		case "DELETE /v1/me":
			a.Erased = true
			w.WriteHeader(http.StatusAccepted)
			fmt.Fprint(w, `{"state":"open"}`)
			return true
		case "GET /v1/me/export":
			next := ""
			if r.URL.Query().Get("cursor") == "" {
				next = `,"next_cursor":"a b"`
			}
			fmt.Fprintf(w, `{"balance":3,"analyses":[{"analysis_id":"an-%s"}]%s}`, r.URL.Query().Get("cursor"), next)
			return true
		case "GET /v1/me":
		default:
			return false
		}
		erasure := ""
		if a.Erased {
			erasure = `,"erasure":{"state":"open"}`
		}
		fmt.Fprintf(w, `{"athlete_id":"athlete-1","channels":{"email":%t,"push":%t},"version":%d%s}`, a.Email, a.Push, a.Version, erasure)
		return true
	}
}

// Somebody who wants no mail is heard, whatever another tab chose meanwhile; mail that
// was declined elsewhere comes back only when they have seen that.
func TestMailsOfTwoTabs(t *testing.T) {
	c := start(t)
	a := &account{Email: true, Push: true}
	c.has(a)
	b := open(t)
	b.phone()
	b.enter(c, c.page.App)
	b.until("the choice", "!document.getElementById('me').hidden && document.getElementById('mails').checked", time.Minute)
	b.shot("me-1")
	c.set(func() { a.Push, a.Version = false, 1 }) // another tab wants no push
	b.eval("document.getElementById('mails').click()")
	b.until("no mails", "document.getElementById('me-said').textContent === 'You get no more mails.' && !document.getElementById('mails').disabled", time.Minute)
	c.mu.Lock()
	if a.Email || a.Push || a.Version != 2 {
		t.Errorf("the account has %+v", *a)
	}
	a.Version = 3 // another tab chose the same again
	c.mu.Unlock()
	b.eval("document.getElementById('mails').click()")
	b.until("how it stands", "document.getElementById('me-said').textContent.includes('elsewhere') && !document.getElementById('mails').checked && !document.getElementById('mails').disabled", time.Minute)
	b.eval("document.getElementById('mails').click()")
	b.until("mails", "document.getElementById('me-said').textContent.includes('You get a mail') && document.getElementById('mails').checked", time.Minute)
	c.mu.Lock()
	defer c.mu.Unlock()
	if !a.Email || a.Push || len(a.puts) != 4 || strings.Contains(strings.Join(a.puts[1:], ""), `"push":true`) {
		t.Errorf("the account has %+v", *a)
	}
}

// All that is held comes as one file; everything is deleted by a word, not by a slip.
func TestYourData(t *testing.T) {
	c := start(t)
	a := &account{Email: true, Push: true}
	c.has(a)
	b := open(t)
	b.phone()
	dir := t.TempDir()
	b.do("Page.setDownloadBehavior", map[string]any{"behavior": "allow", "downloadPath": dir})
	b.enter(c, c.page.App)
	b.until("the choice", "!document.getElementById('me').hidden", time.Minute)
	b.eval("document.getElementById('export').click()")
	b.until("the file", "document.getElementById('me-said').textContent.includes('downloads')", time.Minute)
	var pages []struct {
		Analyses []struct {
			ID string `json:"analysis_id"`
		} `json:"analyses"`
	}
	until(t, "the file is there", func() bool {
		f, err := os.Open(filepath.Join(dir, "bowling-analyses.json"))
		if err != nil {
			return false
		}
		defer f.Close()
		data, err := io.ReadAll(f)
		return err == nil && json.Unmarshal(data, &pages) == nil
	})
	if len(pages) != 2 || pages[0].Analyses[0].ID != "an-" || pages[1].Analyses[0].ID != "an-a b" {
		t.Errorf("the file holds %+v", pages)
	}
	b.eval("document.querySelector('#erasing details').open = true; document.getElementById('sure').value = 'no'; document.querySelector('#erasing button').click()")
	b.until("nothing", "document.getElementById('me-said').textContent.includes('Nothing was deleted')", time.Minute)
	b.shot("me-2-delete")
	b.eval("document.getElementById('sure').value = 'delete'; document.querySelector('#erasing button').click()")
	b.until("the deletion", "document.getElementById('me-said').textContent.includes('is being deleted')", time.Minute)
	b.shot("me-3-deleted")
	if b.shows("submit") || b.shows("erasing") || b.eval("document.getElementById('mails').disabled") != true {
		t.Errorf("after asking for deletion the page shows %q", b.text("me"))
	}
}

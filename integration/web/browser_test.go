package web_test

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/net/websocket"
)

// browser is a headless Chromium with one page, driven over the DevTools
// protocol.
type browser struct {
	t      *testing.T
	conn   *websocket.Conn
	id     int
	errors []string // what the page's console complained of
}

func open(t *testing.T) *browser {
	t.Helper()
	bin := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil && bin == "" {
			bin = path
		}
	}
	if bin == "" {
		t.Skip("no browser is installed: chromium or google-chrome (make test installs it on Debian)")
	}
	cmd := exec.Command(bin, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
		"--disable-component-update", "--disable-sync", "--disable-dev-shm-usage", "--remote-debugging-port=0", "--remote-allow-origins=*",
		"--user-data-dir="+t.TempDir(), "about:blank")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Skipf("chromium does not start: %v", err)
	}
	t.Cleanup(func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // its own group
		_ = cmd.Wait()
	})
	address := make(chan string, 1)
	go func() {
		for lines := bufio.NewScanner(stderr); lines.Scan(); {
			if _, url, ok := strings.Cut(lines.Text(), "DevTools listening on ws://"); ok {
				address <- strings.SplitN(url, "/", 2)[0]
			}
		}
	}()
	var host string
	select {
	case host = <-address:
	case <-time.After(90 * time.Second):
		t.Fatal("chromium does not listen")
	}
	resp, err := http.Get("http://" + host + "/json/list")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var pages []struct {
		Type string `json:"type"`
		URL  string `json:"webSocketDebuggerUrl"`
	}
	if err := json.NewDecoder(resp.Body).Decode(&pages); err != nil {
		t.Fatal(err)
	}
	for _, p := range pages {
		if p.Type == "page" {
			conn, err := websocket.Dial(p.URL, "", "http://localhost")
			if err != nil {
				t.Fatal(err)
			}
			conn.MaxPayloadBytes = 64 << 20
			t.Cleanup(func() { conn.Close() })
			b := &browser{t: t, conn: conn}
			for _, domain := range []string{"Page", "Runtime", "DOM", "Log"} {
				b.do(domain+".enable", nil)
			}
			return b
		}
	}
	t.Fatal("chromium shows no page")
	return nil
}

// do sends a command and waits for its answer.
func (b *browser) do(method string, params map[string]any) map[string]any {
	b.t.Helper()
	b.id++
	if params == nil {
		params = map[string]any{}
	}
	if err := websocket.JSON.Send(b.conn, map[string]any{"id": b.id, "method": method, "params": params}); err != nil {
		b.t.Fatal(err)
	}
	for {
		_ = b.conn.SetReadDeadline(time.Now().Add(60 * time.Second))
		var m struct {
			ID     int             `json:"id"`
			Method string          `json:"method"`
			Params json.RawMessage `json:"params"`
			Result map[string]any  `json:"result"`
			Error  any             `json:"error"`
		}
		if err := websocket.JSON.Receive(b.conn, &m); err != nil {
			b.t.Fatalf("%s: %v", method, err)
		}
		if text := string(m.Params); m.Method == "Runtime.exceptionThrown" || m.Method == "Log.entryAdded" && strings.Contains(text, `"level":"error"`) {
			b.errors = append(b.errors, text)
		}
		if m.ID == b.id {
			if m.Error != nil {
				b.t.Fatalf("%s: %v", method, m.Error)
			}
			return m.Result
		}
	}
}

// eval evaluates an expression in the page.
func (b *browser) eval(js string) any {
	b.t.Helper()
	r := b.do("Runtime.evaluate", map[string]any{"expression": js, "returnByValue": true, "awaitPromise": true})
	if e, bad := r["exceptionDetails"]; bad {
		b.t.Fatalf("%s: %v", js, e)
	}
	return r["result"].(map[string]any)["value"]
}

// until waits for an expression to become true.
func (b *browser) until(what, js string, limit time.Duration) {
	b.t.Helper()
	end := time.Now().Add(limit)
	for b.eval("!!("+js+")") != true {
		if time.Now().After(end) {
			b.t.Fatalf("waited %s for %s; the page says: %v", limit, what, b.eval("document.body.innerText"))
		}
		b.eval("new Promise(done => setTimeout(done, 100))")
	}
}

// phone makes the window a phone's.
func (b *browser) phone() {
	b.do("Emulation.setDeviceMetricsOverride", map[string]any{"width": 390, "height": 844, "deviceScaleFactor": 2, "mobile": true})
}

// choose puts a file into a file input.
func (b *browser) choose(selector, path string) {
	b.t.Helper()
	doc := b.do("DOM.getDocument", nil)["root"].(map[string]any)["nodeId"]
	node := b.do("DOM.querySelector", map[string]any{"nodeId": doc, "selector": selector})["nodeId"]
	b.do("DOM.setFileInputFiles", map[string]any{"nodeId": node, "files": []string{path}})
}

// shot saves a picture of the whole page where WEB_SHOTS says, for people to
// look at.
func (b *browser) shot(name string) {
	b.t.Helper()
	dir := os.Getenv("WEB_SHOTS")
	if dir == "" {
		return
	}
	r := b.do("Page.captureScreenshot", map[string]any{"captureBeyondViewport": true})
	png, err := base64.StdEncoding.DecodeString(fmt.Sprint(r["data"]))
	if err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name+".png"), png, 0o644); err != nil {
		b.t.Fatal(err)
	}
}

// desktop makes the window a desktop's.
func (b *browser) desktop() {
	b.do("Emulation.setDeviceMetricsOverride", map[string]any{"width": 1280, "height": 900, "deviceScaleFactor": 1, "mobile": false})
}

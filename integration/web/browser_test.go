package web_test

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/net/websocket"
)

// browser is a page of a headless Chromium, driven over the DevTools protocol.
type browser struct {
	t      *testing.T
	conn   *websocket.Conn
	person any      // the browser context: cookies and storage of its own
	errors []string // what the page's console complained of
	heard  func(method, params string)
}

// chromium is the one that all tests share. It ends with the tests.
var chromium struct {
	once sync.Once
	cmd  *exec.Cmd
	root *websocket.Conn // of the browser itself
	host string          // of the DevTools protocol
	id   int             // of the last command
	skip string
	err  error
}

func startChromium(dir string) error {
	bin := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil && bin == "" {
			bin = path
		}
	}
	if bin == "" {
		chromium.skip = "no browser is installed: chromium or google-chrome (make test installs it on Debian)"
		return nil
	}
	cmd := exec.Command(bin, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
		"--disable-component-update", "--disable-sync", "--disable-dev-shm-usage", "--remote-debugging-port=0", "--remote-allow-origins=*",
		"--user-data-dir="+dir, "about:blank")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	stderr, err := cmd.StderrPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		chromium.skip = fmt.Sprintf("chromium does not start: %v", err)
		return nil
	}
	chromium.cmd = cmd
	address := make(chan string, 1)
	go func() {
		for lines := bufio.NewScanner(stderr); lines.Scan(); {
			if _, url, ok := strings.Cut(lines.Text(), "DevTools listening on "); ok {
				address <- strings.TrimSpace(url)
			}
		}
	}()
	select {
	case url := <-address:
		chromium.host = strings.SplitN(strings.TrimPrefix(url, "ws://"), "/", 2)[0]
		chromium.root, err = websocket.Dial(url, "", "http://localhost")
		return err
	case <-time.After(90 * time.Second):
		return errors.New("chromium does not listen")
	}
}

func stopChromium() {
	if chromium.cmd != nil {
		_ = syscall.Kill(-chromium.cmd.Process.Pid, syscall.SIGKILL) // its own group
		_ = chromium.cmd.Wait()
	}
}

// open gives a page of somebody who has never been here.
func open(t *testing.T) *browser {
	t.Helper()
	chromium.once.Do(func() { chromium.err = startChromium(chromiumDir) })
	if chromium.skip != "" {
		t.Skip(chromium.skip)
	}
	if chromium.err != nil {
		t.Fatal(chromium.err)
	}
	root := &browser{t: t, conn: chromium.root}
	person := root.do("Target.createBrowserContext", map[string]any{"disposeOnDetach": true})["browserContextId"]
	t.Cleanup(func() { root.do("Target.disposeBrowserContext", map[string]any{"browserContextId": person}) })
	root.person = person
	return root.tab()
}

// tab opens another tab for the same person.
func (b *browser) tab() *browser {
	b.t.Helper()
	root := &browser{t: b.t, conn: chromium.root}
	target := root.do("Target.createTarget", map[string]any{"url": "about:blank", "browserContextId": b.person})["targetId"]
	conn, err := websocket.Dial(fmt.Sprintf("ws://%s/devtools/page/%s", chromium.host, target), "", "http://localhost")
	if err != nil {
		b.t.Fatal(err)
	}
	conn.MaxPayloadBytes = 64 << 20
	b.t.Cleanup(func() { conn.Close() })
	n := &browser{t: b.t, conn: conn, person: b.person}
	for _, domain := range []string{"Page", "Runtime", "DOM", "Log"} {
		n.do(domain+".enable", nil)
	}
	return n
}

// do sends a command and waits for its answer.
func (b *browser) do(method string, params map[string]any) map[string]any {
	b.t.Helper()
	r, refused := b.ask(method, params)
	if refused != nil {
		b.t.Fatalf("%s: %v", method, refused)
	}
	return r
}

// ask is do for a command that may be refused.
func (b *browser) ask(method string, params map[string]any) (result map[string]any, refused any) {
	b.t.Helper()
	chromium.id++
	id := chromium.id
	if params == nil {
		params = map[string]any{}
	}
	if err := websocket.JSON.Send(b.conn, map[string]any{"id": id, "method": method, "params": params}); err != nil {
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
		if b.heard != nil && m.Method != "" {
			b.heard(m.Method, string(m.Params))
		}
		if m.ID == id {
			return m.Result, m.Error
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

// until waits for an expression to become true, on whatever page the browser is
// by then: one that is left meanwhile answers nothing.
func (b *browser) until(what, js string, limit time.Duration) {
	b.t.Helper()
	end := time.Now().Add(limit)
	for {
		r, refused := b.ask("Runtime.evaluate", map[string]any{"expression": "!!(" + js + ")", "returnByValue": true, "awaitPromise": true})
		if got, _ := r["result"].(map[string]any); refused == nil && got["value"] == true {
			return
		}
		if time.Now().After(end) {
			b.t.Fatalf("waited %s for %s; the page says: %v", limit, what, b.eval("location.href + '\\n' + document.body.innerText"))
		}
		_, _ = b.ask("Runtime.evaluate", map[string]any{"expression": "new Promise(done => setTimeout(done, 100))", "awaitPromise": true})
	}
}

// signIn signs in at the user pool's page, as somebody who came to the page does.
func (b *browser) signIn(user string) {
	b.t.Helper()
	b.until("the way in", "document.readyState === 'complete' && !document.getElementById('sign-in').hidden && !document.getElementById('enter').disabled", 90*time.Second)
	b.shot("1-sign-in")
	b.eval("document.getElementById('enter').click()")
	b.until("the user pool's page", "document.readyState === 'complete' && document.getElementById('user')", 90*time.Second)
	b.eval(fmt.Sprintf("{ document.getElementById('user').value = %q; document.getElementById('sign-in').click(); }", user))
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

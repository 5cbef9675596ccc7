package web_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"fastbowlinglab/integration/apiclient"
	"fastbowlinglab/integration/local"
	"fastbowlinglab/integration/web"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/reason"
)

func TestMain(m *testing.M) {
	slog.SetDefault(slog.New(slog.DiscardHandler))
	var err error
	if chromiumDir, err = os.MkdirTemp("", "fbl-web-"); err != nil {
		panic(err)
	}
	code := m.Run()
	stopChromium()
	os.RemoveAll(chromiumDir)
	os.Exit(code)
}

// chromiumDir holds the browser's profile.
var chromiumDir string

// realCloud is the embedded cloud with the deployed programs; the test athlete
// has two credits.
func realCloud(t *testing.T) (c *local.Cloud, samples string) {
	t.Helper()
	root, err := local.FindRoot()
	if err != nil {
		t.Fatal(err)
	}
	for _, need := range []string{".local/bin/" + names.PoseWorker, ".local/bin/" + names.FnRender + "/bootstrap", ".local/fonts",
		"node_modules/@dynoxide/linux-x64/dynoxide"} {
		if _, err := os.Stat(filepath.Join(root, need)); err != nil {
			t.Skipf("%s is missing: run `make functions` first", need)
		}
	}
	c, err = local.Start(context.Background(), local.Config{Schedules: map[string]time.Duration{names.FnReconcile: -1}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Errorf("close the cloud: %v", err)
		}
	})
	token, err := c.OperatorToken(local.GuideOperator, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	op := apiclient.Client{Base: c.API, Token: token}
	if _, err := op.Grant(t.Context(), "web", apiclient.GrantRequest{AthleteID: local.GuideAthlete, Credits: 2, Reason: "test"}); err != nil {
		t.Fatal(err)
	}
	return c, filepath.Join(root, "integration", "samples")
}

// fill signs in and fills the form.
func (b *browser) fill(clip string) {
	b.t.Helper()
	b.choose("#clip", clip)
	b.eval(`{ const n = document.getElementById('name'); n.value = 'Zoë பந்து'; const c = document.getElementById('consent'); if (!c.checked) c.click(); }`)
}

// record keeps what the stage line and the bar have shown.
const record = `{ window.seen = []; window.bars = [];
	new MutationObserver(() => seen.push(document.getElementById('stage').textContent)).observe(document.getElementById('stage'), { childList: true });
	new MutationObserver(() => bars.push([document.getElementById('stage').textContent, document.getElementById('bar').value])).observe(document.getElementById('bar'), { attributes: true }); }`

// The page on the real cloud, on a phone: presigned uploads across origins, the
// real pose worker's stages as they come, the report with its pictures and PDF;
// then a clip that is refused, with its reason and the credit back.
func TestPageOnTheCloud(t *testing.T) {
	b := open(t)
	c, samples := realCloud(t)
	b.phone()
	b.do("Page.navigate", map[string]any{"url": c.API + web.Path})
	b.signIn(local.GuideAthlete)
	b.until("the balance", "document.getElementById('who').textContent.includes('2 credits')", time.Minute)
	b.fill(filepath.Join(samples, "bowler.mp4"))
	b.shot("real-2-form")
	b.eval(record)
	b.eval("document.getElementById('send').click()")
	b.until("the upload's bar", "bars.length > 0", time.Minute)
	b.shot("real-3-upload")
	b.until("the pose pass", "seen.some(s => /Clip 1 of 1/.test(s))", 4*time.Minute)
	b.shot("real-4-running")
	b.until("the report", "!document.getElementById('report').hidden", 6*time.Minute)
	b.until("the pictures", "document.querySelectorAll('#pictures canvas.drawn').length === 5", time.Minute)
	b.shot("real-5-report")
	b.desktop()
	b.shot("real-6-report-desktop")
	b.phone()

	pdf := fetch(t, fmt.Sprint(b.eval("document.getElementById('pdf').href")))
	if !bytes.HasPrefix(pdf, []byte("%PDF-")) {
		t.Errorf("the PDF's link leads to %.40q", pdf)
	}
	seen := fmt.Sprint(b.eval("seen.join('|')"))
	t.Logf("stages: %s", seen)
	if !strings.HasPrefix(seen, "Uploading|") || !strings.HasSuffix(seen, "Your report is ready.") {
		t.Errorf("stages %s", seen)
	}
	if whole := b.eval("bars.some(([s, v]) => s === 'Uploading' && v === 1)"); whole != true {
		t.Errorf("the upload's bar never filled: %v", b.eval("JSON.stringify(bars)"))
	}
	if moved := b.eval("new Set(bars.filter(([s]) => /Clip 1 of 1/.test(s)).map(([, v]) => v)).size"); moved.(float64) < 2 {
		t.Errorf("the pass's bar showed %v values: %v", moved, b.eval("JSON.stringify(bars)"))
	}
	b.until("one credit less", "document.getElementById('who').textContent.includes('1 credit')", time.Minute)

	b.eval("document.getElementById('again').click()")
	b.fill(filepath.Join(samples, "not_bowling.mp4"))
	b.eval(record)
	b.eval("document.getElementById('send').click()")
	b.until("the refusal", "!document.getElementById('again').hidden", 4*time.Minute)
	b.shot("real-7-refused")
	said := fmt.Sprint(b.eval("document.getElementById('run').innerText"))
	if !strings.Contains(said, reason.NotBowling.Sentence()) || !strings.Contains(said, "given back") {
		t.Errorf("of a refused clip the page says %q", said)
	}
	if hidden := b.eval("document.getElementById('report').hidden"); hidden != true {
		t.Error("a report is shown for a refused clip")
	}
	b.until("the credit back", "document.getElementById('who').textContent.includes('1 credit')", time.Minute)
	if wide := b.eval("document.documentElement.scrollWidth <= 390 && innerWidth <= 390"); wide != true {
		t.Error("the page is wider than the phone")
	}
	for _, e := range b.errors {
		t.Errorf("the console says %s", e)
	}
}

// What is around an analysis, on the real API: one whose clip never came is found in
// the list, given back, and gone with everything else when its athlete asks.
func TestYourDataOnTheCloud(t *testing.T) {
	b := open(t)
	c, _ := realCloud(t)
	b.phone()
	dir := t.TempDir()
	b.do("Page.setDownloadBehavior", map[string]any{"behavior": "allow", "downloadPath": dir})
	b.do("Page.navigate", map[string]any{"url": c.API + web.Path})
	b.signIn(local.GuideAthlete)
	b.until("the front", "location.pathname === '/app/' && document.readyState === 'complete' && !document.getElementById('me').hidden", time.Minute)
	// The page is closed right after the create.
	if id := b.eval(`call('POST', '/v1/analyses', { headers: { 'Idempotency-Key': 'left' }, body: { athlete: { name: 'Zoë' }, consent: true, clips: [{ name: 'left.mp4', type: 'video/mp4', size_bytes: 5 }] } }).then((a) => a.data.analysis_id)`); id == nil {
		t.Fatal("no analysis")
	}
	b.do("Page.reload", nil)
	b.until("it in the list", "performance.getEntriesByType('navigation')[0].type === 'reload' && document.readyState === 'complete' && document.querySelectorAll('#list li').length === 1 && document.getElementById('list').innerText.includes('left.mp4') && document.getElementById('list').innerText.includes('not uploaded')", time.Minute)
	b.shot("real-8-front")
	b.eval("document.querySelector('#list a').click()")
	b.until("the way out", "location.search && document.readyState === 'complete' && !document.getElementById('cancel').hidden", time.Minute)
	b.eval("document.getElementById('cancel').click()")
	b.until("the credit back", "!document.getElementById('refund').hidden && document.getElementById('who').textContent === '2 credits'", time.Minute)
	b.eval("document.getElementById('all').click()")
	b.until("the front again", "!location.search && document.readyState === 'complete' && !document.getElementById('me').hidden", time.Minute)
	b.eval("document.getElementById('mails').click()")
	b.until("no mails", "document.getElementById('me-said').textContent === 'You get no more mails.'", time.Minute)
	b.eval("document.getElementById('export').click()")
	until(t, "the file is there", func() bool {
		f, err := os.ReadFile(filepath.Join(dir, "bowling-analyses.json"))
		return err == nil && bytes.Contains(f, []byte("left.mp4")) && bytes.Contains(f, []byte("refund"))
	})
	b.eval("document.querySelector('#erasing details').open = true; document.getElementById('sure').value = 'DELETE'; document.querySelector('#erasing button').click()")
	b.until("the deletion", "document.getElementById('me-said').textContent.includes('is being deleted') && document.getElementById('submit').hidden", time.Minute)
	b.shot("real-9-deleted")
	for _, e := range b.errors {
		if !strings.Contains(e, "409") { // the clip that was not there
			t.Errorf("the console says %s", e)
		}
	}
}

func fetch(t *testing.T, url string) []byte {
	t.Helper()
	resp, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%d, %v", resp.StatusCode, err)
	}
	return b
}

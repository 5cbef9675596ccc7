package web_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"fastbowlinglab/shared/names"
)

// controls are the roles of what can be worked with or looked at: each needs a name.
const controls = "button textbox checkbox link progressbar progress ProgressIndicator image img canvas combobox"

// nameless gives what assistive technology finds without a name.
func (b *browser) nameless() (bad []string, seen int) {
	b.t.Helper()
	for _, n := range b.do("Accessibility.getFullAXTree", nil)["nodes"].([]any) {
		node := n.(map[string]any)
		role, _ := node["role"].(map[string]any)
		name, _ := node["name"].(map[string]any)
		if node["ignored"] == true || role == nil || !strings.Contains(" "+controls+" ", " "+fmt.Sprint(role["value"])+" ") {
			continue
		}
		if seen++; name == nil || strings.TrimSpace(fmt.Sprint(name["value"])) == "" {
			bad = append(bad, fmt.Sprint(role["value"], " ", node["properties"]))
		}
	}
	return bad, seen
}

// contrast computes, for what is shown, the least contrast of text to what lies behind
// it, and of a control's edge to what lies around it, as WCAG 2.2 does (1.4.3, 1.4.11).
const contrast = `(() => {
	const rgb = (c) => c.match(/[\d.]+/g).map(Number);
	const lum = (c) => { const [r, g, b] = rgb(c).map((v) => { v /= 255; return v <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4; }); return .2126 * r + .7152 * g + .0722 * b; };
	const ratio = (a, b) => { const [x, y] = [lum(a), lum(b)].sort((p, q) => q - p); return (x + .05) / (y + .05); };
	const behind = (e) => { for (; e; e = e.parentElement) { const c = getComputedStyle(e).backgroundColor; if (rgb(c)[3] !== 0) return c; } return getComputedStyle(document.body).backgroundColor; };
	const low = [];
	for (const e of document.querySelectorAll('body *')) {
		if (!e.checkVisibility() || e.disabled) continue;
		const style = getComputedStyle(e), own = [...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim());
		if (own && ratio(style.color, behind(e)) < 4.5) low.push(e.tagName + '#' + e.id + ' text ' + ratio(style.color, behind(e)).toFixed(2));
		if (e.matches('input:not([type=checkbox])') && ratio(style.borderTopColor, behind(e.parentElement)) < 3) low.push(e.tagName + '#' + e.id + ' edge ' + ratio(style.borderTopColor, behind(e.parentElement)).toFixed(2));
	}
	return low.join('; ');
})()`

// examine tells whether a view can be heard, read and held in a narrow hand.
func (b *browser) examine(view string, least int) {
	b.t.Helper()
	if bad, seen := b.nameless(); len(bad) > 0 || seen < least {
		b.t.Errorf("%s: without a name: %v, of %d", view, bad, seen)
	}
	for _, scheme := range []string{"light", "dark"} {
		b.do("Emulation.setEmulatedMedia", map[string]any{"features": []map[string]any{{"name": "prefers-color-scheme", "value": scheme}}})
		if low := b.eval(contrast); low != "" {
			b.t.Errorf("%s, %s: hard to read: %v", view, scheme, low)
		}
		b.shot("access-" + view + "-" + scheme)
	}
	if wide := b.eval("document.documentElement.scrollWidth"); wide.(float64) > 320 {
		b.t.Errorf("%s: %v pixels wide on a phone of 320", view, wide)
	}
	if lines := b.eval("Math.max(1, ...[...document.querySelectorAll('#steps li')].map(li => { const r = document.createRange(); r.selectNodeContents(li); return r.getClientRects().length; }))"); lines != 1.0 {
		b.t.Errorf("%s: the name of a step is broken on a phone of 320", view)
	}
	if order := fmt.Sprint(b.eval("[...document.querySelectorAll('h1, h2, h3')].filter(h => h.checkVisibility()).map(h => h.tagName).join(' ')")); !strings.HasPrefix(order, "H1 H2") {
		b.t.Errorf("%s: headings %s", view, order)
	}
}

// Each view has names for what is in it, can be read in both schemes, and fits the
// narrowest phone; going on by keyboard leads to what came up.
func TestEveryView(t *testing.T) {
	c := start(t)
	c.reserved(map[string]int{})
	waiting, hold := c.inAPI, false
	c.inAPI = func(w http.ResponseWriter, r *http.Request) bool {
		if hold && r.Method == http.MethodGet && r.URL.Path == "/v1/analyses/an-1" {
			fmt.Fprint(w, `{"analysis_id":"an-1","status":"analysing","stage":"clip 1 of 1: pose","progress":0.4,"refunded":false,"clips":[]}`)
			return true
		}
		return waiting(w, r)
	}
	b, clip := open(t), newClip(t)
	b.do("Accessibility.enable", nil)
	b.do("Emulation.setDeviceMetricsOverride", map[string]any{"width": 320, "height": 640, "deviceScaleFactor": 2, "mobile": true})
	b.do("Page.addScriptToEvaluateOnNewDocument", map[string]any{"source": hasty})
	b.goTo(names.AppLink(c.page.App, "an-1"))
	b.examine("sign-in", 1)
	b.signIn("athlete-1")
	b.until("the way on", "location.origin === '"+c.api.URL+"' && document.readyState === 'complete' && !document.getElementById('resume').hidden", time.Minute)
	b.examine("reserved", 5)
	b.goTo(c.page.App)
	b.until("the form", "!document.getElementById('submit').hidden", time.Minute)
	b.eval("document.getElementById('under').click(); trouble('A sentence.', true)")
	b.examine("form", 9)
	b.eval("document.getElementById('under').click()")
	c.set(func() { hold = true })
	b.submit(clip)
	b.until("the keyboard", "document.activeElement.textContent === 'Your analysis'", time.Minute)
	b.until("the pose pass", "document.getElementById('stage').textContent.includes('pose')", time.Minute)
	b.examine("running", 3)
	c.set(func() { hold = false })
	b.until("the report", report, time.Minute)
	b.examine("report", 6)
	b.eval("document.getElementById('again').focus(); document.getElementById('again').click()")
	if at := b.eval("document.activeElement.textContent"); at != "New analysis" {
		t.Errorf("for another clip, the keyboard is at %q", at)
	}
}

// Where somebody wants no motion, nothing moves by itself.
func TestNoMotion(t *testing.T) {
	c := start(t)
	b := open(t)
	b.goTo(c.page.App)
	for value, want := range map[string]string{"reduce": "hidden", "no-preference": "visible"} {
		b.do("Emulation.setEmulatedMedia", map[string]any{"features": []map[string]any{{"name": "prefers-reduced-motion", "value": value}}})
		if got := b.eval("(() => { const p = document.createElement('progress'); document.body.append(p); const v = getComputedStyle(p).visibility; p.remove(); return v; })()"); got != want {
			t.Errorf("motion %s: a bar that moves by itself is %v", value, got)
		}
	}
}

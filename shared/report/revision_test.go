package report

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestARevisionSaysSo: paper cannot be asked which report it is.
func TestARevisionSaysSo(t *testing.T) {
	r := reporter(t)
	for _, c := range []struct {
		number  int
		changed string
		want    string
	}{{0, "", ""}, {2, "The drills\nname a dose.", "Revision 2 of this report. The drills name a dose."}} {
		in := short("x")
		in.Revision, in.Changed = c.number, c.changed
		pdf, js := build(t, r, in)
		var f File
		if err := json.Unmarshal(js, &f); err != nil || f.Revision != c.number || strings.Contains(f.Changed, "\n") || (f.Changed == "") != (c.number == 0) {
			t.Errorf("%+v, %v", f, err)
		}
		text := words(t, pdf)
		if c.want != "" && !strings.Contains(text, c.want) || c.want == "" && strings.Contains(text, "Revision") {
			t.Errorf("revision %d: it says %.200q", c.number, text)
		}
	}
}

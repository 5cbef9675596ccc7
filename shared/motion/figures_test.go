package motion

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"testing"

	"fastbowlinglab/shared/motion/tracktest"
	"fastbowlinglab/shared/reason"
)

// truth is what is known of a rendered clip: values as seen in the picture, and
// the three-dimensional ones they come from.
type truth struct {
	Clip   string             `json:"clip"`
	Label  string             `json:"label"`
	Arm    Side               `json:"bowling_arm"`
	Travel string             `json:"travel"`
	FPS    float64            `json:"fps"`
	Varied string             `json:"variant"` // what makes the clip hard to read
	Events map[string]float64 `json:"events"`
	Values map[string]float64 `json:"values"`
	Solid  map[string]float64 `json:"values_3d"`
}

// heldOut reports whether a clip's seed was never looked at while tuning.
func heldOut(name string) bool { return strings.HasPrefix(name, "h") }

func readTruth(t testing.TB, file string) truth {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var tr truth
	if err := json.Unmarshal(b, &tr); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return tr
}

// row is one compared value.
type row struct {
	clip, model, name    string
	got, want, band, fps float64
	why                  string
	varied               string
}

func compare(clip, model string, tr truth, c Clip) []row {
	var out []row
	for _, e := range []PhaseName{BackFootContact, FrontFootContact, Release} {
		r := row{clip: clip, model: model, name: string(e), want: tr.Events[string(e)], why: "not found", fps: tr.FPS, varied: tr.Varied}
		for _, p := range c.Phases {
			if p.Name == e {
				r.got, r.why = p.Time, ""
			}
		}
		out = append(out, r)
	}
	for _, m := range c.Measures {
		if w, ok := tr.Values[m.Name+" "+string(m.Phase)]; ok {
			out = append(out, row{clip, model, m.Name + " " + string(m.Phase), m.Value, w, m.Band, tr.FPS, m.NotMeasured, tr.Varied})
		}
	}
	return out
}

// measureAll analyses the rendered clips under testdata.
func measureAll(t testing.TB, want func(clip string) bool) []row {
	t.Helper()
	files, err := filepath.Glob("testdata/*.json.gz")
	if err != nil || len(files) == 0 {
		t.Fatalf("no tracks under testdata: %v", err)
	}
	var rows []row
	for _, f := range files {
		name, model, _ := strings.Cut(strings.TrimSuffix(filepath.Base(f), ".json.gz"), ".")
		tr := readTruth(t, "testdata/"+name+".truth.json")
		c := Analyse(0, tracktest.Read(t, f))
		if tr.Label != "bowling" {
			if c.Refused != reason.NotBowling {
				t.Errorf("%s: refused %q, want %q", name, c.Refused, reason.NotBowling)
			}
			continue
		}
		if !want(name) {
			continue
		}
		if c.Refused != "" || c.Arm != tr.Arm || c.Travel != tr.Travel {
			t.Errorf("%s: refused %q, arm %s, travel %s; want a %s-arm delivery to the %s", name, c.Refused, c.Arm, c.Travel, tr.Arm, tr.Travel)
			continue
		}
		rows = append(rows, compare(name, model, tr, c)...)
	}
	return rows
}

// TestFigures holds the figures that we promise, and prints the table of
// README.md:
//
//	go test ./shared/motion -run TestFigures -v
func TestFigures(t *testing.T) {
	for _, set := range []struct {
		title string
		in    func(string) bool
	}{
		{"clips looked at while tuning", func(c string) bool { return !heldOut(c) }},
		{"held out", heldOut},
	} {
		rows := measureAll(t, set.in)
		t.Logf("%s:\n%s", set.title, table(rows))
		t.Logf("%s, by what makes them hard to read:\n%s", set.title, variantTable(rows))
		promise(t, set.title, rows)
	}
}

// joints are the angles for which the promise is made.
var joints = map[string]bool{
	"elbow_angle release": true, "front_knee_angle front_foot_contact": true,
	"front_knee_angle release": true, "trunk_forward_flexion release": true,
}

// promise: every phase is found, but where the picture cuts the feet off, within 2
// frames of a 60th in the median and 3 at most; elbow, front knee and trunk within 8
// degrees in the median; 95 % of all true values inside their bands; the band of each
// of those joints at most 15 degrees wide to each side in the median, the elbow's for
// every kind of clip.
func promise(t *testing.T, title string, rows []row) {
	t.Helper()
	errs, frames, bands := map[string][]float64{}, map[string][]float64{}, map[string][]float64{}
	inside, given := 0, 0
	for _, r := range rows {
		switch {
		case r.phase():
			if r.why != "" {
				if r.varied != feetCutOff {
					t.Errorf("%s: %s: %s %s", title, r.clip, r.name, r.why)
				}
				continue
			}
			frames[r.name] = append(frames[r.name], math.Abs(r.got-r.want)*60)
		case r.why == "":
			given++
			if math.Abs(r.got-r.want) <= r.band {
				inside++
			}
			if joints[r.name] {
				errs[r.name] = append(errs[r.name], math.Abs(r.got-r.want))
				bands[r.name] = append(bands[r.name], r.band)
			}
		}
	}
	for name, f := range frames {
		if median(f) > 2 || slices.Max(f) > 3 {
			t.Errorf("%s: %s is off by %.2f frames of a 60th in the median, %.2f at most", title, name, median(f), slices.Max(f))
		}
	}
	for name := range joints {
		if e := errs[name]; len(e) == 0 || median(e) > 8 {
			t.Errorf("%s: %s: median error %.2f degrees of %d", title, name, median(e), len(e))
		}
		if w := bands[name]; len(w) == 0 || median(w) > 15 {
			t.Errorf("%s: %s: the median half-width is %.1f degrees", title, name, median(w))
		}
	}
	all, _ := grouped(rows)
	for kind, g := range all {
		if w := g.bands["elbow_angle release"]; len(w) > 0 && median(w) > 15 {
			t.Errorf("%s, %s: the elbow's median half-width is %.1f degrees", title, kind, median(w))
		}
	}
	if share := float64(inside) / float64(given); share < 0.95 {
		t.Errorf("%s: %d of %d true values inside the band", title, inside, given)
	}
}

// phase reports whether the row compares an instant.
func (r row) phase() bool {
	switch PhaseName(r.name) {
	case BackFootContact, FrontFootContact, Release:
		return true
	}
	return false
}

// table is the figures in Markdown.
func table(rows []row) string {
	by := map[string][]row{}
	for _, r := range rows {
		by[r.name] = append(by[r.name], r)
	}
	var names []string
	for n := range by {
		names = append(names, n)
	}
	sort.Strings(names)
	out := "| value | measured | median error | largest | bias | half-width, median | inside |\n|---|---|---|---|---|---|---|\n"
	for _, n := range names {
		var errs, bands, signed []float64
		inside := 0
		for _, r := range by[n] {
			if r.why != "" {
				continue
			}
			e := math.Abs(r.got - r.want)
			errs, bands, signed = append(errs, e), append(bands, r.band), append(signed, r.got-r.want)
			if e <= r.band {
				inside++
			}
		}
		if len(errs) == 0 {
			out += fmt.Sprintf("| %s | 0 of %d | | | | | |\n", n, len(by[n]))
			continue
		}
		if by[n][0].phase() {
			out += fmt.Sprintf("| %s, ms | %d of %d | %.0f | %.0f | %+.0f | | |\n", n, len(errs), len(by[n]), 1000*median(errs), 1000*slices.Max(errs), 1000*median(signed))
			continue
		}
		places := 1
		if slices.Max(bands) < 1 {
			places = 3
		}
		out += fmt.Sprintf("| %s | %d of %d | %.*f | %.*f | %+.*f | %.*f | %d of %d |\n", n, len(errs), len(by[n]),
			places, median(errs), places, slices.Max(errs), places, median(signed), places, median(bands), inside, len(errs))
	}
	return out
}

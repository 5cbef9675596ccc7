package motion

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"testing"

	"fastbowlinglab/shared/pose"
)

// truth is what is known of a rendered clip: values as seen in the picture, and
// the three-dimensional ones they come from.
type truth struct {
	Clip   string             `json:"clip"`
	Label  string             `json:"label"`
	Arm    Side               `json:"bowling_arm"`
	Travel string             `json:"travel"`
	FPS    float64            `json:"fps"`
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

func readTestTrack(t testing.TB, file string) pose.Track {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	tr, err := ReadTrack(z)
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// row is one compared value.
type row struct {
	clip, model, name    string
	got, want, band, fps float64
	why                  string
}

func compare(clip, model string, tr truth, c Clip) []row {
	var out []row
	for _, e := range []PhaseName{BackFootContact, FrontFootContact, Release} {
		r := row{clip: clip, model: model, name: string(e), want: tr.Events[string(e)], why: "not found", fps: tr.FPS}
		for _, p := range c.Phases {
			if p.Name == e {
				r.got, r.why = p.Time, ""
			}
		}
		out = append(out, r)
	}
	for _, m := range c.Measures {
		if w, ok := tr.Values[m.Name+" "+string(m.Phase)]; ok {
			out = append(out, row{clip, model, m.Name + " " + string(m.Phase), m.Value, w, m.Band, tr.FPS, m.NotMeasured})
		}
	}
	return out
}

// measureAll analyses every rendered clip under testdata.
func measureAll(t testing.TB, want func(clip, model string) bool) []row {
	files, err := filepath.Glob("testdata/*.json.gz")
	if err != nil || len(files) == 0 {
		t.Fatalf("no tracks under testdata: %v", err)
	}
	var rows []row
	for _, f := range files {
		name, model, _ := strings.Cut(strings.TrimSuffix(filepath.Base(f), ".json.gz"), ".")
		tr := readTruth(t, "testdata/"+name+".truth.json")
		if tr.Label != "bowling" || !want(name, model) {
			continue
		}
		c := Analyse(0, readTestTrack(t, f))
		if c.Refused != "" || c.Arm != tr.Arm || c.Travel != tr.Travel {
			t.Errorf("%s %s: refused %q, arm %s, travel %s; want a %s-arm delivery to the %s", name, model, c.Refused, c.Arm, c.Travel, tr.Arm, tr.Travel)
			continue
		}
		rows = append(rows, compare(name, model, tr, c)...)
	}
	return rows
}

func isPhase(r row) bool {
	return r.band == 0 && r.why == "" && strings.Contains(" back_foot_contact front_foot_contact release ", " "+r.name+" ")
}

// TestFigures prints the table of shared/motion/README.md:
//
//	go test ./shared/motion -run TestFigures -v
func TestFigures(t *testing.T) {
	for _, set := range []struct {
		title string
		in    func(clip, model string) bool
	}{
		{"tuned on, full", func(c, m string) bool { return !heldOut(c) && m == "full" }},
		{"tuned on, heavy", func(c, m string) bool { return !heldOut(c) && m == "heavy" }},
		{"held out, full", func(c, m string) bool { return heldOut(c) && m == "full" }},
		{"held out, heavy", func(c, m string) bool { return heldOut(c) && m == "heavy" }},
	} {
		if strings.HasPrefix(set.title, "held") && os.Getenv("HELD_OUT") == "" {
			continue
		}
		rows := measureAll(t, set.in)
		if os.Getenv("ROWS") != "" {
			for _, r := range rows {
				fmt.Printf("%-18s %-6s %-44s got %8.3f want %8.3f err %8.3f band %6.2f %s\n", r.clip, r.model, r.name, r.got, r.want, r.got-r.want, r.band, r.why)
			}
		}
		fmt.Println(set.title)
		summarise(rows)
	}
}

func summarise(rows []row) {
	by := map[string][]row{}
	for _, r := range rows {
		by[r.name] = append(by[r.name], r)
	}
	var names []string
	for n := range by {
		names = append(names, n)
	}
	sort.Strings(names)
	for _, n := range names {
		var errs, bands, frames, signed []float64
		inside, missing := 0, 0
		for _, r := range by[n] {
			if r.why != "" {
				missing++
				continue
			}
			e := math.Abs(r.got - r.want)
			errs, bands, frames, signed = append(errs, e), append(bands, r.band), append(frames, e*r.fps), append(signed, r.got-r.want)
			if e <= r.band {
				inside++
			}
		}
		if len(errs) == 0 {
			fmt.Printf("  %-46s none of %d\n", n, missing)
			continue
		}
		fmt.Printf("  %-46s n %2d missing %2d  bias %7.3f median |err| %7.3f max %7.3f", n, len(errs), missing, median(signed), median(errs), slices.Max(errs))
		if isPhase(by[n][0]) {
			fmt.Printf("  frames median %.2f max %.2f\n", median(frames), slices.Max(frames))
		} else {
			fmt.Printf("  band %6.2f inside %d/%d\n", median(bands), inside, len(errs))
		}
	}
}

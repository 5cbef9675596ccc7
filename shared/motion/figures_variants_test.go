package motion

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"testing"
)

// feetCutOff is the variant in which contacts cannot be seen.
const feetCutOff = "feet cut off"

// kind names the group of a clip: its variant, or else its rate.
func (r row) kind() string {
	if r.varied != "" {
		return r.varied
	}
	return fmt.Sprintf("%.0f frames a second", r.fps)
}

// group is what is said of the clips of one kind.
type group struct {
	clips                map[string]bool
	frames               []float64 // off the true instant, in 60ths of a second
	lost                 int       // phases not found
	errs, bands          map[string][]float64
	asked, inside, given int // of all values
}

func grouped(rows []row) (map[string]*group, []string) {
	out := map[string]*group{}
	for _, r := range rows {
		g := out[r.kind()]
		if g == nil {
			g = &group{clips: map[string]bool{}, errs: map[string][]float64{}, bands: map[string][]float64{}}
			out[r.kind()] = g
		}
		g.add(r)
	}
	var kinds []string
	for k := range out {
		kinds = append(kinds, k)
	}
	slices.Sort(kinds)
	return out, kinds
}

func (g *group) add(r row) {
	g.clips[r.clip] = true
	e := math.Abs(r.got - r.want)
	switch {
	case r.phase() && r.why != "":
		g.lost++
	case r.phase():
		g.frames = append(g.frames, 60*e)
	default:
		g.asked++
		if r.why != "" {
			return
		}
		g.given++
		if e <= r.band {
			g.inside++
		}
		if joints[r.name] {
			g.errs[r.name] = append(g.errs[r.name], e)
			g.bands[r.name] = append(g.bands[r.name], r.band)
		}
	}
}

// jointColumns are the joints in the order of the table.
var jointColumns = []string{"elbow_angle release", "front_knee_angle front_foot_contact", "front_knee_angle release", "trunk_forward_flexion release"}

// variantTable is the figures by kind of clip, in Markdown.
func variantTable(rows []row) string {
	out := "| clips | n | phases off, 60ths: median, largest | elbow | knee at landing | knee at release | trunk | measured | inside |\n|---|---|---|---|---|---|---|---|---|\n"
	all, kinds := grouped(rows)
	for _, k := range kinds {
		g := all[k]
		out += fmt.Sprintf("| %s | %d | %.1f, %.1f", k, len(g.clips), median(g.frames), slices.Max(g.frames))
		if g.lost > 0 {
			out += fmt.Sprintf("; %d not found", g.lost)
		}
		for _, j := range jointColumns {
			if len(g.errs[j]) == 0 {
				out += " | -"
				continue
			}
			out += fmt.Sprintf(" | %.1f ± %.1f", median(g.errs[j]), median(g.bands[j]))
		}
		out += fmt.Sprintf(" | %d of %d | %d of %d |\n", g.given, g.asked, g.inside, g.given)
	}
	return out
}

// BenchmarkFigures prints the figures of the held-out clips, one JSON line for each
// kind: degrees and 60ths of a second.
func BenchmarkFigures(b *testing.B) {
	all, kinds := grouped(measureAll(b, heldOut))
	for b.Loop() {
	}
	for _, k := range kinds {
		g := all[k]
		line := map[string]any{"bench": "motion_figures", "clips": k, "n": len(g.clips), "phase_60ths_median": round(median(g.frames), 10),
			"phase_60ths_most": round(slices.Max(g.frames), 10), "phases_lost": g.lost, "values_asked": g.asked, "values_measured": g.given, "values_inside_band": g.inside}
		for _, j := range jointColumns {
			if len(g.errs[j]) > 0 {
				line[j] = map[string]float64{"median_error": round(median(g.errs[j]), 10), "median_half_width": round(median(g.bands[j]), 10)}
			}
		}
		out, err := json.Marshal(line)
		if err != nil {
			b.Fatal(err)
		}
		fmt.Println(string(out))
	}
}

package report

import (
	"testing"

	"fastbowlinglab/shared/motion"
)

// Field finding: 14.5 was ± 14 in a table and ± 15 in the text, 0.115 s was 0.11 in
// the timeline and 0.12 in the table.
func TestTablesAndTextsAgree(t *testing.T) {
	knee := motion.Measure{Name: motion.FrontKneeAngle, Value: 164.2, Band: 14.5, Unit: motion.Degrees}
	if v, b, w := value(knee), band(knee), knee.Written(); v != "164°" || b != "± 15°" || w != "164 ± 15 degrees" || bare(knee)+" "+bandOf(knee) != v+" "+b {
		t.Errorf("%s %s in the table, %s in words, %s %s side by side", v, b, w, bare(knee), bandOf(knee))
	}
	took := motion.Measure{Name: motion.FrontToRelease, Phase: motion.Release, Value: .115, Band: .031, Unit: motion.Seconds}
	front := motion.Phase{Name: motion.FrontFootContact, Time: 1.3094}
	c := motion.Clip{Measures: []motion.Measure{took}, Phases: []motion.Phase{front, {Name: motion.Release, Time: 1.4239}}}
	if v, at := value(took), relative(c, front); v != "0.12 s" || at != "−"+v {
		t.Errorf("%s in the table, %s on the timeline", v, at)
	}
	f := fileClip(c, nil)
	if f.Phases[0].At != "−0.12 s" || f.Measures[0].Written != "0.12 ± 0.03 s" {
		t.Errorf("report.json says %s and %s", f.Phases[0].At, f.Measures[0].Written)
	}
}

func TestEvidenceIsOneSentence(t *testing.T) {
	for want, in := range map[string][]string{
		"Rests on: Clip 1, knee: 1 (confidence 7 %); Clip 1, arm: 2.": {"Clip 1, knee: 1 (confidence 7 %).", "Clip 1, arm: 2."},
		"Rests on: a; b.": {"a", "b;"},
	} {
		if got := restsOn(in); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

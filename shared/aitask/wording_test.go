package aitask

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"fastbowlinglab/shared/motion"
)

// late is a delivery whose arm comes late, as surely as conf says.
func late(conf float64) motion.Result {
	m := func(name string, at motion.PhaseName, v, band float64, unit string, c float64) motion.Measure {
		return motion.Measure{Name: name, Phase: at, Value: v, Band: band, Unit: unit, Confidence: c}
	}
	return motion.Result{Version: motion.ResultVersion, Clips: []motion.Clip{{Arm: motion.Right, FrameRate: 60, Measures: []motion.Measure{
		m(motion.ArmAngle, motion.FrontFootContact, -100.8, 23.7, motion.Degrees, conf),
		m(motion.ArmSpeed, motion.Release, 1077.6, 225.5, motion.DegreesSecond, .76),
		m(motion.FrontKneeAngle, motion.FrontFootContact, 164.2, 14.5, motion.Degrees, .7),
		m(motion.FrontKneeAngle, motion.Release, 164.6, 14.2, motion.Degrees, .69),
		m(motion.StrideLength, motion.FrontFootContact, .61, .09, motion.Heights, .74),
		m(motion.FrontToRelease, motion.Release, .115, .031, motion.Seconds, .92),
	}}}}
}

func both(t *testing.T, r motion.Result) (*FindingsText, *CoachingText, string) {
	t.Helper()
	f, said := write(t, Findings, Input{Result: r})
	c, advised := write(t, Coaching, Input{Result: r, Findings: f.(*FindingsText)})
	return f.(*FindingsText), c.(*CoachingText), said + advised
}

// What the table calls low is a note: no headline, no drill.
func TestLowConfidenceConcludesNothing(t *testing.T) {
	for conf, want := range map[float64]Kind{.33: Observation, motion.FairConfidence - .01: Observation, motion.FairConfidence: Strength} {
		f, c, _ := both(t, late(conf))
		found := false
		for _, it := range f.Items {
			if it.Title == titleArm || it.Title == titleArmLate {
				found = true
				if it.Kind != want || strings.Contains(it.Detail, "nothing is concluded") != (want == Observation) {
					t.Errorf("at %v: %+v", conf, it)
				}
			}
		}
		drill := false
		for _, d := range c.Drills {
			drill = drill || d.Finding == titleArmLate || d.Finding == titleArm
		}
		if !found || drill != (want == Strength) || strings.Contains(f.Summary, lowerFirst(titleArmLate)) != (want == Strength) {
			t.Errorf("at %v: found %t, a drill %t; %s", conf, found, drill, f.Summary)
		}
	}
	for seed := range uint64(200) { // no rule concludes from a low value
		r := invented(seed)
		for _, it := range rulesFindings(r).Items {
			for _, ref := range it.Measures {
				for _, m := range r.Clips[ref.Clip].Measures {
					if m.Name == ref.Name && string(m.Phase) == ref.Phase && m.NotMeasured == "" && m.Confidence < motion.FairConfidence && (it.Kind == Strength || it.Kind == WorkOn) {
						t.Fatalf("seed %d: %q rests on %s at confidence %v", seed, it.Title, m.Name, m.Confidence)
					}
				}
			}
		}
	}
}

// A model's headline on such a value becomes a note.
func TestAModelsHeadlineOnALowValueIsANote(t *testing.T) {
	spec, err := SpecOf(Findings)
	if err != nil {
		t.Fatal(err)
	}
	item := func(name, phase string) string {
		return fmt.Sprintf(`{"title":"T","detail":"D.","kind":"strength","measures":[{"clip":0,"name":%q,"phase":%q}]}`, name, phase)
	}
	o, err := read(`{"summary":"S.","items":[`+item(motion.ArmAngle, "front_foot_contact")+","+item(motion.FrontKneeAngle, "release")+`]}`, spec, Input{Result: late(.33)})
	if err != nil {
		t.Fatal(err)
	}
	if items := o.(*FindingsText).Items; items[0].Kind != Observation || items[1].Kind != Strength {
		t.Errorf("kinds %s and %s, want a note and a strength", items[0].Kind, items[1].Kind)
	}
}

// Every number in words is written as the tables write it.
func TestNumbersAreWrittenOnce(t *testing.T) {
	_, c, all := both(t, late(.9))
	for _, want := range []string{"164 ± 15 degrees", "−101 ± 24 degrees", "0.12 ± 0.03 s", "1078 ± 226 degrees a second", "−90 straight back"} {
		if !strings.Contains(all, want) {
			t.Errorf("no %q in %s", want, all)
		}
	}
	if bad := regexp.MustCompile(`[ (]-\d|\)\)|\.;|fatigue|the rest suits`).FindString(all); bad != "" {
		t.Errorf("%q in %s", bad, all)
	}
	if len(c.Drills) != 3 || !strings.Contains(c.Summary, "All of them follow") {
		t.Errorf("%d drills: %s", len(c.Drills), c.Summary)
	}
	for _, task := range []Task{Findings, Coaching} { // and so are the ones a model is told
		data, err := dataOf(task, Input{Result: late(.33), Findings: &FindingsText{}})
		if err != nil {
			t.Fatal(err)
		}
		var d struct {
			Clips []struct {
				Measures []map[string]any
			}
		}
		if err := json.Unmarshal([]byte(strings.TrimSuffix(strings.TrimPrefix(data, dataBegin), dataEnd)), &d); err != nil {
			t.Fatal(err)
		}
		if m := d.Clips[0].Measures[0]; m["written"] != "−101 ± 24 degrees" || m["confidence_word"] != "low" || m["value"] != -100.8 {
			t.Errorf("%s is told %v", task, m)
		}
	}
}

package report

import (
	"math"
	"strings"
	"unicode"

	"fastbowlinglab/shared/aitask"
	"fastbowlinglab/shared/motion"
	"fastbowlinglab/shared/report/typeset"
)

// phaseOrder lists the instants of a delivery; the number in badges is the
// position in it, from 1.
var phaseOrder = motion.PhaseNames()

var phaseWords = map[motion.PhaseName]string{
	motion.RunUp:            "Run-up",
	motion.BackFootContact:  "Back-foot contact",
	motion.FrontFootContact: "Front-foot contact",
	motion.Release:          "Release",
	motion.FollowThrough:    "Follow-through",
}

func phaseWord(p motion.PhaseName) string {
	if w, ok := phaseWords[p]; ok {
		return w
	}
	return humanise(string(p))
}

func phaseNumber(p motion.PhaseName) int {
	for i, q := range phaseOrder {
		if p == q {
			return i + 1
		}
	}
	return 0
}

// measureWords names the measures; the second string says how to read them.
var measureWords = map[string][2]string{
	motion.ElbowAngle:     {"Elbow angle", "180° is a straight arm"},
	motion.ElbowExtension: {"Elbow straightening", "from arm horizontal to release"},
	motion.FrontKneeAngle: {"Front knee angle", "180° is a straight leg"},
	motion.TrunkForward:   {"Trunk lean, forward", "from the vertical, towards the batter"},
	motion.TrunkSide:      {"Trunk lean, sideways", "from the vertical, as seen"},
	motion.ArmAngle:       {"Bowling arm", "from the vertical, positive beyond it"},
	motion.ArmSpeed:       {"Arm speed", "turning of the bowling arm"},
	motion.StrideLength:   {"Delivery stride", "as a share of body height"},
	motion.RunUpSpeed:     {"Run-up speed", "body heights a second"},
	motion.StrideTime:     {"Back foot to front foot", "duration of the delivery stride"},
	motion.FrontToRelease: {"Front foot to release", "time from landing to letting go"},
}

func measureWord(name string) string {
	if w, ok := measureWords[name]; ok {
		return w[0]
	}
	return humanise(name)
}

func measureHint(name string) string { return measureWords[name][1] }

// humanise makes a readable label of a machine name that is not known here.
func humanise(name string) string {
	s := typeset.Clean(strings.ReplaceAll(name, "_", " "))
	if s == "" {
		return "Unnamed"
	}
	r := []rune(s)
	r[0] = unicode.ToUpper(r[0])
	return string(r)
}

// unit is how a unit is written: after the number, and how many decimals the
// number has.
func unit(u string) (suffix string, decimals int) {
	w, known := motion.UnitOf(u)
	if !known {
		return " " + humanise(u), w.Decimals
	}
	return w.Sign, w.Decimals
}

func value(m motion.Measure) string {
	suffix, _ := unit(m.Unit)
	return m.Number(m.Value) + suffix
}

func band(m motion.Measure) string {
	suffix, _ := unit(m.Unit)
	return "± " + m.Number(m.Band) + suffix
}

// beside is a unit that a number keeps where the unit stands elsewhere: a sign,
// no word.
func beside(m motion.Measure) string {
	suffix, _ := unit(m.Unit)
	if strings.HasPrefix(suffix, " ") {
		return ""
	}
	return suffix
}

// bare is value without a unit that is a word.
func bare(m motion.Measure) string { return m.Number(m.Value) + beside(m) }

// bandOf is band without the unit, for a place beside the value.
func bandOf(m motion.Measure) string { return "± " + m.Number(m.Band) + beside(m) }

func armWord(s motion.Side) string {
	switch s {
	case motion.Left:
		return "Left-arm bowler"
	case motion.Right:
		return "Right-arm bowler"
	}
	return "Bowling arm not determined"
}

func rate(fps float64) string {
	return motion.Number(fps, map[bool]int{true: 0, false: 1}[math.Abs(fps-math.Round(fps)) < 0.05]) + " frames a second"
}

// credit is the line that says who wrote a text.
func credit(a aitask.Author) string {
	if a == (aitask.Author{}) {
		return "Who wrote this was not recorded."
	}
	return a.Credit()
}

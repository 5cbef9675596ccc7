package aitask

import (
	"fmt"
	"math"
	"sort"
	"strings"

	"fastbowlinglab/shared/motion"
)

// Titles of the findings that drills answer.
const (
	titleKneeBends   = "The front knee gives way after landing"
	titleKneeBent    = "The front knee is bent at release"
	titleKneeBrace   = "A braced front leg"
	titleKneeOpen    = "The front leg"
	titleStrideShort = "A short delivery stride"
	titleStrideLong  = "A long delivery stride"
	titleStride      = "The delivery stride"
	titleTrunkUp     = "An upright trunk at release"
	titleTrunk       = "The trunk at release"
	titleArmEarly    = "The arm starts early"
	titleArmLate     = "A late bowling arm"
	titleArm         = "The bowling arm"
	titleElbow       = "The elbow of the bowling arm, as seen"
	titleRunUp       = "The run-up"
	titleRhythm      = "The rhythm from landing to release"
	titleLimits      = "What this footage could not show"
)

// rulesFindings writes what the numbers show. Each rule looks at the value we
// are surest of and takes its band into account: a conclusion that the band
// does not bear is not drawn.
func rulesFindings(r motion.Result) *FindingsText {
	f := factsOf(r)
	out := &FindingsText{}
	for _, rule := range [...]func(facts) (Finding, bool){
		frontLeg, trunk, armTiming, stride, runUp, rhythm, elbow,
	} {
		if it, ok := rule(f); ok {
			out.Items = append(out.Items, it)
		}
	}
	// What to work on comes first, then strengths, then the rest.
	rank := map[Kind]int{WorkOn: 0, Strength: 1, Observation: 2, Limits: 3}
	sort.SliceStable(out.Items, func(i, j int) bool { return rank[out.Items[i].Kind] < rank[out.Items[j].Kind] })
	out.Items = append(out.Items, limits(f))
	out.Summary = summary(f, out.Items)
	return out
}

func finding(title string, k Kind, detail string, ms ...fact) Finding {
	it := Finding{Title: title, Detail: detail, Kind: k}
	for _, m := range ms {
		it.Measures = append(it.Measures, m.ref())
		it.Evidence = append(it.Evidence, m.evidence())
	}
	return it
}

// conclude makes a finding of a kind, or only a note under its plain title where
// a value that it rests on has a low confidence.
func conclude(title, plainTitle string, k Kind, text, conclusion string, ms ...fact) Finding {
	for _, m := range ms {
		if m.low() {
			return finding(plainTitle, Observation, fmt.Sprintf("%s The confidence in one of these values is low, so nothing is concluded from them.", text), ms...)
		}
	}
	return finding(title, k, text+conclusion, ms...)
}

// Front knee, degrees. Published groups of fast bowlers land at about 164 ± 11;
// a change of 10 between landing and release sets the types of front leg apart
// (Portus et al. 2004); the fastest keep the knee straighter through to release
// (Worthington et al. 2013).
const (
	kneeStraight = 160.0
	kneeBent     = 150.0
	kneeChange   = 10.0
)

const kneeSource = " Published groups of fast bowlers land with the front knee at about 164 ± 11 degrees (Portus et al. 2004), and the fastest bowlers keep it straighter through to release (Worthington et al. 2013)."

func frontLeg(f facts) (Finding, bool) {
	rel, ok := f.best(motion.FrontKneeAngle, motion.Release)
	ffc, landed := f.best(motion.FrontKneeAngle, motion.FrontFootContact)
	if ok { // compare within one clip
		ffc, landed = f.in(rel.clip, motion.FrontKneeAngle, motion.FrontFootContact)
	}
	switch {
	case !ok && !landed:
		return Finding{}, false
	case !ok:
		return finding(titleKneeOpen, Observation, fmt.Sprintf("You landed with the front knee at %s (180 is straight).%s", ffc.words(), kneeSource), ffc), true
	}
	ms := []fact{rel}
	text := fmt.Sprintf("At release your front knee was at %s (180 is straight).", rel.words())
	if landed {
		ms = append(ms, ffc)
		text += change(ffc, rel)
	}
	text += f.spread(rel) + kneeSource
	bends := landed && ffc.Value-rel.Value > kneeChange+math.Hypot(ffc.Band, rel.Band)/2
	switch {
	case bends:
		return conclude(titleKneeBends, titleKneeOpen, WorkOn, text, " A knee that keeps bending lets run-up speed run away into the ground instead of into the ball.", ms...), true
	case rel.below(kneeStraight) || rel.Value < kneeBent:
		return conclude(titleKneeBent, titleKneeOpen, WorkOn, text, " A firmer front leg would give your trunk and arm more to work against."+unsure(rel, kneeStraight), ms...), true
	case rel.Value >= kneeStraight:
		return conclude(titleKneeBrace, titleKneeOpen, Strength, text, " That is a leg to bowl over."+unsure(rel, kneeBent), ms...), true
	}
	return finding(titleKneeOpen, Observation, text+" It lies between a bent and a braced leg, and the band reaches into both.", ms...), true
}

// change describes how the knee moved between landing and release.
func change(from, to fact) string {
	d := to.Value - from.Value
	band := math.Hypot(from.Band, to.Band)
	switch {
	// No number of a small change: rounded, it need not be the difference of the two beside it.
	case math.Abs(d) < band/2, math.Abs(d) <= kneeChange && math.Abs(d) < band:
		return fmt.Sprintf(" From landing (%s) to release it changed by less than the bands (together ± %s) can tell from no change.", from.words(), from.num(band))
	case math.Abs(d) <= kneeChange:
		return fmt.Sprintf(" From landing (%s) to release it changed by no more than %s degrees.", from.words(), from.num(kneeChange))
	case d > 0:
		return fmt.Sprintf(" It straightened by about %s degrees (± %s) from landing (%s) to release.", from.num(d), from.num(band), from.words())
	}
	return fmt.Sprintf(" It bent by about %s degrees (± %s) from landing (%s) to release.", from.num(-d), from.num(band), from.words())
}

// unsure adds a caution when the band reaches beyond a limit.
func unsure(m fact, limit float64) string {
	if math.Abs(m.Value-limit) < m.Band {
		return fmt.Sprintf(" Take it with care: the band reaches to the other side of %s degrees.", m.num(limit))
	}
	return ""
}

// Trunk, degrees forward of the vertical at release.
const (
	trunkUpright = 8.0
	trunkDeep    = 55.0
)

func trunk(f facts) (Finding, bool) {
	m, ok := f.best(motion.TrunkForward, motion.Release)
	if !ok {
		return Finding{}, false
	}
	text := fmt.Sprintf("At release your trunk leaned %s forward of the vertical, seen from the side.%s In elite bowlers more bending of the upper trunk up to release went with a faster ball (Worthington et al. 2013); that study measured it in three dimensions, so compare the trend and not the number.", m.words(), f.spread(m))
	switch {
	case m.Value < trunkUpright:
		return conclude(titleTrunkUp, titleTrunk, WorkOn, text, " Your chest is still nearly upright as the ball goes: there is room to bow over the front leg."+unsure(m, trunkUpright), m), true
	case m.Value > trunkDeep:
		return finding(titleTrunk, Observation, text+" That is a deep lean; make sure that it comes from the hips bending over a firm front leg and not from falling away."+unsure(m, trunkDeep), m), true
	}
	return finding(titleTrunk, Observation, text, m), true
}

// Bowling arm at front-foot contact, degrees from the vertical: -90 points
// straight back, -180 straight down.
const (
	armLate  = -80.0
	armEarly = -45.0
)

func armTiming(f facts) (Finding, bool) {
	m, ok := f.best(motion.ArmAngle, motion.FrontFootContact)
	speed, fast := f.best(motion.ArmSpeed, motion.Release)
	if !ok && !fast {
		return Finding{}, false
	}
	var ms []fact
	text := ""
	if ok {
		ms = append(ms, m)
		text = fmt.Sprintf("When your front foot landed, the bowling arm was %s (0 is straight up, −90 straight back, −180 straight down).%s The fastest bowlers start the arm later (Worthington et al. 2013).", m.words(), f.spread(m))
	}
	if fast {
		ms = append(ms, speed)
		text = strings.TrimSpace(text + fmt.Sprintf(" At release it turned at %s in the picture.%s", speed.words(), f.spread(speed)))
	}
	switch {
	case ok && m.above(armEarly):
		return conclude(titleArmEarly, titleArm, WorkOn, text, " Yours is well on its way up already, so part of its turn is spent before the front leg is there to push against.", ms...), true
	case ok && m.Value < armLate:
		return conclude(titleArmLate, titleArm, Strength, text, " Yours is still behind you at landing, which leaves its fastest part for the braced front leg."+unsure(m, armLate), ms...), true
	}
	return finding(titleArm, Observation, text, ms...), true
}

// Delivery stride in body heights: published values are 0.75 to 0.85 (Bartlett
// et al. 1996).
const (
	strideShort = 0.75
	strideLong  = 0.85
)

func stride(f facts) (Finding, bool) {
	m, ok := f.best(motion.StrideLength, motion.FrontFootContact)
	if !ok {
		return Finding{}, false
	}
	text := fmt.Sprintf("Your delivery stride, ankle to ankle, was %s.%s Reviews give 0.75 to 0.85 of standing height for fast bowlers (Bartlett et al. 1996). Height was estimated from your legs and trunk in the picture.", m.words(), f.spread(m))
	switch {
	case m.below(strideShort):
		return conclude(titleStrideShort, titleStride, WorkOn, text, " Yours is shorter, band and all: a longer last stride lowers the hips and gives the front leg time to set itself.", m), true
	case m.above(strideLong):
		return conclude(titleStrideLong, titleStride, WorkOn, text, " Yours is longer, band and all: an over-long stride makes it hard to get over the front leg.", m), true
	}
	return finding(titleStride, Observation, text+" Yours agrees with that within its band.", m), true
}

func runUp(f facts) (Finding, bool) {
	m, ok := f.best(motion.RunUpSpeed, motion.RunUp)
	if !ok {
		return Finding{}, false
	}
	const tall = 1.8 // metres, to make the ratio tangible
	text := fmt.Sprintf("Before the back foot landed you travelled at %s; for a bowler of 1.80 m that is about %s metres a second.%s Faster bowlers have quicker run-ups (Glazier et al. 2000; Worthington et al. 2013), as long as the front leg can stop them.", m.words(), motion.Number(m.Value*tall, 1), f.spread(m))
	return finding(titleRunUp, Observation, text, m), true
}

func rhythm(f facts) (Finding, bool) {
	rel, ok := f.best(motion.FrontToRelease, motion.Release)
	if !ok {
		return Finding{}, false
	}
	ms := []fact{rel}
	text := fmt.Sprintf("The ball was let go %s after the front foot landed.", rel.words())
	if st, ok := f.in(rel.clip, motion.StrideTime, motion.FrontFootContact); ok {
		ms = append(ms, st)
		text += fmt.Sprintf(" The delivery stride itself, from back foot to front foot, took %s.", st.words())
	}
	return finding(titleRhythm, Observation, text+f.spread(rel)+" Fast bowlers release about a tenth of a second after landing (Bartlett et al. 1996). Compare these from session to session.", ms...), true
}

func elbow(f facts) (Finding, bool) {
	m, ok := f.best(motion.ElbowAngle, motion.Release)
	ext, extended := f.best(motion.ElbowExtension, motion.Release)
	if !ok && !extended {
		return Finding{}, false
	}
	var ms []fact
	text := ""
	if ok {
		ms = append(ms, m)
		text = fmt.Sprintf("At release the elbow of your bowling arm looked %s (180 is straight).%s", m.words(), f.spread(m))
	}
	if extended {
		ms = append(ms, ext)
		text = strings.TrimSpace(text + fmt.Sprintf(" From arm horizontal to release it straightened by %s, as seen in the picture.", ext.words()))
	}
	return finding(titleElbow, Observation, text+" One camera sees the elbow in one plane only, so this is for your own comparison between sessions. It says nothing about the legality of your action.", ms...), true
}

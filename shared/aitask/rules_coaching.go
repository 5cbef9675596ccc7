package aitask

import (
	"fmt"
	"strings"
)

// young is the safety line of every set of drills.
const young = "Warm up first, and keep to the limits on balls per spell, day and week that your cricket board sets for your age: under 19s need them most, since the lower back is still growing. Have a coach look on when you change your action, change one thing at a time, and stop and tell somebody when your back, side, knee or shoulder hurts."

// answers are the drills for a finding, by its title.
var answers = map[string]Drill{
	titleKneeBends: {
		Title: "Land and hold", Dose: "3 sets of 6, twice a week, at walking to jogging pace",
		Purpose: "The knee should stop bending soon after the foot lands, so that the leg can turn run-up speed into ball speed.",
		Steps: []string{"Walk in three steps and take your delivery stride without a ball.",
			"Land on the front heel with the knee nearly straight and hold that leg still for two seconds, hips stacked over the foot.",
			"When six in a row are steady, jog in; then bowl at half pace and freeze over the front leg after release."},
	},
	titleKneeBent: {
		Title: "Tall front side over a low cone", Dose: "3 sets of 5 at 60 % pace",
		Purpose: "Landing with a longer front leg gives the trunk something firm to bow over.",
		Steps: []string{"Put a low cone a shoe's length before your usual landing mark.",
			"Bowl from a four-step run-up and land beyond the cone, heel first, thinking \"tall\".",
			"Film from the side at 120 frames a second or more and compare the knee at release with this report."},
	},
	titleStrideShort: {
		Title: "Stride marks", Dose: "4 sets of 4 at 70 % pace",
		Purpose: "A longer last stride lowers the hips and gives the front leg time to set.",
		Steps: []string{"Mark where your back foot lands, and a line half a foot beyond your usual front-foot landing.",
			"Bowl from six steps and reach the line by pushing off the back leg, not by reaching with the front foot.",
			"Move the line out by a few centimetres only when four in a row feel balanced."},
	},
	titleStrideLong: {
		Title: "Shorter, over the leg", Dose: "4 sets of 4 at 70 % pace",
		Purpose: "A stride that is a little shorter lets the hips get over the front leg by release.",
		Steps: []string{"Mark your usual front-foot landing and a line a few centimetres nearer.",
			"Bowl from six steps, landing on the nearer line, and let the back hip come through past the front foot.",
			"Finish each ball on the front leg alone and hold for a second."},
	},
	titleTrunkUp: {
		Title: "Chest to the target", Dose: "3 sets of 6",
		Purpose: "Bending the trunk over a firm front leg adds speed late, when it counts.",
		Steps: []string{"Kneel on the back knee with the front foot planted and bowl a soft ball at a wall, sending the chest after the arm.",
			"Stand up and do the same from a standing delivery stride.",
			"Then from three walking steps: finish with the chest over the front thigh."},
	},
	titleArmEarly: {
		Title: "Land, then pull", Dose: "3 sets of 6 at walking pace, then 6 balls at 60 %",
		Purpose: "A later arm keeps its fastest part for the moment when the front leg is firm.",
		Steps: []string{"From a standing delivery stride, keep the bowling hand low and behind you until the front foot is down.",
			"Say \"land\" as the foot lands and \"pull\" as the front arm comes down and the bowling arm starts.",
			"Bowl from three steps with the same two words."},
	},
}

// strong keeps what is good.
var strong = map[string]Drill{
	titleKneeBrace: {
		Title: "Keep the front leg under load", Dose: "2 sets of 5 each leg, twice a week",
		Purpose: "A braced front leg is what your pace stands on; keep it strong enough to stay that way late in a spell.",
		Steps: []string{"Step off a low box on to the front heel and stop at once with a nearly straight knee.",
			"Hold for two seconds, hips level, before stepping back up."},
	},
	titleArmLate: {
		Title: "Pace changes with the same arm", Dose: "2 sets of 6",
		Purpose: "Your arm comes late; the drill keeps that timing when you change pace.",
		Steps: []string{"Bowl six balls at 60, 80 and 60 % pace in turn with the same run-up rhythm.",
			"Change the run-up speed only, and let the arm start when the front foot lands each time."},
	},
}

// general are drills that suit every action, to fill up to three.
var general = []Drill{
	{Title: "Walk-through at the crease", Dose: "10 repetitions before each session",
		Purpose: "It sets the order back foot, front foot, arm, and keeps the action repeatable.",
		Steps: []string{"Walk your last five steps and go through the whole action without a ball.",
			"Pause at back-foot contact, at front-foot contact and at release, and check balance at each."}},
	{Title: "Target bowling at 70 %", Dose: "2 sets of 6, resting a minute between sets",
		Purpose: "It joins whatever you change to where the ball goes.",
		Steps: []string{"Lay a sheet or four cones on a good length.",
			"Bowl six at 70 % pace from your full run-up and count the hits; stop the set when the action gets ragged."}},
	{Title: "Run-up rhythm", Dose: "6 run-throughs, no ball",
		Purpose: "A run-up that speeds up evenly brings you to the crease in balance, with speed to use.",
		Steps: []string{"Put a cone at your start, half-way and at take-off.",
			"Run through the crease, a little faster at each cone, with the head still and the hands relaxed."}},
}

// rulesCoaching picks three to five drills that follow from the findings: what
// to work on first, then what to keep, then what suits everybody.
func rulesCoaching(f FindingsText) *CoachingText {
	out := &CoachingText{Safety: young}
	named := 0
	add := func(from map[string]Drill, k Kind, why string) {
		for _, it := range f.Items {
			d, ok := from[it.Title]
			if !ok || it.Kind != k || len(out.Drills) == 4 {
				continue
			}
			d.Finding = it.Title
			d.Purpose = because(it, why) + d.Purpose
			out.Drills = append(out.Drills, d)
			named++
		}
	}
	add(answers, WorkOn, "Your report found: ")
	add(strong, Strength, "Your report found a strength: ")
	for _, d := range general {
		if len(out.Drills) >= 3 && (named > 0 || len(out.Drills) >= len(general)) {
			break
		}
		out.Drills = append(out.Drills, d)
	}
	out.Summary = fmt.Sprintf("%s, in the order in which to try them.", count(len(out.Drills), "drill", "drills"))
	switch rest := len(out.Drills) - named; {
	case named == 0:
		out.Summary += " Nothing in the measured values asks for a change by itself, so these keep the action repeatable."
	case rest == 0:
		out.Summary += " All of them follow from what was measured in your action."
	case rest == 1:
		out.Summary += fmt.Sprintf(" %s from what was measured in your action; the other suits every fast bowler.", count(named, "follows", "follow"))
	default:
		out.Summary += fmt.Sprintf(" %s from what was measured in your action; the other %d suit every fast bowler.", count(named, "follows", "follow"), rest)
	}
	return out
}

// because quotes the finding and the first number that it rests on.
func because(it Finding, how string) string {
	s := how + lowerFirst(it.Title) + ". "
	if len(it.Evidence) > 0 {
		s += "That rests on " + strings.TrimSuffix(lowerFirst(it.Evidence[0]), ".") + ". "
	}
	return s
}

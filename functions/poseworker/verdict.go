package poseworker

import (
	"fastbowlinglab/shared/motion"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/reason"
)

// verdict is a pass if any clip was measured. Of several refusals the athlete is
// told the one that came closest to an analysis: it says best what to film next.
func verdict(r motion.Result) names.VerdictOut {
	if r.Usable() {
		return names.VerdictOut{Verdict: names.VerdictPass}
	}
	best := r.Clips[0].Refused
	for _, c := range r.Clips[1:] {
		if closeness(c.Refused) > closeness(best) {
			best = c.Refused
		}
	}
	return names.VerdictOut{Verdict: names.VerdictReject, Reason: string(best)}
}

// closeness ranks refusals by how far the clip came.
func closeness(c reason.Code) int {
	switch {
	case c == reason.TooLittleBowler:
		return 4 // a bowler, too briefly
	case c == reason.NotBowling:
		return 3 // a person
	case c == reason.NoPerson:
		return 2 // pictures
	case c.Media():
		return 1 // a file
	}
	return 0
}

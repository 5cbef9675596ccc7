package motion

import (
	"fmt"
	"math"
)

const (
	seriesBefore = 0.6 // seconds before release
	seriesAfter  = 0.4
	seriesMax    = 400 // samples
)

// series gives the angles over time around the delivery, smoothed like the
// measures so that a plot passes through them.
func (s *study) series() []Series {
	m, k := marks(s.d.arm), marks(s.frontSide)
	arm, _ := s.armSignal()
	out := []Series{
		s.sampled(SeriesElbow, s.b.angleOf(m.shoulder, m.elbow, m.wrist), bandElbow),
		s.sampled(SeriesKnee, s.b.angleOf(k.hip, k.knee, k.ankle), bandKnee),
		s.sampled(SeriesTrunk, s.b.trunkLean(s.d.dir), bandTrunk),
		s.sampled(SeriesArm, arm, bandArm),
	}
	return out
}

func (s *study) sampled(name string, sig signal, base bandBase) Series {
	out := Series{Name: name, Unit: Degrees, Times: []float64{}, Values: []*float64{}}
	var bands []float64
	every := 1
	if n := int((seriesBefore + seriesAfter) / s.b.dt); n > seriesMax {
		every = (n + seriesMax - 1) / seriesMax
	}
	for i := 0; i < len(s.b.f); i += every {
		t := s.b.f[i].t
		if t < s.d.release-seriesBefore || t > s.d.release+seriesAfter {
			continue
		}
		out.Times = append(out.Times, round(t, 1e4))
		e, ok := sig.at(t, s.b.window(0.036), 2)
		if !ok || s.unsupported(base) != "" || !near(sig.t, t, maxGap+s.b.dt/2) || s.leaves(base, t) != "" {
			out.Values = append(out.Values, nil)
			continue
		}
		v := round(base.corrected(e.value), 10)
		out.Values = append(out.Values, &v)
		bands = append(bands, s.band(base, e, contact{spread: s.b.dt / 4}))
	}
	if len(bands) > 0 {
		out.Band = round(median(bands), 10)
	}
	return out
}

// near reports whether any of ts is within d of t.
func near(ts []float64, t, d float64) bool {
	from, to := within(ts, t, d)
	return to > from
}

// warnings tells the athlete what would make the next clip measure better.
func (s *study) warnings() []string {
	var out []string
	if rate := 1 / s.b.dt; rate < 100 {
		turn := s.d.armSpeed * s.b.dt
		out = append(out, fmt.Sprintf("Filmed at %.0f frames a second: the bowling arm turns about %.0f degrees from one frame to the next. Film at 120 to 240 frames a second, side on, for narrower bands.", rate, turn))
	}
	if s.side > 0.5 {
		out = append(out, "The camera does not stand square to the run-up. Film from the side, level with the bowling crease.")
	}
	if s.armLeaves(s.d.release) != "" {
		out = append(out, "The picture's edge cuts the bowling arm off at release. Leave room above the bowler for the arm.")
	}
	if s.b.torso < 45 {
		out = append(out, fmt.Sprintf("The bowler is small in the picture (the trunk is %.0f pixels long). Stand nearer or zoom in.", s.b.torso))
	}
	if s.b.dropped > 0 {
		out = append(out, fmt.Sprintf("%d frames had an unusable time and were left out.", s.b.dropped))
	}
	if n := s.hidden(); n > 0 {
		out = append(out, fmt.Sprintf("The bowler was lost, or mixed up with somebody else, in %d frames; those were left out.", n))
	}
	if gap := s.longestStep(); gap > 2.5*s.b.dt && gap > 0.05 {
		out = append(out, fmt.Sprintf("The clip has gaps of up to %.2f s between frames; what happened in them is not measured.", gap))
	}
	if s.front.why != "" {
		out = append(out, "Front-foot contact was not found: "+s.front.why+".")
	}
	return out
}

// mirrorWarning is for a clip whose file says that it is shown as in a mirror.
const mirrorWarning = "The camera stored this clip as a mirror image, as selfie cameras do. Left and right are named as they are on the athlete, not as they look in the picture."

// severalWarning is for a clip of n more deliveries, or run-ups, than the one measured.
func severalWarning(n int, release float64) string {
	more := "one more delivery or run-up"
	if n > 1 {
		more = fmt.Sprintf("%d more deliveries or run-ups", n)
	}
	return fmt.Sprintf("The clip shows %s. Only the clearest delivery is measured, the one released at %.1f s. Send one clip for each delivery to have them all.", more, release)
}

// hidden counts the frames without the bowler between first and last sight.
func (s *study) hidden() int {
	n, pending, seen := 0, 0, false
	for i := range s.b.f {
		if _, ok := s.b.f[i].centre(); ok {
			if seen {
				n += pending
			}
			seen, pending = true, 0
		} else {
			pending++
		}
	}
	return n
}

func (s *study) longestStep() float64 {
	d := 0.0
	for i := 1; i < len(s.b.f); i++ {
		d = math.Max(d, s.b.f[i].t-s.b.f[i-1].t)
	}
	return d
}

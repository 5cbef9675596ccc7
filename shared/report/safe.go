package report

import (
	"math"
	"strings"

	"fastbowlinglab/shared/aitask"
	"fastbowlinglab/shared/motion"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/pose"
	"fastbowlinglab/shared/reason"
	"fastbowlinglab/shared/report/typeset"
)

// Limits on what one report shows. They are far above what the pipeline makes;
// they bound the work that odd input can cause.
const (
	maxName     = 2 * names.MaxNameRunes
	maxText     = 8000 // characters of one paragraph
	maxItems    = 200
	maxSteps    = 40
	maxEvidence = 20
	maxMeasures = 80
	maxSeries   = 12
	maxSamples  = 2000 // of one curve; more cannot be seen
	maxValue    = 1e5
)

// safe gives a copy of the input that is fit to be shown: clean text, finite
// numbers, bounded lists. Everything after it relies on that.
func safe(in Input) Input {
	in.AnalysisID = line(in.AnalysisID, 80)
	in.Athlete = line(in.Athlete, maxName)
	in.Changed = line(in.Changed, maxName)
	in.TimeZone = clip(in.TimeZone, 80)
	in.ClipNames = each(in.ClipNames, names.MaxClips, func(s string) string { return line(s, maxName) })
	in.Findings = safeFindings(in.Findings)
	in.Coaching = safeCoaching(in.Coaching)
	in.Result.Engine, in.Result.Model = line(in.Result.Engine, 120), line(in.Result.Model, 120)
	in.Result.Clips = each(in.Result.Clips, names.MaxClips, safeClip)
	return in
}

func each[T any](in []T, most int, f func(T) T) []T {
	out := make([]T, 0, min(len(in), most))
	for _, v := range in[:min(len(in), most)] {
		out = append(out, f(v))
	}
	return out
}

func line(s string, most int) string { return clip(typeset.Clean(s), most) }

// text cleans text of several paragraphs, which stay on lines of their own.
func text(s string) string {
	return strings.Join(each(typeset.CleanLines(s), maxSteps, func(s string) string { return clip(s, maxText) }), "\n")
}

func author(a aitask.Author) aitask.Author {
	return aitask.Author{Provider: line(a.Provider, 80), Model: line(a.Model, 120), Version: line(a.Version, 80)}
}

// sentence is a line of at most maxText characters.
func sentence(s string) string { return line(s, maxText) }

func safeFindings(f Findings) Findings {
	f.Author, f.Summary = author(f.Author), text(f.Summary)
	f.Items = each(f.Items, maxItems, func(it aitask.Finding) aitask.Finding {
		return aitask.Finding{
			Title: sentence(it.Title), Detail: text(it.Detail), Kind: aitask.Kind(line(string(it.Kind), 40)),
			Measures: each(it.Measures, maxEvidence, func(r aitask.Ref) aitask.Ref {
				return aitask.Ref{Clip: r.Clip, Name: line(r.Name, 80), Phase: line(r.Phase, 80)}
			}),
			Evidence: each(it.Evidence, maxEvidence, func(s string) string { return line(s, 400) }),
		}
	})
	return f
}

func safeCoaching(c Coaching) Coaching {
	c.Author, c.Summary, c.Safety = author(c.Author), text(c.Summary), text(c.Safety)
	c.Drills = each(c.Drills, maxItems, func(d aitask.Drill) aitask.Drill {
		return aitask.Drill{Title: sentence(d.Title), Purpose: text(d.Purpose), Finding: sentence(d.Finding),
			Steps: each(d.Steps, maxSteps, sentence), Dose: sentence(d.Dose)}
	})
	return c
}

func finite(f float64) bool { return !math.IsNaN(f) && math.Abs(f) <= maxValue }

// number0 gives f, or 0 when it is not a usable number.
func number0(f float64) float64 {
	if finite(f) {
		return f
	}
	return 0
}

func safeClip(c motion.Clip) motion.Clip {
	c.Duration, c.FrameRate = number0(c.Duration), number0(c.FrameRate)
	c.Confidence = min(max(number0(c.Confidence), 0), 1)
	c.Width, c.Height = min(max(c.Width, 0), 1<<15), min(max(c.Height, 0), 1<<15)
	c.Travel = line(c.Travel, 20)
	c.Refused = reason.Code(line(string(c.Refused), 80))
	if c.Arm != motion.Left && c.Arm != motion.Right {
		c.Arm = ""
	}
	c.Warnings = each(c.Warnings, maxSteps, func(s string) string { return line(s, maxText) })
	var ps []motion.Phase
	for _, p := range c.Phases {
		if finite(p.Time) && phaseNumber(p.Name) > 0 {
			p.Points = safePoints(p.Points)
			ps = append(ps, p)
		}
	}
	c.Phases = ps
	c.Measures = each(c.Measures, maxMeasures, safeMeasure)
	var ss []motion.Series
	for _, s := range c.Series[:min(len(c.Series), maxSeries)] {
		ss = append(ss, safeSeries(s))
	}
	c.Series = ss
	return c
}

// safePoints marks landmarks without a usable place as not seen.
func safePoints(ps []pose.Point) []pose.Point {
	return each(ps, pose.Landmarks, func(p pose.Point) pose.Point {
		if !finite(p.X) || !finite(p.Y) || !finite(p.Visibility) {
			return pose.Point{}
		}
		return p
	})
}

func safeMeasure(m motion.Measure) motion.Measure {
	m.Name, m.Unit = line(m.Name, 80), line(m.Unit, 40)
	m.Phase = motion.PhaseName(line(string(m.Phase), 40))
	m.NotMeasured, m.Source = line(m.NotMeasured, 400), line(m.Source, 400)
	if m.NotMeasured == "" && (!finite(m.Value) || !finite(m.Band)) {
		m.NotMeasured = "the value was not a number"
	}
	m.Confidence = min(max(number0(m.Confidence), 0), 1)
	m.Band = max(number0(m.Band), 0)
	if m.NotMeasured != "" {
		m.Value, m.Band, m.Confidence = 0, 0, 0
	}
	return m
}

// safeSeries keeps the samples in order of time, thinned to what can be seen.
func safeSeries(s motion.Series) motion.Series {
	out := motion.Series{Name: line(s.Name, 80), Unit: line(s.Unit, 40), Band: max(number0(s.Band), 0)}
	n := min(len(s.Times), len(s.Values))
	step := (n + maxSamples - 1) / maxSamples
	last := math.Inf(-1)
	for i := 0; i < n; i += max(step, 1) {
		t, v := s.Times[i], s.Values[i]
		if !finite(t) || t <= last {
			continue
		}
		if v != nil && !finite(*v) {
			v = nil
		}
		last = t
		out.Times, out.Values = append(out.Times, t), append(out.Values, v)
	}
	return out
}

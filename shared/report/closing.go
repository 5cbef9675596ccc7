package report

import (
	"fmt"
	"strings"

	"fastbowlinglab/shared/motion"
	"fastbowlinglab/shared/report/typeset"
)

// clips lists what was sent in and what came of it; a refused clip is named
// with the reason.
func (s *sheet) clips() {
	s.heading("Clips in this analysis", 80)
	cols := []column{{"CLIP", 32, start}, {"FILE", 130, start}, {"FOOTAGE", 106, start}, {"OUTCOME", contentW - 268, start}}
	const pad = 8
	var rows [][]cell
	for _, c := range s.in.Result.Clips {
		outcome := "Measured."
		if c.Refused != "" {
			outcome = "Not used. " + c.Refused.Sentence()
		}
		out := s.lines(outcome, stCell, cols[3].w-pad)
		for _, w := range c.Warnings {
			out = append(out, s.lines(w, stSmall, cols[3].w-pad)...)
		}
		rows = append(rows, []cell{
			{lines: s.lines(fmt.Sprint(c.Index+1), stCell, 0)},
			{lines: s.lines(s.clipName(c.Index), stCell, cols[1].w-pad)},
			{lines: s.lines(footage(c), stCellM, cols[2].w-pad)},
			{lines: out}})
	}
	s.table(cols, rows)
	s.y += 18
}

// footage describes a clip's picture in words.
func footage(c motion.Clip) string {
	var parts []string
	if c.Width > 0 {
		parts = append(parts, fmt.Sprintf("%d × %d", c.Width, c.Height))
	}
	if c.FrameRate > 0 {
		parts = append(parts, motion.Number(c.FrameRate, 0)+" fps")
	}
	if c.Duration > 0 {
		parts = append(parts, motion.Number(c.Duration, 2)+" s")
	}
	return strings.Join(parts, ", ")
}

func (s *sheet) clipName(i int) string {
	if i >= 0 && i < len(s.in.ClipNames) && s.in.ClipNames[i] != "" {
		return s.in.ClipNames[i]
	}
	return "unnamed"
}

// Standing texts. They promise nothing that the pipeline does not do.
var (
	methodText = []string{
		"A pose model finds 33 points of the body in every frame. From their tracks the program finds the delivery, its instants, and the angles between the parts of the body. Every frame keeps its own time stamp, so that uneven frame rates do no harm.",
		"Angles are those seen in the picture: a movement towards or away from the camera looks shorter than it is. Each value has a band that depends on the frame rate, on how well the points were followed and on the errors measured on rendered clips whose true values are known. What the view or the frame rate cannot support is given as not measured, with the reason.",
	}
	limitsText = []string{
		"This report says nothing about whether an action is legal under the Laws of Cricket. The error of a single phone camera is larger than the limits in those rules, and an elbow that bends in depth can look straight.",
		"When a foot lands is read from how it slows down. A back foot that lands on its toes and rolls on is told late: at 30 frames a second by up to a frame and a half, a twentieth of a second. The band of the delivery stride’s time holds that.",
		"It is no medical advice. Stop a drill that hurts, and see somebody who is trained to help.",
	}
	filmingText = []string{
		"Film at 120 to 240 frames a second (the phone’s slow-motion setting), with the original file sent in and not a copy from a chat.",
		"Stand square to the pitch, level with the popping crease, on the side of the bowling arm, so that run-up, landing and release are seen from the side.",
		"Put the phone on a tripod or a wall at hip height, and keep it still.",
		"Keep the whole body in the picture from the last five strides to the follow-through, with good light and nobody walking in front.",
		"Send several deliveries: what repeats is the bowler, what does not may be the measurement.",
	}
)

// closing writes advice, method, limits, sources and versions.
func (s *sheet) closing() {
	s.heading("Film the next session", 60)
	for _, t := range filmingText {
		s.bullet(t, left, contentW)
	}
	s.y += 14
	s.heading("How this was measured", 60)
	for _, t := range methodText {
		s.paragraph(t, stBody, left, contentW)
		s.y += 4
	}
	s.y += 10
	s.heading("What this report does not say", 60)
	for _, t := range limitsText {
		s.paragraph(t, stBody, left, contentW)
		s.y += 4
	}
	s.y += 10
	if len(s.sources) > 0 {
		s.heading("Where the definitions come from", 50)
		for i, src := range s.sources {
			s.paragraph(fmt.Sprintf("[%d] %s", i+1, src), stSmall, left, contentW)
		}
		s.y += 14
	}
	s.made()
}

// made writes who and what made the report.
func (s *sheet) made() {
	in := s.in
	s.heading("Made by", 70)
	for _, row := range [][2]string{
		{"Pose", join(in.Result.Engine, in.Result.Model)},
		{"Findings", credit(in.Findings.Author)},
		{"Drills", credit(in.Coaching.Author)},
		{"Submitted", when(in.Submitted, in.TimeZone)},
		{"Analysis", fmt.Sprintf("%s, attempt %d", in.AnalysisID, in.Attempt)},
		{"Format", fmt.Sprintf("report version %d", Version)},
	} {
		ls := s.lines(row[1], stSmall, contentW-80)
		h := height(ls)
		s.room(h)
		s.page.Tag("P", func() {
			s.label(row[0], stSmallB, left, s.y, 80, ragged)
			s.y = s.place(ls, left+80, s.y, contentW-80, ragged)
		})
	}
}

func join(parts ...string) string {
	var out []string
	for _, p := range parts {
		if p != "" {
			out = append(out, p)
		}
	}
	if len(out) == 0 {
		return "not recorded"
	}
	return strings.Join(out, ", ")
}

// furniture draws running heads and feet once the number of pages is known.
func (s *sheet) furniture() {
	pages := s.doc.Pages()
	name := s.in.Athlete
	for i, p := range pages {
		s.page = p
		p.Artifact(func() {
			if i > 0 {
				s.label("FASTBOWLINGLAB", stBrandSmall, left, 27, 200, ragged)
				s.place(s.one(name, stSmall, 260), left, 26, contentW, end)
				s.ruleLine(44)
			}
			s.ruleLine(pageH - 40)
			s.place(s.one("Analysis "+s.in.AnalysisID, stSmall, 300), left, pageH-35, contentW, ragged)
			s.label(fmt.Sprintf("Page %d of %d", i+1, len(pages)), stSmall, left, pageH-35, contentW, end)
		})
	}
}

var stBrandSmall = typeset.Style{Size: 7, Weight: typeset.SemiBold, Colour: armC, Tracking: 1.2}

// best is the clip that the first page shows: the one that was followed best.
func best(clips []motion.Clip) int {
	at := -1
	for i, c := range clips {
		if c.Refused == "" && (at < 0 || c.Confidence > clips[at].Confidence) {
			at = i
		}
	}
	return at
}

package aitask

import (
	"fmt"
	"strings"

	"fastbowlinglab/shared/motion"
)

// limits lists what was not measured, each reason once, with the clips that
// could not be used and how to film next time.
func limits(f facts) Finding {
	var parts []string
	for _, c := range f.result.Clips {
		if c.Refused != "" {
			parts = append(parts, fmt.Sprintf("Clip %d was not used: %s", c.Index+1, c.Refused.Sentence()))
		}
	}
	var order []string
	byWhy := map[string][]string{}
	it := Finding{Title: titleLimits, Kind: Limits}
	for _, c := range f.usable {
		for _, m := range c.Measures {
			if m.NotMeasured == "" {
				continue
			}
			if _, ok := f.best(m.Name, m.Phase); ok {
				continue // another clip shows it
			}
			l := label(m.Name, m.Phase)
			if len(byWhy[m.NotMeasured]) == 0 {
				order = append(order, m.NotMeasured)
			}
			if !contains(byWhy[m.NotMeasured], l) {
				byWhy[m.NotMeasured] = append(byWhy[m.NotMeasured], l)
				if len(it.Measures) < 16 {
					it.Measures = append(it.Measures, Ref{c.Index, m.Name, string(m.Phase)})
				}
			}
		}
	}
	for _, why := range order {
		parts = append(parts, fmt.Sprintf("Not measured: %s (%s).", list(byWhy[why]), strings.TrimSuffix(why, ".")))
	}
	slowest := 0.0
	for _, c := range f.usable {
		if slowest == 0 || c.FrameRate < slowest {
			slowest = c.FrameRate
		}
	}
	if slowest > 0 && slowest < 100 {
		parts = append(parts, fmt.Sprintf("At %s frames a second the arm turns far between two pictures. Film at 120 to 240 frames a second, side on, with the whole body in view from five strides before the crease, and the bands become narrower.", motion.Number(slowest, 0)))
	}
	parts = append(parts, "All angles are those seen in the picture, from one side; every value comes with the band in which the true one lies 95 times in 100.")
	it.Detail = clipRunes(strings.Join(parts, " "), 1990)
	return it
}

// summary says in three sentences what was seen, and on what it rests.
func summary(f facts, items []Finding) string {
	var work, strong []string
	for _, it := range items {
		switch it.Kind {
		case WorkOn:
			work = append(work, lowerFirst(it.Title))
		case Strength:
			strong = append(strong, lowerFirst(it.Title))
		}
	}
	var s []string
	if len(f.usable) == 0 {
		s = append(s, "No clip could be measured.")
	} else {
		c := f.usable[0]
		s = append(s, fmt.Sprintf("You bowl with the %s arm; %s.", c.Arm, count(len(f.usable), "delivery was", "deliveries were")+" measured"))
	}
	if len(strong) > 0 {
		s = append(s, fmt.Sprintf("What stands out: %s.", list(strong)))
	}
	if len(work) > 0 {
		s = append(s, fmt.Sprintf("What to work on first: %s.", list(work)))
	} else if len(f.usable) > 0 {
		s = append(s, "Nothing stands out, beyond its band, as something to change.")
	}
	return strings.Join(s, " ")
}

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// list joins words with commas and "and".
func list(w []string) string {
	switch len(w) {
	case 0:
		return ""
	case 1:
		return w[0]
	}
	return strings.Join(w[:len(w)-1], ", ") + " and " + w[len(w)-1]
}

func contains(w []string, s string) bool {
	for _, x := range w {
		if x == s {
			return true
		}
	}
	return false
}

func lowerFirst(s string) string {
	if s == "" {
		return s
	}
	return strings.ToLower(s[:1]) + s[1:]
}

func clipRunes(s string, n int) string {
	r := []rune(s)
	if len(r) <= n {
		return s
	}
	return string(r[:n-1]) + "…"
}

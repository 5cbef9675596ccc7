package main

import (
	"fmt"
	"image"
	"image/color"
	"slices"

	"fastbowlinglab/shared/motion"
)

// say prints what the motion analysis makes of the clip, to hold against the pictures.
func say(m motion.Clip) {
	if m.Refused != "" {
		fmt.Printf("refused: %s\n", m.Refused)
		return
	}
	fmt.Printf("%s arm, to the %s, confidence %.2f\n", m.Arm, m.Travel, m.Confidence)
	for _, p := range m.Phases {
		fmt.Printf("  %-20s frame %3d, %.3f s\n", p.Name, p.Frame, p.Time)
	}
	for _, v := range m.Measures {
		if v.NotMeasured != "" {
			fmt.Printf("  %-24s %-20s not measured: %s\n", v.Name, v.Phase, v.NotMeasured)
			continue
		}
		fmt.Printf("  %-24s %-20s %8.2f ± %.2f %s\n", v.Name, v.Phase, v.Value, v.Band, v.Unit)
	}
	for _, w := range m.Warnings {
		fmt.Println("  warning:", w)
	}
}

// spread gives frames evenly over the stretch that is to be shown.
func (s sheet) spread(frames int) []int {
	first, last := max(0, s.from), min(s.to, frames-1)
	n := min(s.tiles, last-first+1)
	var out []int
	for k := range max(0, n) {
		out = append(out, first+k*(last-first+1)/n)
	}
	return out
}

// keyFrames gives the frames of the phases, and two to each side of those that
// are instants; the phases' own are framed.
func keyFrames(m motion.Clip, frames int) (show []int, framed map[int]bool) {
	framed = map[int]bool{}
	for _, p := range m.Phases {
		framed[p.Frame] = true
		about := 2
		if p.Name == motion.RunUp || p.Name == motion.FollowThrough {
			about = 0
		}
		for i := max(0, p.Frame-about); i <= min(frames-1, p.Frame+about); i++ {
			show = append(show, i)
		}
	}
	slices.Sort(show)
	return slices.Compact(show), framed
}

// edge draws a white square about a tile.
func edge(img *image.RGBA, p image.Point, side int) {
	for i := range side {
		for w := range 4 {
			for _, q := range [...]image.Point{{i, w}, {i, side - 1 - w}, {w, i}, {side - 1 - w, i}} {
				img.Set(p.X+q.X, p.Y+q.Y, color.White)
			}
		}
	}
}

package main

import (
	"strconv"
	"strings"
)

// clip is one rendered clip: a sample that lies in the repository, or a seed.
type clip struct {
	name     string
	file     string // of a sample, without its ending
	seed     int
	rate     int
	from, to string
	flags    string // more, for the generator
	variant  string // what makes it unlike the others; "" is a plain one
}

// clips lists what the figures are made from. Names that begin with h are held
// out: nothing is tuned to them.
func clips() []clip {
	out := []clip{
		{name: "bowler", file: "bowler"}, {name: "not_bowling", file: "not_bowling"},
		{name: "bowler_left_arm", file: "variants/bowler_left_arm"}, {name: "bowler_portrait", file: "variants/bowler_portrait", variant: "portrait"},
		{name: "bowler_240fps", file: "variants/bowler_240fps"},
	}
	for _, g := range []struct {
		prefix, seeds string
		rate          int
		from, to      string
		flags         string
	}{
		{"s", "1 5 21 25 26", 60, ".5", "1.9", ""}, {"s", "2 22", 60, ".5", "1.9", "-mirror"},
		{"s", "3 23", 30, ".3", "2.1", ""}, {"s", "4 24", 120, ".9", "1.75", ""},
		{"h", "11 15 31 41", 60, ".5", "1.9", ""}, {"h", "12 16 32 42", 60, ".5", "1.9", "-mirror"},
		{"h", "13 34", 30, ".3", "2.1", ""}, {"h", "14", 120, ".9", "1.75", ""}, {"h", "33", 120, ".9", "1.75", "-mirror"},
	} {
		for _, s := range strings.Fields(g.seeds) {
			n, _ := strconv.Atoi(s)
			out = append(out, clip{name: g.prefix + s, seed: n, rate: g.rate, from: g.from, to: g.to, flags: g.flags})
		}
	}
	return append(out, variants()...)
}

// variants are clips with what makes footage hard to read.
func variants() []clip {
	at := func(name string, rate int, flags, variant string) clip {
		seed, _ := strconv.Atoi(name[1:])
		c := clip{name: name, seed: seed, rate: rate, from: ".7", to: "1.65", flags: flags, variant: variant}
		if rate == 30 {
			c.from, c.to = ".4", "1.9"
		}
		if rate > 60 {
			c.from, c.to = ".95", "1.65"
		}
		return c
	}
	return []clip{
		at("s101", 60, "-far", "far arm"),
		at("s108", 60, "-cut arm", "arm cut off"),
		at("s110", 60, "-far", "far arm"),
		at("s111", 60, "-far -mirror", "far arm"),
		at("h201", 60, "-far", "far arm"),
		at("h202", 60, "-far -mirror", "far arm"),
		at("h203", 60, "-portrait", "portrait"),
		at("h205", 60, "-with umpire,batter", "other people"),
		at("h206", 60, "-with coach,passer -mirror", "other people"),
		at("h207", 60, "-shutter .5", "motion blur"),
		at("h208", 30, "-shutter .5 -mirror", "motion blur"),
		at("h209", 60, "-cut feet", "feet cut off"),
		at("h210", 60, "-cut arm", "arm cut off"),
		at("h211", 240, "", ""),
		// Rendered when every offset and band was fixed.
		at("h301", 60, "", ""),
		at("h302", 60, "-mirror", ""),
		at("h303", 60, "-far", "far arm"),
		at("h304", 30, "-mirror", ""),
		at("h305", 120, "", ""),
		at("h306", 60, "-portrait", "portrait"),
		at("h307", 60, "-with umpire,coach", "other people"),
		at("h308", 60, "-shutter .5 -mirror", "motion blur"),
		at("h309", 60, "-cut feet -mirror", "feet cut off"),
		at("h310", 60, "-far -mirror", "far arm"),
		// Rendered when a run-up's track was tested, and a far elbow withheld.
		at("h401", 60, "-with coach", "other people"),
		at("h404", 60, "-far", "far arm"),
		at("h405", 60, "-far -mirror", "far arm"),
	}
}

package faults

import (
	"fmt"
	"slices"

	"fastbowlinglab/integration/virtual"
)

// Guard is one guard, and how it is switched off: between the program and the
// database, so that the program does not know. Breaks is the promise that must
// then be seen broken, Within how many schedules.
type Guard struct {
	Name   string
	What   string
	Breaks string
	Within int
	off    func(*virtual.Options)
}

func (g Guard) apply(o *virtual.Options) {
	if g.off != nil {
		g.off(o)
	}
}

// rewriting is a guard that is a condition in a request.
func rewriting(edit func(*request)) func(*virtual.Options) {
	return func(o *virtual.Options) {
		o.Rewrite = func(c virtual.Call) [][]byte {
			if c.Service != "dynamodb" {
				return nil
			}
			return rewrite(c, edit)
		}
	}
}

// Guards lists every guard that can be switched off. Two of package effect's are
// not in it: "a claim is taken over exactly as it was seen" needs two callers that
// take one effect over at the same time, and one execution at a time holds an
// analysis; "only a claim's owner records its result" needs a caller that outlives
// its claim, and its context ends first. The library promises both to everybody:
// integration/histories and integration/explorer break without either.
func Guards() []Guard {
	return slices.Concat(lifeGuards(), creditGuards(), noticeGuards(), effectGuards(), poseGuards(), revisionGuards(), routeGuards())
}

// Off switches several guards off in one world, conditions in requests only.
func Off(o *virtual.Options, names ...string) error {
	for _, n := range names {
		g, ok := GuardOf(n)
		if !ok {
			return fmt.Errorf("no guard %q", n)
		}
		also(o, g.off)
	}
	return nil
}

// also switches a guard off beside those that are off.
func also(o *virtual.Options, off func(*virtual.Options)) {
	before := o.Rewrite
	off(o)
	after := o.Rewrite
	if before == nil {
		return
	}
	o.Rewrite = func(c virtual.Call) [][]byte {
		first := before(c)
		if len(first) == 1 {
			c.Body = first[0]
		}
		if second := after(c); second != nil {
			return second
		}
		return first
	}
}

// GuardOf finds a guard by its name.
func GuardOf(name string) (Guard, bool) {
	for _, g := range Guards() {
		if g.Name == name {
			return g, true
		}
	}
	return Guard{}, false
}

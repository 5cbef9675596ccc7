package explorer

import "fmt"

// Guards of the paid call, each of which can be taken away.
type callGuards struct {
	insert   bool // effect.Store.insert: absent
	replace  bool // effect.Store.replace: exactly the row that was seen
	until    bool // effect.Store.claim: not before the claim's end and the skew
	takeover bool // effect.Takeovers(1)
	owner    bool // effect.Store.update: by the claim's owner under its fence
	deadline bool // effect.Store.run: fn's context ends before the claim does
}

var allCall = callGuards{true, true, true, true, true, true}

// States of the effect's row.
const (
	rowAbsent = iota
	rowClaimed
	rowDone
	rowUnknown
)

// Where a caller is.
const (
	cStart   = iota
	cSeen    // it saw a claim that had run out, at fence mem
	cClaimed // it holds the claim, and has not called
	cCalling // it has called, and waits for the answer
	cBack    // it has the answer, and has not recorded it
	cDone
	cDead
)

const callers = 4

// paidCall is a state: callers that want one effect.
type paidCall struct {
	row       int
	owner     int // caller + 1
	fence     int
	takeovers int
	over      bool // the row's claim has run out
	pc        [callers]int
	mem       [callers]int // fence seen, or held
	tooks     [callers]int // takeovers seen
	answers   [callers]bool
	calls     int
	claims    int
	atOnce    bool // two living callers wait for an answer at once
	twoClaims bool // one fence was given twice
	lost      bool // a recorded result was changed
}

// Call is the model of effect.Store.Once.
func Call(g callGuards) Model[paidCall] {
	return Model[paidCall]{Next: g.next, Safe: callSafe, End: callEnd}
}

func (g callGuards) next(s paidCall) []Step[paidCall] {
	var out []Step[paidCall]
	add := func(c int, fn string, to paidCall) {
		out = append(out, Step[paidCall]{fmt.Sprintf("caller %d: %s", c+1, fn), to})
	}
	if s.row == rowClaimed && !s.over { // time passes; a caller whose context has ended has left its call by then
		holder := s.owner - 1
		// A context cannot end what is past fn: a caller that stood still goes on.
		if to := s; s.pc[holder] == cDead || s.pc[holder] == cBack || !g.deadline {
			to.over = true
			out = append(out, Step[paidCall]{"clock: the claim runs out", to})
		} else if s.pc[holder] == cClaimed || s.pc[holder] == cCalling {
			to.over, to.pc[holder] = true, cDead
			out = append(out, Step[paidCall]{"clock: the claim runs out, its caller's context first", to})
		}
	}
	for c := range callers {
		switch s.pc[c] {
		case cStart:
			g.claim(s, c, add)
		case cSeen:
			g.takeOver(s, c, add)
		case cClaimed:
			to := s
			to.pc[c], to.calls = cCalling, s.calls+1
			for other, pc := range s.pc {
				to.atOnce = to.atOnce || other != c && pc == cCalling
			}
			add(c, "fn sends", to)
		case cCalling:
			to := s
			to.pc[c] = cBack
			add(c, "fn returns", to)
		case cBack:
			to := s
			to.pc[c], to.answers[c] = cDone, true
			if !g.owner || s.row == rowClaimed && s.owner == c+1 && s.fence == s.mem[c] {
				to.lost = s.lost || s.row == rowDone
				to.row = rowDone
			}
			add(c, "effect.Store.finish", to)
		}
		if s.pc[c] == cClaimed || s.pc[c] == cCalling || s.pc[c] == cBack {
			to := s
			to.pc[c] = cDead
			add(c, "crash", to)
		}
	}
	return out
}

func (g callGuards) claim(s paidCall, c int, add func(int, string, paidCall)) {
	to := s
	switch {
	case s.row == rowAbsent || !g.insert:
		to.twoClaims = s.row == rowClaimed
		to.row, to.owner, to.fence, to.over = rowClaimed, c+1, 1, false
		to.pc[c], to.mem[c], to.claims = cClaimed, 1, s.claims+1
		add(c, "effect.Store.insert", to)
	case s.row == rowDone || s.row == rowUnknown:
		to.pc[c] = cDone
		add(c, "effect.Store.claim: recorded", to)
	case s.over || !g.until:
		to.pc[c], to.mem[c], to.tooks[c] = cSeen, s.fence, s.takeovers
		add(c, "effect.Store.claim: run out", to)
	} // else InProgress: it comes again, which is this state
}

func (g callGuards) takeOver(s paidCall, c int, add func(int, string, paidCall)) {
	to := s
	if g.replace && (s.row != rowClaimed || s.fence != s.mem[c]) {
		to.pc[c], to.mem[c], to.tooks[c] = cStart, 0, 0
		add(c, "effect.Store.replace: changed", to)
		return
	}
	if g.takeover && s.tooks[c] >= 1 {
		to.row, to.pc[c] = rowUnknown, cDone
		add(c, "effect.Store.markUnknown", to)
		return
	}
	if s.claims > 4 {
		return // enough to show what goes wrong
	}
	to.twoClaims = s.twoClaims || s.mem[c]+1 <= s.fence
	to.row, to.owner, to.fence, to.over, to.takeovers = rowClaimed, c+1, s.mem[c]+1, false, s.tooks[c]+1
	to.pc[c], to.mem[c], to.tooks[c], to.claims = cClaimed, s.mem[c]+1, 0, s.claims+1
	add(c, "effect.Store.replace", to)
}

func callSafe(s paidCall) error {
	switch {
	case s.calls > 2:
		return fmt.Errorf("I5: %d calls", s.calls)
	case s.calls > 1+s.takeovers:
		return fmt.Errorf("I5: %d calls, %d takeovers", s.calls, s.takeovers)
	case s.atOnce:
		return fmt.Errorf("I5: two calls at one time")
	case s.twoClaims:
		return fmt.Errorf("I5: one fence was given twice")
	case s.lost:
		return fmt.Errorf("I5: a recorded result was replaced")
	}
	return nil
}

func callEnd(s paidCall) error {
	if s.row == rowClaimed {
		return fmt.Errorf("I5: the claim hangs for ever")
	}
	return nil
}

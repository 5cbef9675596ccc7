package histories

import (
	"time"

	"github.com/anishathalye/porcupine"
)

// One analysis' end: the first write stands, everybody is shown it.
type endIn struct{ by, status string }

type endOut struct {
	won    bool
	status string
}

func endModel() porcupine.NondeterministicModel {
	return porcupine.NondeterministicModel{
		Init: func() []any { return []any{endIn{}} },
		Step: func(state, input, output any) []any {
			s, in := state.(endIn), input.(endIn)
			out, known := output.(endOut)
			if s.status == "" {
				s = in
			}
			if known && (out.status != s.status || out.won != (s == in)) {
				return nil
			}
			if !known && state.(endIn).status == "" {
				return []any{state, s} // it may have come to nothing
			}
			return []any{s}
		},
	}
}

// An athlete's ledger: a balance, and what was entered.
type ledgerIn struct {
	kind string // grant, reserve, refund, read
	key  string
	n    int64
}

type ledgerState struct {
	balance int64
	entered string // keys, each closed by a blank, in the order of entry
}

// ledgerOut of a grant and a refund is ok; of a reservation whether there was a
// credit; of a read the balance.
type ledgerOut struct {
	ok      bool
	balance int64
}

func ledgerModel() porcupine.NondeterministicModel {
	return porcupine.NondeterministicModel{
		Init: func() []any { return []any{ledgerState{}} },
		Step: func(state, input, output any) []any {
			s, in := state.(ledgerState), input.(ledgerIn)
			out, known := output.(ledgerOut)
			if in.kind == "read" {
				if known && out.balance != s.balance {
					return nil
				}
				return []any{s}
			}
			next, done := s, contains(s.entered, in.kind+in.key)
			enough := in.kind != "reserve" || s.balance >= 1
			if !done && enough {
				next.balance += in.n
				next.entered += in.kind + in.key + " "
			}
			if known && out.ok != (done || enough) {
				return nil
			}
			if !known {
				return []any{s, next}
			}
			return []any{next}
		},
	}
}

func contains(keys, key string) bool {
	for len(keys) > 0 {
		i := 0
		for keys[i] != ' ' {
			i++
		}
		if keys[:i] == key {
			return true
		}
		keys = keys[i+1:]
	}
	return false
}

// A lease, while none runs out: one holder; fences rise.
type leaseIn struct {
	kind  string // acquire, renew, release
	owner string
	fence int64 // of renew and release
}

type leaseOut struct {
	ok    bool
	fence int64  // of an acquisition
	owner string // who holds it, where it was refused
}

type leaseState struct {
	owner string
	fence int64 // of the holder, or the last; of an unknown acquisition a lower bound
	vague bool  // the holder does not know its fence
}

func leaseModel() porcupine.NondeterministicModel {
	return porcupine.NondeterministicModel{
		Init: func() []any { return []any{leaseState{}} },
		Step: func(state, input, output any) []any {
			s, in := state.(leaseState), input.(leaseIn)
			out, known := output.(leaseOut)
			free := s.owner == ""
			switch in.kind {
			case "acquire":
				switch {
				case !known && free: // it holds it and does not know, or nothing came of it
					return []any{s, leaseState{in.owner, s.fence + 1, true}}
				case !known:
					return []any{s}
				case out.ok && free && out.fence > s.fence: // a lost answer may have cost a number
					return []any{leaseState{in.owner, out.fence, false}}
				case !out.ok && !free && out.owner == s.owner:
					return []any{s}
				}
				return nil
			case "renew":
				ours := s.owner == in.owner && s.fence == in.fence && !s.vague
				if known && out.ok != ours {
					return nil
				}
				return []any{s}
			}
			ours := s.owner == in.owner && s.fence == in.fence && !s.vague
			if !ours {
				return []any{s}
			}
			if !known {
				return []any{s, leaseState{"", s.fence, false}}
			}
			return []any{leaseState{"", s.fence, false}}
		},
	}
}

// A budget at one moment: places are spaced, and none is given twice. A call
// whose outcome is unknown may have used places up; none may be had for less.
type budgetOut struct{ due time.Time }

func budgetModel(start time.Time, each time.Duration, burst int) porcupine.NondeterministicModel {
	depth := time.Duration(burst) * each
	return porcupine.NondeterministicModel{
		Init: func() []any { return []any{start.UnixMicro()} },
		Step: func(state, _, output any) []any {
			tat := time.UnixMicro(state.(int64)) // theoretical arrival time
			out, known := output.(budgetOut)
			if !known {
				return []any{state}
			}
			next := tat.Add(each)
			due := next.Add(-depth)
			if due.Before(start) {
				due = start
			}
			if out.due.Before(due) {
				return nil
			}
			if later := out.due.Add(depth); later.After(next) && out.due.After(start) {
				next = later // places before it went to calls that never learned of them
			}
			return []any{next.UnixMicro()}
		},
	}
}

// An effect: whoever gets a result gets the same one, and it was sent at most so
// often.
type effectOut struct{ result string }

func effectModel() porcupine.NondeterministicModel {
	return porcupine.NondeterministicModel{
		Init: func() []any { return []any{""} },
		Step: func(state, input, output any) []any {
			s, mine := state.(string), input.(string)
			out, known := output.(effectOut)
			switch {
			case !known && s == "":
				return []any{s, mine}
			case !known, s == out.result && s != "":
				return []any{s}
			case s == "" && out.result == mine:
				return []any{mine}
			}
			return nil
		},
	}
}

package typeset

import "golang.org/x/text/unicode/bidi"

// Base is the direction of a paragraph.
type Base uint8

// The directions. Auto takes that of the first strong character, left to right
// when there is none.
const (
	Auto Base = iota
	LTR
	RTL
)

// baseLevel is the paragraph's embedding level (rules P2 and P3).
func baseLevel(rs []rune, b Base) uint8 {
	switch b {
	case LTR:
		return 0
	case RTL:
		return 1
	}
	for _, r := range rs {
		switch class(r) {
		case bidi.L:
			return 0
		case bidi.R, bidi.AL:
			return 1
		}
	}
	return 0
}

func class(r rune) bidi.Class {
	p, _ := bidi.LookupRune(r)
	return p.Class()
}

// levels gives every rune its resolved level (UAX #9, rules W1 to I2). Explicit
// embeddings, overrides and isolates do not occur: Clean removes them. The
// bidi package of x/text shows only directions, which do not suffice to order a
// line of three levels, and pairs some brackets otherwise than FriBidi does.
func levels(rs []rune, base uint8) []uint8 {
	cl := make([]bidi.Class, len(rs))
	for i, r := range rs {
		cl[i] = class(r)
	}
	embed := bidi.L
	if base%2 == 1 {
		embed = bidi.R
	}
	weak(cl, embed)
	brackets(rs, cl, embed)
	neutral(cl, embed)
	lv := make([]uint8, len(rs))
	for i, c := range cl {
		lv[i] = base
		switch {
		case base%2 == 0 && c == bidi.R:
			lv[i]++
		case base%2 == 0 && (c == bidi.AN || c == bidi.EN):
			lv[i] += 2
		case base%2 == 1 && (c == bidi.L || c == bidi.AN || c == bidi.EN):
			lv[i]++
		}
	}
	return lv
}

// weak applies rules W1 to W7 in place.
func weak(cl []bidi.Class, embed bidi.Class) {
	prev := embed
	for i, c := range cl { // W1; boundary neutrals (joiners) go with what they follow
		if c == bidi.NSM || c == bidi.BN {
			cl[i] = prev
		}
		prev = cl[i]
	}
	strong := embed
	for i, c := range cl { // W2, W3
		switch c {
		case bidi.L, bidi.R, bidi.AL:
			strong = c
		case bidi.EN:
			if strong == bidi.AL {
				cl[i] = bidi.AN
			}
		}
	}
	for i := range cl {
		if cl[i] == bidi.AL {
			cl[i] = bidi.R
		}
	}
	for i := 1; i+1 < len(cl); i++ { // W4
		a, b := cl[i-1], cl[i+1]
		if a == b && (cl[i] == bidi.CS && (a == bidi.EN || a == bidi.AN) || cl[i] == bidi.ES && a == bidi.EN) {
			cl[i] = a
		}
	}
	for i := 0; i < len(cl); { // W5, W6
		if cl[i] != bidi.ET {
			if cl[i] == bidi.ES || cl[i] == bidi.CS {
				cl[i] = bidi.ON
			}
			i++
			continue
		}
		j := i
		for j < len(cl) && cl[j] == bidi.ET {
			j++
		}
		to := bidi.ON
		if i > 0 && cl[i-1] == bidi.EN || j < len(cl) && cl[j] == bidi.EN {
			to = bidi.EN
		}
		for ; i < j; i++ {
			cl[i] = to
		}
	}
	strong = embed
	for i, c := range cl { // W7
		switch c {
		case bidi.L, bidi.R:
			strong = c
		case bidi.EN:
			if strong == bidi.L {
				cl[i] = bidi.L
			}
		}
	}
}

// direction is how a class counts for the neutral rules: numbers are R.
func direction(c bidi.Class) (bidi.Class, bool) {
	switch c {
	case bidi.L:
		return bidi.L, true
	case bidi.R, bidi.EN, bidi.AN:
		return bidi.R, true
	}
	return bidi.ON, false
}

// brackets applies rule N0 in place.
func brackets(rs []rune, cl []bidi.Class, embed bidi.Class) {
	for _, p := range bracketPairs(rs, cl) {
		found, opposite := false, false
		for i := p.open + 1; i < p.close; i++ {
			if d, ok := direction(cl[i]); ok {
				found = found || d == embed
				opposite = opposite || d != embed
			}
		}
		to := embed
		switch {
		case found:
		case opposite:
			before := embed
			for i := p.open - 1; i >= 0; i-- {
				if d, ok := direction(cl[i]); ok {
					before = d
					break
				}
			}
			to = before
		default:
			continue
		}
		for _, i := range [2]int{p.open, p.close} {
			cl[i] = to
			for j := i + 1; j < len(rs) && class(rs[j]) == bidi.NSM; j++ {
				cl[j] = to
			}
		}
	}
}

type pair struct{ open, close int }

// bracketPairs finds the pairs of rule BD16, in the order of their openings.
func bracketPairs(rs []rune, cl []bidi.Class) []pair {
	const depth = 63 // BD16's stack limit
	type entry struct {
		closer rune
		at     int
	}
	var stack []entry
	var out []pair
	for i, r := range rs {
		p, _ := bidi.LookupRune(r)
		if !p.IsBracket() || cl[i] != bidi.ON {
			continue
		}
		if p.IsOpeningBracket() {
			if len(stack) == depth {
				return nil
			}
			stack = append(stack, entry{canonical(closer(r)), i})
			continue
		}
		for j := len(stack) - 1; j >= 0; j-- {
			if stack[j].closer == canonical(r) {
				out = append(out, pair{stack[j].at, i})
				stack = stack[:j]
				break
			}
		}
	}
	for i := 1; i < len(out); i++ { // few pairs: insertion sort
		for j := i; j > 0 && out[j].open < out[j-1].open; j-- {
			out[j], out[j-1] = out[j-1], out[j]
		}
	}
	return out
}

// closer is the closing bracket of an opening one (BidiBrackets.txt): the next
// code point but for these.
func closer(r rune) rune {
	switch r {
	case '[', '{', 0xFF3B, 0xFF5B:
		return r + 2
	case 0x298D:
		return 0x2990
	case 0x298F:
		return 0x298E
	case 0xFF5F:
		return 0xFF60
	}
	return r + 1
}

// canonical folds the two brackets that Unicode holds to be equal to others.
func canonical(r rune) rune {
	switch r {
	case 0x2329:
		return 0x3008
	case 0x232A:
		return 0x3009
	}
	return r
}

// neutral applies rules N1 and N2 in place.
func neutral(cl []bidi.Class, embed bidi.Class) {
	for i := 0; i < len(cl); {
		if _, ok := direction(cl[i]); ok {
			i++
			continue
		}
		j := i
		for j < len(cl) {
			if _, ok := direction(cl[j]); ok {
				break
			}
			j++
		}
		before, after := embed, embed
		if i > 0 {
			before, _ = direction(cl[i-1])
		}
		if j < len(cl) {
			after, _ = direction(cl[j])
		}
		to := embed
		if before == after {
			to = before
		}
		for ; i < j; i++ {
			cl[i] = to
		}
	}
}

// visual gives the order in which pieces of one line with these levels stand
// from left to right (rule L2).
func visual(lv []uint8) []int {
	order := make([]int, len(lv))
	var highest, lowestOdd uint8 = 0, 255
	for i, l := range lv {
		order[i] = i
		highest = max(highest, l)
		if l%2 == 1 {
			lowestOdd = min(lowestOdd, l)
		}
	}
	for l := highest; l >= lowestOdd && l > 0; l-- {
		for i := 0; i < len(lv); {
			if lv[order[i]] < l {
				i++
				continue
			}
			j := i
			for j < len(lv) && lv[order[j]] >= l {
				j++
			}
			for a, b := i, j-1; a < b; a, b = a+1, b-1 {
				order[a], order[b] = order[b], order[a]
			}
			i = j
		}
	}
	return order
}

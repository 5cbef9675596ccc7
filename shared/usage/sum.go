package usage

import "math/big"

// sum adds calls up: tokens by class, and the costs that are known.
type sum struct {
	calls, unpriced int
	cost            big.Rat
	tokens          Tokens
}

// add counts a call; cost is nil where it is not known. A class of tokens that is
// not known of one call is not known of the sum.
func (s *sum) add(t Tokens, cost *big.Rat) {
	if s.calls == 0 {
		s.tokens = None()
	}
	s.calls++
	for _, p := range []struct {
		to   **int64
		from *int64
	}{
		{&s.tokens.Input, t.Input}, {&s.tokens.Output, t.Output},
		{&s.tokens.CacheRead, t.CacheRead}, {&s.tokens.CacheWrite, t.CacheWrite},
	} {
		if *p.to == nil || p.from == nil {
			*p.to = nil
			continue
		}
		*p.to = Count(**p.to + *p.from)
	}
	if cost == nil {
		s.unpriced++
		return
	}
	s.cost.Add(&s.cost, cost)
}

func (s *sum) total() string { return Dollars(&s.cost) }

package faults

import (
	"hash/fnv"
	"io"
	"time"
)

// Dice answers every question of a schedule from its seed and the question
// alone, so that no answer depends on which goroutine asks first, or on what
// else was asked.
type Dice uint64

func (d Dice) roll(question string) uint64 {
	h := fnv.New64a()
	_, _ = io.WriteString(h, question) // a hash cannot fail
	x := h.Sum64() ^ uint64(d)*0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9 // splitmix64's finaliser
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// Float gives a number in [0,1).
func (d Dice) Float(question string) float64 { return float64(d.roll(question)>>11) / (1 << 53) }

// Chance is true with probability p.
func (d Dice) Chance(p float64, question string) bool { return d.Float(question) < p }

// IntN gives a number in [0,n).
func (d Dice) IntN(n int, question string) int { return int(d.roll(question) % uint64(n)) }

// Between gives a time in [lo,hi), in whole milliseconds.
func (d Dice) Between(lo, hi time.Duration, question string) time.Duration {
	return lo + time.Duration(d.Float(question)*float64(hi-lo)).Truncate(time.Millisecond)
}

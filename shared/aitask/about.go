package aitask

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"fastbowlinglab/shared/motion"
)

// About names what the words of findings and coaching are about: the hash of all
// that they are told of a result. Two results that differ in nothing a reader
// could be told have one name, whichever attempt made them.
func About(r motion.Result) string {
	b, err := json.Marshal(clipsOf(r))
	if err != nil {
		return "" // not to be told: ReadResult lets no such result through
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:8])
}

// Suits reports whether words about one thing may stand beside numbers about
// another. Answers of a release before say nothing of it, and are believed.
func Suits(words, numbers string) bool { return words == "" || words == numbers }

// again is the revision under which an answer is asked for anew, since the one
// recorded is about other numbers: a restart met another engine or another model.
func again(revision, about string) string {
	if revision == "" {
		return "about-" + about
	}
	return revision + "-" + about
}

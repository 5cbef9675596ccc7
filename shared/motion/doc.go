// Package motion turns tracked landmarks into phases and measured values of a
// fast bowler's action, each with a band and a confidence, and says "not
// measured" where the footage cannot support a value. It makes no statement on
// the legality of an action.
package motion

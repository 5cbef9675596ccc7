package aitask

// Why says why an answer was of no use. It is an error, recorded with the call.
type Why string

// The reasons. Each is an answer that was paid for.
const (
	Empty     Why = "empty"      // no content
	Cut       Why = "cut"        // it ended at the token limit, or in the middle
	Shape     Why = "shape"      // not by the schema
	Declined  Why = "declined"   // words only: the model would not do the task
	Guarded   Why = "guarded"    // held back by a guardrail or a content filter
	Leaked    Why = "leaked"     // it repeats our instructions
	Unfounded Why = "unfounded"  // it rests on a measure that nobody made
	OffLimits Why = "off_limits" // it judges the legality of the action
)

func (w Why) Error() string {
	switch w {
	case Empty:
		return "an empty answer"
	case Cut:
		return "a cut answer"
	case Declined:
		return "no structured answer"
	case Guarded:
		return "held back by a guardrail"
	case Leaked:
		return "it repeats the instructions"
	case Unfounded:
		return "it rests on a measure that was not made"
	case OffLimits:
		return "it speaks of the legality of the action"
	}
	return "an answer of another shape"
}

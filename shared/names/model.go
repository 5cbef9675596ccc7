package names

// The budget of calls of one model, shared by all functions and by all runs. It
// is far below what an account's quota of a model usually is, and far above what
// analyses need: three calls each.
const (
	ModelCallsPerSecond = 2.0
	ModelCallsAtOnce    = 4
)

package statemachine

// What Step Functions bills a delivered analysis for, warm and without retries: a
// transition for each state entered, one for the start and one for the end.
// integration/stepfn's TestAnalysisTransitions counts them in a real run.
const (
	DeliveredStates      = 14
	DeliveredTransitions = DeliveredStates + 2
)

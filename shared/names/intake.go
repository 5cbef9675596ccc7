package names

import "time"

// EnvIntake says whether the API takes new analyses. Closed, it answers 503
// before anyone is charged; whatever was begun goes on.
const EnvIntake = "INTAKE"

// Values of EnvIntake.
const (
	IntakeOpen   = "open"
	IntakeClosed = "closed"
)

// An athlete has at most MaxGivenBack credits given back in GivenBackWindow for
// analyses that they cancelled, never uploaded, or sent without a bowler in them:
// each is free of charge, mails any address, and may look at the footage first.
const (
	MaxGivenBack    = 50
	GivenBackWindow = 24 * time.Hour
)

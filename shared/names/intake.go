package names

// EnvIntake says whether the API takes new analyses. Closed, it answers 503
// before anyone is charged; whatever was begun goes on.
const EnvIntake = "INTAKE"

// Values of EnvIntake.
const (
	IntakeOpen   = "open"
	IntakeClosed = "closed"
)

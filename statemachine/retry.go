package statemachine

import (
	"math"
	"slices"
	"time"
)

// Every task has two retriers. Step Functions takes the first that matches an error,
// and counts the attempts of each by itself.
//
// The first is for calls that Lambda refused: the account or the function is busy,
// or the function is being made ready. Nothing was run, so such a call may be made
// again for as long as its analysis can wait; README.md has the figures. The second is
// for calls that may have been carried out, or were to no avail.

// Attempts is how often a stage is retried at most after a call that Lambda took
// (mission A5).
const Attempts = 4

// refusals lists the errors that say that a function was not run. Sources: the errors
// of Invoke in the Lambda API; "Troubleshoot invocation issues", "Lambda function
// states" and "Function lifecycle" of container images in the Lambda guide. ServiceException
// and the like are not among them: they do not say how far a call came.
var refusals = []string{
	"Lambda.TooManyRequestsException",         // a limit of the account, the function or the caller
	"Lambda.EC2ThrottledException",            // the network of a function in a VPC
	"Lambda.ENINotReadyException",             // likewise
	"Lambda.ResourceNotReadyException",        // likewise, taken away after weeks without a call
	"Lambda.ResourceConflictException",        // the function's state is Pending
	"Lambda.CodeArtifactUserPendingException", // its image is made ready again, after weeks without a call
}

// ofRefused is the retrier of refused calls: waits of 4, 12, 36, 108 and 324 s, then
// five of 10 minutes, of which full jitter takes a part.
func ofRefused() retrier {
	n := RefusedAttempts
	return retrier{ErrorEquals: refusals, IntervalSeconds: 4, BackoffRate: 3, MaxAttempts: &n, MaxDelaySeconds: 600, JitterStrategy: "FULL"}
}

// inRounds gives the attempts of states that the next round of their definition tries
// again, whatever becomes of them: these bridge what passes in seconds, and more
// would only lengthen the history, a hundred times over.
var inRounds = map[string]struct{ refused, others int }{"Batch": {refused: 3, others: 1}}

// RefusedAttempts is how often a stage is retried at most after a call that was refused.
const RefusedAttempts = 10

// RefusedWait is how long a stage holds out whose calls are all refused: in the mean,
// and at most.
func RefusedWait() (mean, most time.Duration) {
	most = ofRefused().most()
	return most / 2, most // full jitter takes half of a delay in the mean
}

// most is the sum of a retrier's delays.
func (r retrier) most() (sum time.Duration) {
	for n := range *r.MaxAttempts {
		s := float64(r.IntervalSeconds) * math.Pow(r.BackoffRate, float64(n))
		sum += time.Duration(min(s, float64(r.MaxDelaySeconds)) * float64(time.Second))
	}
	return sum
}

// ofRefusals reports whether the retrier is for refused calls alone.
func (r retrier) ofRefusals() bool {
	return !slices.ContainsFunc(r.ErrorEquals, func(e string) bool { return !slices.Contains(refusals, e) })
}

// lasts is what the whole time-out must be longer than: what the machine waits for,
// and each of its tasks refused to the last attempt once.
func (d definition) lasts(machine string) time.Duration {
	_, most := RefusedWait()
	sum := outlasts[machine]
	for _, s := range d.all() {
		if s.Type == "Task" {
			sum += most
		}
	}
	return sum
}

func checkRetry(name string, s state, report func(string, ...any)) {
	if len(s.Retry) != 2 {
		report("has %d retriers; one layer retries, with one policy for calls that were refused and one for others", len(s.Retry))
		return
	}
	refused, others := ofRefused(), Attempts
	if n, ok := inRounds[name]; ok {
		refused.MaxAttempts, others = &n.refused, n.others
	}
	if !s.Retry[0].same(refused) {
		report("the first retrier must be that of refused calls, as retry.go declares it, with %d attempts", *refused.MaxAttempts)
	}
	r := s.Retry[1]
	if r.MaxAttempts == nil || *r.MaxAttempts != others {
		report("Retry must set MaxAttempts %d", others)
	}
	if r.IntervalSeconds < 1 || r.BackoffRate < 1 || r.MaxDelaySeconds < 1 || r.JitterStrategy != "FULL" {
		report("Retry must be backed off, bounded and jittered")
	}
	// A token's time-out is hours or days, and says that nobody came.
	if late := slices.Contains(r.ErrorEquals, "States.Timeout"); late == s.waits() {
		report("Retry covers States.Timeout: %t; the state waits for a token: %t", late, s.waits())
	}
	for _, e := range r.ErrorEquals {
		if slices.Contains(refusals, e) {
			report("%s has a retrier of its own", e)
		}
	}
	for _, final := range []string{"Permanent", "Conceded", "Released", "States.ALL", "States.TaskFailed"} {
		if slices.Contains(r.ErrorEquals, final) {
			report("Retry covers %s, which trying again cannot help", final)
		}
	}
}

func (r retrier) same(other retrier) bool {
	a, b := r.MaxAttempts, other.MaxAttempts
	return a != nil && b != nil && *a == *b && slices.Equal(r.ErrorEquals, other.ErrorEquals) &&
		r.IntervalSeconds == other.IntervalSeconds && r.BackoffRate == other.BackoffRate &&
		r.MaxDelaySeconds == other.MaxDelaySeconds && r.JitterStrategy == other.JitterStrategy
}

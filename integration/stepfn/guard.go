package stepfn

import (
	"errors"
	"time"

	"fastbowlinglab/integration/stepfn/asl"
)

// guarded runs the work of a Task, Map or Parallel state under its Retry and
// Catch. work gives the result and when it came to it. After a restart work
// replays what was recorded, so that the retriers' counts come out as they were.
func (v *visit) guarded(work func() (any, time.Time, error)) (any, string, error) {
	used := make([]int, len(v.s.Retry))
	for ; ; v.attempt++ {
		result, at, err := work()
		if err == nil {
			var out any
			if out, err = v.result(result); err == nil {
				return out, v.s.Next, nil
			}
		}
		var fail *asl.Error
		if !errors.As(err, &fail) {
			return nil, "", err
		}
		i := v.s.Retrier(fail.Name)
		if i < 0 || used[i] >= v.s.Retry[i].MaxAttempts {
			return v.caught(fail)
		}
		jitter := v.r.e.source.fraction(v.key(v.attempt)...)
		delay := v.s.Retry[i].Delay(used[i], jitter)
		used[i]++
		if err := sleep(v.ctx, at.Add(delay)); err != nil {
			return nil, "", err
		}
	}
}

// caught hands an error to the state's Catch; without one it stays an error.
func (v *visit) caught(fail *asl.Error) (any, string, error) {
	c := v.s.Catcher(fail.Name)
	if c == nil {
		return nil, "", fail
	}
	out, err := c.ResultPath.Put(v.input, fail.Output())
	return out, c.Next, err
}

// result takes a result through ResultSelector, ResultPath and OutputPath.
func (v *visit) result(result any) (any, error) {
	if v.s.ResultSelector != nil {
		var err error
		if result, err = v.s.ResultSelector.Eval(result, v.context("")); err != nil {
			return nil, err
		}
	}
	out, err := v.s.ResultPath.Put(v.input, result)
	if err != nil {
		return nil, err
	}
	if out, err = v.s.OutputPath.Get("OutputPath", out, v.context("")); err != nil {
		return nil, err
	}
	if len(asl.Encode(out)) > MaxBytes {
		return nil, tooLarge(v.s.Name)
	}
	return out, nil
}

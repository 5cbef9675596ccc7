package media

import "context"

type pulseKey struct{}

// WithPulse makes whatever decodes under the context call fn after each picture
// that its reader has taken: a sign of progress where results are far apart, as
// when the whole clip is looked through first. fn must be quick and safe for
// concurrent use.
func WithPulse(ctx context.Context, fn func()) context.Context {
	return context.WithValue(ctx, pulseKey{}, fn)
}

// PulseOf gives the context's pulse, nil when it has none: for decoders that are
// not this package's.
func PulseOf(ctx context.Context) func() {
	fn, _ := ctx.Value(pulseKey{}).(func())
	return fn
}

// pulsing calls the context's pulse after each success of fn.
func pulsing(ctx context.Context, fn func(float64, []byte) error) func(float64, []byte) error {
	pulse := PulseOf(ctx)
	if pulse == nil {
		return fn
	}
	return func(at float64, pix []byte) error {
		if err := fn(at, pix); err != nil {
			return err
		}
		pulse()
		return nil
	}
}

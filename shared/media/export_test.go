package media

// WithLimits gives a clip other limits than it was opened under.
func WithLimits(i Info, lim Limits) Info {
	i.limits = lim
	return i
}

package media

import "os"

// WithLimits gives a clip other limits than it was opened under.
func WithLimits(i Info, lim Limits) Info {
	i.limits = lim
	return i
}

// CutKept cuts off the file of a clip's pictures at a share of its length.
func CutKept(i Info, share float64) error {
	return i.kept.file.Truncate(int64(share * float64(i.kept.stored)))
}

// KeepOnFullDisk makes pictures be kept where nothing can be written, until restored.
func KeepOnFullDisk() (restore func()) {
	old := nameless
	nameless = func() (*os.File, error) { return os.OpenFile("/dev/full", os.O_RDWR, 0) }
	return func() { nameless = old }
}

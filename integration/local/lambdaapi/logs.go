package lambdaapi

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
)

// maxLog is the size in bytes of a log file; the one before it is kept as .1.
const maxLog = 16 << 20

// logs holds one log file a function.
type logs struct {
	dir   string
	mu    sync.Mutex
	files map[string]*logFile
}

func newLogs(dir string) *logs { return &logs{dir: dir, files: map[string]*logFile{}} }

// file finds or makes the log of a function.
func (l *logs) file(function string) *logFile {
	l.mu.Lock()
	defer l.mu.Unlock()
	f := l.files[function]
	if f == nil {
		f = &logFile{}
		if l.dir != "" {
			f.path = filepath.Join(l.dir, function+".log")
		}
		l.files[function] = f
	}
	return f
}

func (l *logs) close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	var errs []error
	for _, f := range l.files {
		errs = append(errs, f.close())
	}
	return errors.Join(errs...)
}

// logFile appends to a file that starts over when it is full. A log that cannot
// be written stops nothing: the first error is kept for close.
type logFile struct {
	path string // "" for none

	mu   sync.Mutex
	f    *os.File
	size int64
	err  error
}

func (l *logFile) Write(b []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.path == "" || l.err != nil {
		return
	}
	if l.f == nil || l.size > maxLog {
		if l.err = l.open(); l.err != nil {
			return
		}
	}
	n, err := l.f.Write(b)
	l.size += int64(n)
	l.err = err
}

func (l *logFile) open() error {
	if l.f != nil {
		if err := errors.Join(l.f.Close(), os.Rename(l.path, l.path+".1")); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(filepath.Dir(l.path), 0o755); err != nil {
		return err
	}
	f, err := os.OpenFile(l.path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	l.f, l.size = f, 0
	if st, err := f.Stat(); err == nil {
		l.size = st.Size()
	}
	return nil
}

func (l *logFile) close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.f == nil {
		return l.err
	}
	err := errors.Join(l.err, l.f.Close())
	l.f = nil
	return err
}

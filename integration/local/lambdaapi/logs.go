package lambdaapi

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// Limits on what is kept of the functions' output, in bytes.
const (
	maxLog  = 16 << 20 // of a log file; the one before it is kept as .1
	maxTail = 4 << 10  // of X-Amz-Log-Result
)

// logs holds one log file a function.
type logs struct {
	dir   string
	mu    sync.Mutex
	files map[string]*logFile
}

func newLogs(dir string) *logs { return &logs{dir: dir, files: map[string]*logFile{}} }

// output makes the writer of one process.
func (l *logs) output(function string) *output {
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
	return &output{file: f}
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

// output is the standard output and error of one process.
type output struct {
	file *logFile
	mu   sync.Mutex
	last []byte
}

// Write implements io.Writer. It never fails, so that a full disk does not stop
// the process that prints.
func (o *output) Write(b []byte) (int, error) {
	o.file.Write(b)
	o.mu.Lock()
	defer o.mu.Unlock()
	o.last = append(o.last, b...)
	if over := len(o.last) - maxTail; over > 0 {
		o.last = append(o.last[:0], o.last[over:]...)
	}
	return len(b), nil
}

func (o *output) printf(format string, a ...any) { _, _ = o.Write(fmt.Appendf(nil, format, a...)) }

// begin and end frame an invocation as Lambda's own log does.
func (o *output) begin(request, version string) {
	o.mu.Lock()
	o.last = o.last[:0]
	o.mu.Unlock()
	o.printf("START RequestId: %s Version: %s\n", request, version)
}

func (o *output) end(i Invocation, memory int) {
	o.printf("END RequestId: %s\nREPORT RequestId: %s\tDuration: %s\tMemory Size: %d MB\tMax Memory Used: %d MB",
		i.RequestID, i.RequestID, millis(i.Duration()), memory, i.PeakMemoryMB)
	if i.Cold {
		o.printf("\tInit Duration: %s", millis(i.Init))
	}
	if i.Error != "" {
		o.printf("\tStatus: error\tError Type: %s", i.Error)
	}
	o.printf("\n")
}

func (o *output) tail() []byte {
	o.mu.Lock()
	defer o.mu.Unlock()
	return append([]byte(nil), o.last...)
}

func millis(d time.Duration) string { return fmt.Sprintf("%.2f ms", float64(d.Microseconds())/1000) }

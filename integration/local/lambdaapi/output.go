package lambdaapi

import (
	"bytes"
	"fmt"
	"os"
	"sync"
	"time"
)

// maxTail is how much of a process's output X-Amz-Log-Result holds, in bytes.
const maxTail = 4 << 10

// Bounds on the wait for output that is on its way. Something that left our
// process group may keep the pipe of a dead process open for ever.
const (
	drainTime = time.Second
	tailTime  = 5 * time.Second
)

// output is the standard output and error of one process. The service's own
// lines go through the same pipe, so that they stand where they belong.
type output struct {
	file    *logFile
	r       *os.File
	drained chan struct{} // closed when all has been read

	mu   sync.Mutex
	more *sync.Cond
	w    *os.File // nil once the process is gone
	last []byte
}

func newOutput(f *logFile) (*output, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	o := &output{file: f, r: r, w: w, drained: make(chan struct{})}
	o.more = sync.NewCond(&o.mu)
	go o.read()
	return o, nil
}

func (o *output) read() {
	defer close(o.drained)
	b := make([]byte, 32<<10)
	for {
		n, err := o.r.Read(b)
		o.take(b[:n])
		if err != nil {
			return
		}
	}
}

// take keeps what the process printed.
func (o *output) take(b []byte) {
	o.file.Write(b)
	o.mu.Lock()
	defer o.mu.Unlock()
	o.last = append(o.last, b...)
	if over := len(o.last) - maxTail; over > 0 {
		o.last = append(o.last[:0], o.last[over:]...)
	}
	o.more.Broadcast()
}

// shut ends the service's part in the pipe and waits for the rest of what the
// process printed.
func (o *output) shut() {
	o.mu.Lock()
	w := o.w
	o.w = nil
	o.mu.Unlock()
	if w == nil {
		return
	}
	_ = w.Close()
	t := time.AfterFunc(drainTime, func() { _ = o.r.SetReadDeadline(time.Now()) })
	<-o.drained
	t.Stop()
	_ = o.r.Close()
}

func (o *output) printf(format string, a ...any) {
	line := fmt.Appendf(nil, format, a...)
	o.mu.Lock()
	w := o.w
	o.mu.Unlock()
	if w != nil {
		if _, err := w.Write(line); err == nil {
			return
		}
	}
	o.take(line) // the process is gone, and all that it printed has been read
}

// begin and end frame an invocation as Lambda's own log does.
func (o *output) begin(request, version string) {
	o.printf("START RequestId: %s Version: %s\n", request, version)
}

func (o *output) end(i Invocation, memory int) {
	var more string
	if i.Cold {
		more += "\tInit Duration: " + millis(i.Init)
	}
	if i.Error != "" {
		more += "\tStatus: error\tError Type: " + i.Error
	}
	o.printf("END RequestId: %s\nREPORT RequestId: %s\tDuration: %s\tMemory Size: %d MB\tMax Memory Used: %d MB%s\n",
		i.RequestID, i.RequestID, millis(i.Duration()), memory, i.PeakMemoryMB, more)
}

// tail is the end of what was printed in an invocation that has ended.
func (o *output) tail(request string) []byte {
	late := false
	t := time.AfterFunc(tailTime, func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		late = true
		o.more.Broadcast()
	})
	defer t.Stop()
	o.mu.Lock()
	defer o.mu.Unlock()
	report := []byte("REPORT RequestId: " + request)
	for !late && !bytes.Contains(o.last, report) {
		o.more.Wait()
	}
	from := max(bytes.Index(o.last, []byte("START RequestId: "+request)), 0)
	return bytes.Clone(o.last[from:])
}

func millis(d time.Duration) string { return fmt.Sprintf("%.2f ms", float64(d.Microseconds())/1000) }

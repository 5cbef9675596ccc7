package media

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"

	"fastbowlinglab/shared/fault"
	"fastbowlinglab/shared/reason"
)

// stallTimeout ends ffmpeg when it gives nothing for so long. A variable for
// tests alone.
var stallTimeout = 60 * time.Second

const (
	probeTimeout = 90 * time.Second // one run of ffprobe
	maxProbeJSON = 1 << 20
	maxStderr    = 8 << 10 // kept of what a program says; the rest is drained
)

// inputArgs are the options that pin down what an input may be and do.
func (s *source) inputArgs(demuxer string) []string {
	args := []string{
		"-protocol_whitelist", s.proto,
		"-format_whitelist", demuxer + "," + whitelistNames[demuxer],
		"-probesize", "20M", "-analyzeduration", "10M",
	}
	if demuxer == "mov" {
		args = append(args, "-enable_drefs", "0", "-use_absolute_path", "0")
	}
	if strings.HasPrefix(s.input, "http:") {
		args = append(args, "-seekable", "1", "-rw_timeout", "70000000") // longer than the relay's own tries
	}
	return append(args, "-f", demuxer)
}

// whitelistNames are the full names under which demuxers are whitelisted.
var whitelistNames = map[string]string{
	"mov": "mov,mp4,m4a,3gp,3g2,mj2", "matroska": "matroska,webm", "mpegts": "mpegts", "avi": "avi",
}

// process is a running ffmpeg or ffprobe, in a process group of its own.
type process struct {
	cmd    *exec.Cmd
	name   string
	stdout *os.File
	sides  []*os.File // what it writes to descriptors 3 and on
	stderr said
	failed bool // it ended otherwise than well, and not because we ended it
}

// channels are what a program reads from and writes to beside standard output.
type channels struct {
	input *os.File // nil: closed
	sides int      // side channels, descriptors 3 and on
	file  *os.File // the descriptor after those; nil for none
}

// start runs a program. What it says on standard error is kept, up to a bound.
func start(ctx context.Context, ch channels, name string, args ...string) (*process, error) {
	p := &process{name: name, cmd: exec.CommandContext(ctx, name, args...)}
	p.confine()
	if ch.input != nil {
		p.cmd.Stdin = ch.input
	}
	var theirs []*os.File
	pipe := func() (*os.File, *os.File, error) {
		r, w, err := os.Pipe()
		if err == nil {
			widen(w)
			theirs = append(theirs, w)
		}
		return r, w, err
	}
	defer func() {
		for _, w := range theirs {
			w.Close()
		}
	}()
	var w *os.File
	var err error
	if p.stdout, w, err = pipe(); err != nil {
		return nil, fault.Wrap(fault.Transient, err, "run %s", name)
	}
	p.cmd.Stdout = w
	for range ch.sides {
		r, w, err := pipe()
		if err != nil {
			p.closePipes()
			return nil, fault.Wrap(fault.Transient, err, "run %s", name)
		}
		p.sides = append(p.sides, r)
		p.cmd.ExtraFiles = append(p.cmd.ExtraFiles, w)
	}
	if ch.file != nil {
		p.cmd.ExtraFiles = append(p.cmd.ExtraFiles, ch.file)
	}
	if err := p.cmd.Start(); err != nil {
		p.closePipes()
		return nil, fault.Wrap(fault.Permanent, err, "run %s (is it installed?)", name)
	}
	return p, nil
}

// confine gives a program an environment of what it needs to run, a process group
// that ends with its context, and an ear for its errors.
func (p *process) confine() {
	p.cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C", "AV_LOG_FORCE_NOCOLOR=1"}
	if lib, ok := os.LookupEnv("LD_LIBRARY_PATH"); ok {
		p.cmd.Env = append(p.cmd.Env, "LD_LIBRARY_PATH="+lib)
	}
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	p.cmd.Cancel = func() error { return syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL) }
	p.cmd.WaitDelay = 5 * time.Second
	p.cmd.Stderr = &p.stderr
}

// widen lets a pipe hold more than a few rows of a picture, so that writer and reader
// wake each other less often; a hint, no more.
func widen(pipe *os.File) {
	const setPipeSize, bytes = 1031, 1 << 20 // F_SETPIPE_SZ; what an unprivileged process may ask for
	if c, err := pipe.SyscallConn(); err == nil {
		_ = c.Control(func(fd uintptr) { _, _, _ = syscall.Syscall(syscall.SYS_FCNTL, fd, setPipeSize, bytes) })
	}
}

func (p *process) closePipes() {
	p.stdout.Close()
	for _, f := range p.sides {
		f.Close()
	}
}

// stop kills the whole group, if it still runs, and reaps it.
func (p *process) stop() {
	_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL) // gone already is fine
	p.closePipes()
	_ = p.cmd.Wait() // killed by us: its status says nothing
}

// wait reaps a program that has closed its output by itself. A program that the
// system killed has, as a rule, asked for more memory than there is.
func (p *process) wait(ctx context.Context) error {
	err := p.cmd.Wait()
	p.closePipes()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	p.failed = err != nil
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		if ws, ok := exit.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
			if ws.Signal() == syscall.SIGKILL {
				return refuse(reason.MediaTooLarge, "%s was killed by the system", p.name)
			}
			return refuse(reason.MediaUnreadable, "%s ended by %s", p.name, ws.Signal())
		}
		return errExit
	}
	return err
}

// errExit is a non-zero exit status. It alone decides nothing.
var errExit = errors.New("non-zero exit status")

// output runs a program to its end and gives its output, at most max bytes.
func output(ctx context.Context, max int64, name string, args ...string) ([]byte, string, error) {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	p, err := start(ctx, channels{}, name, args...)
	if err != nil {
		return nil, "", err
	}
	out, err := io.ReadAll(io.LimitReader(p.stdout, max+1))
	if err != nil || int64(len(out)) > max {
		p.stop()
		if ctx.Err() != nil {
			return nil, "", fmt.Errorf("%s: %w", name, ctx.Err())
		}
		return nil, "", refuse(reason.MediaUnreadable, "%s: answer over %d bytes", name, max)
	}
	err = p.wait(ctx)
	return out, p.stderr.String(), err
}

// said keeps the beginning of what a program says and drops the rest, so that it
// never blocks on a full pipe.
type said struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (s *said) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.buf.Write(p[:min(len(p), maxStderr-s.buf.Len())])
	return len(p), nil
}

// String gives the first line of what was said, for a log.
func (s *said) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	line, _, _ := strings.Cut(strings.TrimSpace(s.buf.String()), "\n")
	if i := strings.LastIndex(line, "] "); i >= 0 && strings.HasPrefix(line, "[") {
		line = line[i+2:]
	}
	return line[:min(len(line), 200)]
}

// Package proc runs the child processes of the embedded cloud: each leads its
// own process group, writes to a log file, and dies with this process however
// this process dies (kill -9 included).
package proc

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"syscall"
	"time"
)

// EnvImageStore names the folder of images to a program that stands in for a
// container engine (integration/cmd/inimage).
const EnvImageStore = "IMAGE_STORE"

// Spec says what to run.
type Spec struct {
	Path string
	Args []string
	Env  []string // the whole environment, "KEY=value"
	Dir  string
	Log  string    // file that takes stdout and stderr, appended to; "" for none
	Out  io.Writer // takes stdout and stderr instead of Log when set
}

// Process is a running child.
type Process struct {
	Pid  int
	done chan struct{}
	exit Exit
}

// Exit says how a process ended.
type Exit struct {
	Code   int    // exit status; 128 + signal when a signal ended it
	Detail string // "exit status 1", "signal: killed"
}

// spawner starts processes from one thread that lives as long as this process:
// Linux sends Pdeathsig when the *thread* that forked ends.
var spawner = sync.OnceValue(func() chan<- func() {
	ch := make(chan func())
	go func() {
		runtime.LockOSThread()
		for f := range ch {
			f()
		}
	}()
	return ch
})

// Start runs spec.
func Start(spec Spec) (*Process, error) {
	cmd := exec.Command(spec.Path, spec.Args...)
	cmd.Env, cmd.Dir = spec.Env, spec.Dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	cmd.WaitDelay = time.Second // a grandchild may hold the pipe
	var log *os.File
	if spec.Out != nil {
		cmd.Stdout, cmd.Stderr = spec.Out, spec.Out
	} else if spec.Log != "" {
		f, err := os.OpenFile(spec.Log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
		if err != nil {
			return nil, fmt.Errorf("start %s: open its log: %w", spec.Path, err)
		}
		log = f
		cmd.Stdout, cmd.Stderr = f, f
	}
	result := make(chan error, 1)
	spawner() <- func() { result <- cmd.Start() }
	if err := <-result; err != nil {
		if log != nil {
			_ = log.Close() // nothing was written
		}
		return nil, fmt.Errorf("start %s: %w", spec.Path, err)
	}
	p := &Process{Pid: cmd.Process.Pid, done: make(chan struct{})}
	go p.wait(cmd, log)
	return p, nil
}

// wait notes the exit, and ends what the process left behind in its group: a
// container's processes end with its first.
func (p *Process) wait(cmd *exec.Cmd, log *os.File) {
	err := cmd.Wait()
	p.exit = Exit{Detail: "exit status 0"}
	var ee *exec.ExitError
	switch {
	case errors.As(err, &ee):
		p.exit = Exit{Code: ee.ExitCode(), Detail: ee.Error()}
		if ws, ok := ee.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
			p.exit.Code = 128 + int(ws.Signal())
		}
	case err != nil && !errors.Is(err, exec.ErrWaitDelay):
		p.exit = Exit{Code: -1, Detail: err.Error()}
	}
	_ = syscall.Kill(-p.Pid, syscall.SIGKILL) // ESRCH: it left nothing behind
	if log != nil {
		_ = log.Close() // every write came from the child
	}
	close(p.done)
}

// Done is closed when the process has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Exit says how the process ended; call it after Done.
func (p *Process) Exit() Exit { return p.exit }

// Stop asks the process to end (SIGTERM, to it alone, as ECS does), and after
// grace ends its whole group. It returns when the process is gone.
func (p *Process) Stop(grace time.Duration) Exit {
	select {
	case <-p.done: // its pid may be somebody else's by now
		return p.exit
	default:
	}
	_ = syscall.Kill(p.Pid, syscall.SIGTERM) // ESRCH: it has just ended
	t := time.NewTimer(grace)
	defer t.Stop()
	select {
	case <-p.done:
	case <-t.C:
		p.Kill()
	}
	return p.exit
}

// Kill ends the process group at once and waits for it.
func (p *Process) Kill() Exit {
	select {
	case <-p.done:
	default:
		_ = syscall.Kill(-p.Pid, syscall.SIGKILL)
		<-p.done
	}
	return p.exit
}

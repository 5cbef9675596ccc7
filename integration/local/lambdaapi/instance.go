package lambdaapi

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// instance is one process of a function: an execution environment.
type instance struct {
	id      string
	pool    *pool
	cmd     *exec.Cmd
	started time.Time
	output  *output
	work    chan *invocation // handed to the process's poll
	ready   chan struct{}    // closed by its first poll
	dead    chan struct{}    // closed when the process is gone
	exit    string           // how it ended; read after dead

	mu       sync.Mutex
	polled   bool
	initTime time.Duration
	initErr  []byte // what it posted to init/error
	current  *invocation
	reaper   *time.Timer // of the pool, under the pool's lock
	pid      int         // 0 before the start and after the end
	killed   bool
}

// start runs the function's program. The process leads its own group, so that
// what it starts (ffmpeg) ends with it.
func (p *pool) start() (*instance, error) {
	s := p.service
	if err := s.open(); err != nil {
		return nil, err
	}
	out, err := newOutput(s.logs.file(p.function.Name))
	if err != nil {
		return nil, err
	}
	in := &instance{
		id: p.function.Name + "-" + newID(), pool: p, output: out,
		work: make(chan *invocation), ready: make(chan struct{}), dead: make(chan struct{}),
	}
	in.cmd = exec.Command(p.program)
	in.cmd.Dir = filepath.Dir(p.program)
	in.cmd.Env = p.environment(s.addr + "/" + in.id)
	in.cmd.Stdout, in.cmd.Stderr = out.w, out.w
	in.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}

	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		out.shut()
		return nil, serviceError("the service is closed")
	}
	s.instances[in.id] = in // before it runs: its first poll must find it
	s.mu.Unlock()
	in.started = time.Now()
	result := make(chan error, 1)
	select {
	case s.spawn <- func() { result <- in.run() }:
	case <-s.ctx.Done():
		result <- serviceError("the service is closed")
	}
	if err := <-result; err != nil {
		in.gone("never started")
		return nil, err
	}
	go in.wait()
	return in, nil
}

// run starts the process, and ends it at once when it was killed meanwhile.
func (in *instance) run() error {
	in.mu.Lock()
	defer in.mu.Unlock()
	if err := in.cmd.Start(); err != nil {
		return err
	}
	in.pid = in.cmd.Process.Pid
	if in.killed {
		in.killGroup()
	}
	return nil
}

// environment is what Lambda gives to a function's process.
func (p *pool) environment(api string) []string {
	f := p.function
	env := []string{
		"AWS_LAMBDA_RUNTIME_API=" + api,
		"AWS_LAMBDA_FUNCTION_NAME=" + f.Name,
		"AWS_LAMBDA_FUNCTION_VERSION=" + p.version,
		"AWS_LAMBDA_FUNCTION_MEMORY_SIZE=" + strconv.Itoa(f.MemoryMB),
		"AWS_LAMBDA_INITIALIZATION_TYPE=on-demand",
		"AWS_LAMBDA_LOG_GROUP_NAME=/aws/lambda/" + f.Name,
		"AWS_LAMBDA_LOG_STREAM_NAME=" + time.Now().UTC().Format("2006/01/02") + "/[" + p.version + "]",
		"AWS_EXECUTION_ENV=AWS_Lambda_provided.al2023",
		"AWS_REGION=" + Region,
		"AWS_DEFAULT_REGION=" + Region,
		"LAMBDA_TASK_ROOT=" + filepath.Dir(p.program),
		"_HANDLER=bootstrap",
		"TZ=:UTC",
		"LANG=en_US.UTF-8",
		"PATH=" + os.Getenv("PATH"),
		"TMPDIR=" + os.TempDir(),
	}
	if p.service.cfg.Env != nil {
		env = append(env, p.service.cfg.Env(f)...)
	}
	return env
}

// wait notes how the process ended.
func (in *instance) wait() {
	err := in.cmd.Wait()
	how := "exit status 0"
	var ee *exec.ExitError
	switch {
	case errors.As(err, &ee):
		how = ee.Error()
	case err != nil:
		how = err.Error()
	}
	in.mu.Lock()
	in.killGroup() // whatever it left behind in its group
	in.pid = 0     // the number may belong to somebody else from here on
	in.mu.Unlock()
	in.gone(how)
}

func (in *instance) gone(how string) {
	in.exit = how
	in.output.shut()
	s := in.pool.service
	s.mu.Lock()
	delete(s.instances, in.id)
	s.mu.Unlock()
	close(in.dead) // before remove: putIdle looks at it under the pool's lock
	in.pool.remove(in)
}

// kill ends the process and its whole group. It may be called at any time.
func (in *instance) kill() {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.killed = true
	in.killGroup()
}

func (in *instance) killGroup() {
	if in.pid != 0 {
		_ = syscall.Kill(-in.pid, syscall.SIGKILL) // gone already is what we want
	}
}

// alive looks at the process itself: one that was just killed may not have been
// waited for yet, and its poll may still seem open.
func (in *instance) alive() bool {
	in.mu.Lock()
	pid := in.pid
	in.mu.Unlock()
	if pid == 0 {
		return false
	}
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return !errors.Is(err, os.ErrNotExist)
	}
	_, state, _ := strings.Cut(string(b), ") ") // pid (name) state ...
	return !strings.HasPrefix(state, "Z") && !strings.HasPrefix(state, "X")
}

// peakMemory is the most memory the process has held so far, in MiB, or 0 when
// the system does not tell.
func (in *instance) peakMemory() int {
	select {
	case <-in.dead:
		if u, ok := in.cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
			return int(u.Maxrss+1023) / 1024
		}
		return 0
	default:
	}
	in.mu.Lock()
	pid := in.pid
	in.mu.Unlock()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(b)) {
		if v, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kb, err := strconv.Atoi(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(v), "kB")))
			if err == nil {
				return (kb + 1023) / 1024
			}
		}
	}
	return 0
}

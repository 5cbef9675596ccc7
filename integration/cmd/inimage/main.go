// Command inimage stands in for a container engine: it runs a program's entry
// point in the image that ships, as ECS and Lambda do, and takes the program's
// place on the embedded cloud. It makes a container of the image, gives it the
// environment that it has itself (but for what the image says of itself), passes
// SIGTERM on to the entry point alone, and ends with its status. Whoever kills its
// process group kills the container's processes too.
//
// Which image: that of the function that AWS_LAMBDA_FUNCTION_NAME names, else the
// worker's. Where images are: names in IMAGE_STORE, made by `make image`.
package main

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strings"
	"syscall"

	"fastbowlinglab/integration/local/proc"
	"fastbowlinglab/shared/names"
)

func main() {
	code, err := run()
	if err != nil {
		fmt.Fprintln(os.Stderr, "inimage:", err)
		os.Exit(1)
	}
	os.Exit(code)
}

func run() (int, error) {
	target := names.PoseWorker
	if fn := os.Getenv("AWS_LAMBDA_FUNCTION_NAME"); fn != "" {
		target = strings.TrimPrefix(fn, names.Prefix)
	}
	folder := os.Getenv(proc.EnvImageStore)
	if folder == "" {
		return 0, fmt.Errorf("the environment variable %s is missing: the folder that `make image` fills", proc.EnvImageStore)
	}
	s := store{folder}
	entry, err := s.entry(target)
	if err != nil {
		return 0, err
	}
	name, err := s.create(target)
	if err != nil {
		return 0, err
	}
	defer s.remove(name)
	stop := make(chan os.Signal, 8)
	signal.Notify(stop, syscall.SIGTERM, syscall.SIGINT)
	args := []string{"run", "--isolation", "chroot"}
	for _, e := range os.Environ() {
		if key, _, _ := strings.Cut(e, "="); !own[key] {
			args = append(args, "--env", e)
		}
	}
	return wait(s.buildah(append(append(args, name, "--"), entry...)...), entry[0], stop)
}

// own are the variables that the image sets, or that speak of this machine.
var own = map[string]bool{proc.EnvImageStore: true, "PATH": true, "HOME": true, "TMPDIR": true, names.EnvModels: true, names.EnvORT: true}

// wait runs the container to its end and gives the entry point's status.
func wait(cmd *exec.Cmd, entry string, stop <-chan os.Signal) (int, error) {
	runtime.LockOSThread() // the kernel sends Pdeathsig when the thread that forked ends
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		return 0, fmt.Errorf("run the container: %w", err)
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	for {
		select {
		case <-stop:
			// The engine's own processes would kill the entry point at once.
			if pid := find(cmd.Process.Pid, entry); pid != 0 {
				_ = syscall.Kill(pid, syscall.SIGTERM) // ESRCH: it has just ended
			} else {
				_ = cmd.Process.Kill() // nothing of ours runs in it yet
			}
		case <-done:
			return cmd.ProcessState.ExitCode(), nil
		}
	}
}

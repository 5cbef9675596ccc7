package ecs

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"net"
	"path/filepath"
	"time"

	"fastbowlinglab/integration/local/proc"
	"fastbowlinglab/shared/names"
)

// Why a task stopped, in the words of ECS.
const (
	codeUser      = "UserInitiated"
	codeScheduler = "ServiceSchedulerInitiated"
	codeExited    = "EssentialContainerExited"
)

// task is one process. Its fields are guarded by Cluster.mu.
type task struct {
	id        string
	startedBy string
	token     string // of the RunTask that made it
	service   bool   // the service's, not RunTask's
	env       map[string]string
	proc      *proc.Process
	created   time.Time
	stopping  bool
	stopped   time.Time // zero while it runs
	exit      proc.Exit
	code      string // why it stopped or is stopping
	reason    string
	addr      string    // where it answers HTTP, "" for one of RunTask
	protected time.Time // protected against scale-in until then
	expire    *time.Timer
}

func (t *task) running() bool { return t.stopped.IsZero() }

// live is running and not about to stop.
func (t *task) live() bool { return t.running() && !t.stopping }

func (t *task) safe(now time.Time) bool { return t.protected.After(now) }

func newID() string {
	b := make([]byte, 16)
	_, _ = rand.Read(b) // never fails
	return hex.EncodeToString(b)
}

// start runs a task. The caller holds mu.
func (c *Cluster) start(startedBy string, service bool, env map[string]string) (*task, error) {
	n := 0
	for _, t := range c.tasks {
		if t.running() {
			n++
		}
	}
	if n >= maxTasks {
		return nil, fmt.Errorf("%d tasks run already", n)
	}
	t := &task{id: newID(), startedBy: startedBy, service: service, env: env, created: time.Now()}
	log := ""
	if c.cfg.Logs != "" {
		log = filepath.Join(c.cfg.Logs, fmt.Sprintf("%s-%s.log", c.cfg.Service, t.id[:12]))
	}
	if service {
		var err error
		if t.addr, err = address(); err != nil {
			return nil, err
		}
	}
	p, err := proc.Start(proc.Spec{Path: c.cfg.Program, Dir: c.cfg.Dir, Env: c.environment(t), Log: log})
	if err != nil {
		return nil, err
	}
	t.proc = p
	c.tasks = append(c.tasks, t)
	c.running.Add(1)
	go c.watch(t)
	c.cfg.Log.Info("task started", "task", t.id, "pid", p.Pid, "service", service)
	return t, nil
}

// environment is what ECS gives to a container beside its definition's.
func (c *Cluster) environment(t *task) []string {
	env := []string{
		"ECS_AGENT_URI=" + c.cfg.agentURL(t.id),
		"ECS_CONTAINER_METADATA_URI_V4=" + c.cfg.agentURL(t.id),
	}
	for k, v := range c.cfg.Env {
		if _, over := t.env[k]; !over {
			env = append(env, k+"="+v)
		}
	}
	for k, v := range t.env {
		env = append(env, k+"="+v)
	}
	if t.addr != "" {
		env = append(env, names.EnvListen+"="+t.addr)
	}
	return env
}

// address gives a task of the service an address of its own, since tasks here
// share one host. Whoever takes it first in between makes the task die and be
// replaced.
func address() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

// Addresses gives where the service's tasks that run, and are not being stopped,
// answer HTTP: the balancer's targets.
func (c *Cluster) Addresses() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var out []string
	for _, t := range c.tasks {
		if t.service && t.live() && t.addr != "" {
			out = append(out, t.addr)
		}
	}
	return out
}

// watch notes the end of a task.
func (c *Cluster) watch(t *task) {
	defer c.running.Done()
	<-t.proc.Done()
	c.mu.Lock()
	defer c.mu.Unlock()
	t.stopped, t.exit = time.Now(), t.proc.Exit()
	if t.expire != nil {
		t.expire.Stop()
	}
	if t.code == "" {
		t.code, t.reason = codeExited, "Essential container in task exited"
	}
	c.cfg.Log.Info("task stopped", "task", t.id, "exit", t.exit.Detail, "code", t.code, "reason", t.reason)
	if t.service && t.code == codeExited {
		c.died(t)
	}
	c.forget()
	c.reconcile()
}

// stop ends a task in the background. The caller holds mu.
func (c *Cluster) stop(t *task, code, reason string) {
	if !t.live() {
		return
	}
	t.stopping, t.code, t.reason = true, code, reason
	go t.proc.Stop(c.cfg.StopGrace)
}

// forget drops the oldest stopped tasks. The caller holds mu.
func (c *Cluster) forget() {
	stopped := 0
	for i := len(c.tasks) - 1; i >= 0; i-- {
		if c.tasks[i].running() {
			continue
		}
		if stopped++; stopped > keepStopped {
			c.tasks = append(c.tasks[:i], c.tasks[i+1:]...)
		}
	}
}

package ecs

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// Cluster runs tasks. Its methods may be called from any goroutine.
type Cluster struct {
	cfg     Config
	running sync.WaitGroup

	mu       sync.Mutex
	tasks    []*task // oldest first
	desired  int
	closed   bool
	deaths   int         // in a row
	retry    *time.Timer // the wait after a death
	created  time.Time
	deployed time.Time
}

// New makes a cluster and brings its service to the count that was kept.
func New(cfg Config) (*Cluster, error) {
	now := time.Now()
	c := &Cluster{cfg: cfg.withDefaults(), created: now, deployed: now}
	if c.cfg.Logs != "" {
		if err := os.MkdirAll(c.cfg.Logs, 0o755); err != nil {
			return nil, fmt.Errorf("ecs: logs: %w", err)
		}
	}
	if err := c.load(); err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.reconcile()
	return c, nil
}

// Desired is the service's desired count.
func (c *Cluster) Desired() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.desired
}

// SetDesired changes the service's desired count, as UpdateService does.
func (c *Cluster) SetDesired(n int) error {
	if n < 0 || n > maxTasks {
		return invalid("desiredCount %d is not between 0 and %d", n, maxTasks)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.save(n); err != nil {
		return err
	}
	if n != c.desired {
		c.deaths = 0 // a new wish is tried at once
		c.cancelRetry()
	}
	c.desired = n
	c.reconcile()
	return nil
}

// Pids gives the process ids of the tasks that run, oldest first.
func (c *Cluster) Pids() []int {
	c.mu.Lock()
	defer c.mu.Unlock()
	var out []int
	for _, t := range c.tasks {
		if t.running() {
			out = append(out, t.proc.Pid)
		}
	}
	return out
}

// Close stops every task, with at most grace between SIGTERM and SIGKILL, and
// starts no more. The desired count stays on file.
func (c *Cluster) Close(grace time.Duration) {
	c.mu.Lock()
	c.closed = true
	c.cancelRetry()
	for _, t := range c.tasks {
		if t.running() {
			t.stopping = true
			if t.code == "" {
				t.code, t.reason = codeScheduler, "the cluster closes"
			}
			go t.proc.Stop(min(grace, c.cfg.StopGrace))
		}
	}
	c.mu.Unlock()
	c.running.Wait()
}

// reconcile starts and stops tasks of the service until as many are live as are
// wanted. The caller holds mu.
func (c *Cluster) reconcile() {
	if c.closed {
		return
	}
	var live []*task
	for _, t := range c.tasks {
		if t.service && t.live() {
			live = append(live, t)
		}
	}
	now := time.Now()
	for i := len(live) - 1; i >= 0 && len(live) > c.desired; i-- { // the newest first
		if live[i].safe(now) {
			continue
		}
		c.stop(live[i], codeScheduler, "Scaling activity initiated by deployment "+c.deployment())
		live = append(live[:i], live[i+1:]...)
	}
	for n := len(live); n < c.desired && c.retry == nil; n++ {
		if _, err := c.start(c.deployment(), true, nil); err != nil {
			c.cfg.Log.Error("task did not start", "error", err)
			c.deaths++
			c.wait()
		}
	}
}

// died counts a death of a service's task and holds its successor back. The
// caller holds mu.
func (c *Cluster) died(t *task) {
	if t.stopped.Sub(t.created) > 10*c.cfg.Backoff {
		c.deaths = 0
	}
	c.deaths++
	c.wait()
}

// wait holds the next start back. The caller holds mu.
func (c *Cluster) wait() {
	d := min(c.cfg.Backoff<<min(c.deaths-1, 16), maxBackoff)
	c.cancelRetry()
	var timer *time.Timer
	timer = time.AfterFunc(d, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.retry == timer {
			c.retry = nil
			c.reconcile()
		}
	})
	c.retry = timer
}

func (c *Cluster) cancelRetry() {
	if c.retry != nil {
		c.retry.Stop()
		c.retry = nil
	}
}

func (c *Cluster) deployment() string {
	return fmt.Sprintf("ecs-svc/%d", c.deployed.UnixNano())
}

type kept struct {
	Desired *int `json:"desired_count"`
}

func (c *Cluster) load() error {
	if c.cfg.State == "" {
		return nil
	}
	b, err := os.ReadFile(c.cfg.State)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var k kept
	if err == nil {
		err = json.Unmarshal(b, &k)
	}
	if err == nil && (k.Desired == nil || *k.Desired < 0) {
		err = errors.New("it holds no desired count; remove it to start from none")
	}
	if err != nil {
		return fmt.Errorf("ecs: read %s: %w", c.cfg.State, err)
	}
	c.desired = *k.Desired
	return nil
}

func (c *Cluster) save(n int) error {
	if c.cfg.State == "" {
		return nil
	}
	b, err := json.Marshal(kept{&n})
	if err == nil {
		err = os.MkdirAll(filepath.Dir(c.cfg.State), 0o755)
	}
	tmp := c.cfg.State + ".tmp"
	if err == nil {
		err = os.WriteFile(tmp, b, 0o644)
	}
	if err == nil {
		err = os.Rename(tmp, c.cfg.State)
	}
	if err != nil {
		return fmt.Errorf("ecs: keep the desired count: %w", err)
	}
	return nil
}

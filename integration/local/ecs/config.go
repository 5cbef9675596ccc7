package ecs

import (
	"log/slog"
	"time"

	"fastbowlinglab/shared/names"
)

// Config says what the cluster runs.
type Config struct {
	Cluster string // default names.Cluster
	Service string // default names.PoseService
	Account string // of the ARNs
	Region  string
	Program string            // path of the task's program
	Env     map[string]string // the whole environment of a task
	Dir     string            // a task's working directory; "" for this process's
	Logs    string            // folder for one log file a task; "" drops the output
	State   string            // file that keeps the desired count; "" for memory only
	URL     string            // of the endpoint, for the agent's address

	StopGrace time.Duration // SIGTERM to SIGKILL; default names.StopGrace
	// Backoff is the wait before a task that died is replaced; it doubles with
	// each further death up to a minute, and starts over when a task has lived for
	// ten times as long. Default 1 s.
	Backoff time.Duration
	Log     *slog.Logger // default slog.Default
}

const (
	maxBackoff  = time.Minute
	maxTasks    = 32  // tasks that run at once, a limit on runaway requests
	keepStopped = 100 // stopped tasks that DescribeTasks still knows
)

func (c Config) withDefaults() Config {
	if c.Cluster == "" {
		c.Cluster = names.Cluster
	}
	if c.Service == "" {
		c.Service = names.PoseService
	}
	if c.Account == "" {
		c.Account = "000000000000"
	}
	if c.Region == "" {
		c.Region = "us-east-1"
	}
	if c.StopGrace <= 0 {
		c.StopGrace = names.StopGrace
	}
	if c.Backoff <= 0 {
		c.Backoff = time.Second
	}
	if c.Log == nil {
		c.Log = slog.Default()
	}
	return c
}

func (c Config) arn(kind string) string {
	return "arn:aws:ecs:" + c.Region + ":" + c.Account + ":" + kind
}

func (c Config) clusterARN() string        { return c.arn("cluster/" + c.Cluster) }
func (c Config) serviceARN() string        { return c.arn("service/" + c.Cluster + "/" + c.Service) }
func (c Config) taskARN(id string) string  { return c.arn("task/" + c.Cluster + "/" + id) }
func (c Config) taskDefinition() string    { return c.arn("task-definition/" + c.Service + ":1") }
func (c Config) group() string             { return "service:" + c.Service }
func (c Config) agentURL(id string) string { return c.URL + "/_ecs/" + id }

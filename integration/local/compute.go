package local

import (
	"context"
	"path/filepath"
	"time"

	"fastbowlinglab/integration/local/alb"
	"fastbowlinglab/integration/local/ecs"
	"fastbowlinglab/integration/local/endpoint"
	"fastbowlinglab/integration/local/lambdaapi"
	"fastbowlinglab/shared/names"
)

// closeGrace is how long workers have to leave when the cloud closes.
const closeGrace = 10 * time.Second

// Lambda is the Lambda service.
func (c *Cloud) Lambda() *lambdaapi.Service { return c.lambda }

// Tasks is the ECS cluster.
func (c *Cloud) Tasks() *ecs.Cluster { return c.tasks }

// Balancer is the load balancer in front of the pose workers.
func (c *Cloud) Balancer() *alb.Balancer { return c.balancer }

// balance opens the load balancer.
func (c *Cloud) balance() {
	c.balancer = alb.New(alb.Config{Targets: c.tasks.Addresses, IdleTimeout: c.cfg.BalancerIdle, Log: c.cfg.Log})
	c.poseServer.Handler = c.balancer
	ctx, cancel := context.WithCancel(context.Background())
	c.later(func() error { cancel(); return nil })
	c.running.Go(func() { c.balancer.Watch(ctx) })
	c.running.Go(func() { _ = c.poseServer.Serve(c.poseListener) }) // ends when Close closes it
}

func (c *Cloud) startTasks() error {
	env, err := Environment(names.PoseWorker, names.WorkerEnv(), c.place(), c.cfg.Env)
	if err != nil {
		return err
	}
	c.tasks, err = ecs.New(ecs.Config{Account: Account, Region: Region, Program: c.cfg.worker(), Env: env,
		Dir: filepath.Dir(c.cfg.worker()), Logs: c.cfg.Logs, State: c.state("ecs.json"), URL: c.Endpoint,
		StopGrace: c.cfg.StopGrace, Backoff: c.cfg.TaskBackoff, Log: c.cfg.Log})
	if err != nil {
		return err
	}
	c.later(func() error { c.tasks.Close(closeGrace); return nil })
	c.services.Services[endpoint.ECS] = c.tasks
	c.services.Services[endpoint.ECSAgent] = c.tasks
	return nil
}

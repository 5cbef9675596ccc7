package ecs

import "time"

type clustersIn struct {
	Clusters   []string `json:"clusters"`
	Include    []string `json:"include"`
	MaxResults int      `json:"maxResults"`
	NextToken  string   `json:"nextToken"`
}

type clusterOut struct {
	ARN      string `json:"clusterArn"`
	Name     string `json:"clusterName"`
	Status   string `json:"status"`
	Running  int    `json:"runningTasksCount"`
	Pending  int    `json:"pendingTasksCount"`
	Services int    `json:"activeServicesCount"`
}

type clustersOut struct {
	Clusters []clusterOut `json:"clusters"`
	Failures []failure    `json:"failures"`
}

func (c *Cluster) describeClusters(in clustersIn) (clustersOut, error) {
	out := clustersOut{Clusters: []clusterOut{}, Failures: []failure{}}
	for _, ref := range in.Clusters {
		if c.checkCluster(ref) != nil {
			out.Failures = append(out.Failures, missing(ref))
			continue
		}
		c.mu.Lock()
		n := c.count(func(t *task) bool { return t.running() })
		c.mu.Unlock()
		out.Clusters = append(out.Clusters, clusterOut{ARN: c.cfg.clusterARN(), Name: c.cfg.Cluster,
			Status: "ACTIVE", Running: n, Services: 1})
	}
	return out, nil
}

func (c *Cluster) listClusters(clustersIn) (map[string][]string, error) {
	return map[string][]string{"clusterArns": {c.cfg.clusterARN()}}, nil
}

type servicesIn struct {
	Cluster    string   `json:"cluster"`
	Services   []string `json:"services"`
	Include    []string `json:"include"`
	MaxResults int      `json:"maxResults"`
	NextToken  string   `json:"nextToken"`
}

func (c *Cluster) listServices(in servicesIn) (map[string][]string, error) {
	if err := c.checkCluster(in.Cluster); err != nil {
		return nil, err
	}
	return map[string][]string{"serviceArns": {c.cfg.serviceARN()}}, nil
}

type deploymentOut struct {
	ID      string  `json:"id"`
	Status  string  `json:"status"`
	Task    string  `json:"taskDefinition"`
	Desired int     `json:"desiredCount"`
	Pending int     `json:"pendingCount"`
	Running int     `json:"runningCount"`
	Created float64 `json:"createdAt"`
	Updated float64 `json:"updatedAt"`
	State   string  `json:"rolloutState"`
}

type serviceOut struct {
	ARN         string          `json:"serviceArn"`
	Name        string          `json:"serviceName"`
	Cluster     string          `json:"clusterArn"`
	Status      string          `json:"status"`
	Desired     int             `json:"desiredCount"`
	Running     int             `json:"runningCount"`
	Pending     int             `json:"pendingCount"`
	Launch      string          `json:"launchType"`
	Task        string          `json:"taskDefinition"`
	Deployments []deploymentOut `json:"deployments"`
	Created     float64         `json:"createdAt"`
}

// describe is the service as ECS shows it. The caller holds mu.
func (c *Cluster) describe() serviceOut {
	n := c.count(func(t *task) bool { return t.service && t.running() })
	pending := max(0, c.desired-c.count(func(t *task) bool { return t.service && t.live() }))
	state := "COMPLETED"
	if pending > 0 {
		state = "IN_PROGRESS"
	}
	return serviceOut{
		ARN: c.cfg.serviceARN(), Name: c.cfg.Service, Cluster: c.cfg.clusterARN(), Status: "ACTIVE",
		Desired: c.desired, Running: n, Pending: pending, Launch: "FARGATE", Task: c.cfg.taskDefinition(),
		Created: seconds(c.created),
		Deployments: []deploymentOut{{ID: c.deployment(), Status: "PRIMARY", Task: c.cfg.taskDefinition(),
			Desired: c.desired, Pending: pending, Running: n, State: state,
			Created: seconds(c.deployed), Updated: seconds(c.deployed)}},
	}
}

type describeServicesOut struct {
	Services []serviceOut `json:"services"`
	Failures []failure    `json:"failures"`
}

func (c *Cluster) describeServices(in servicesIn) (describeServicesOut, error) {
	out := describeServicesOut{Services: []serviceOut{}, Failures: []failure{}}
	if err := c.checkCluster(in.Cluster); err != nil {
		return out, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, ref := range in.Services {
		if is(ref, c.cfg.Service, c.cfg.serviceARN()) {
			out.Services = append(out.Services, c.describe())
		} else {
			out.Failures = append(out.Failures, missing(ref))
		}
	}
	return out, nil
}

type updateServiceIn struct {
	Cluster string `json:"cluster"`
	Service string `json:"service"`
	Desired *int   `json:"desiredCount"`
	Force   bool   `json:"forceNewDeployment"`
}

func (c *Cluster) updateService(in updateServiceIn) (map[string]serviceOut, error) {
	if err := c.checkCluster(in.Cluster); err != nil {
		return nil, err
	}
	if !is(in.Service, c.cfg.Service, c.cfg.serviceARN()) {
		return nil, errService
	}
	if in.Desired != nil {
		if err := c.SetDesired(*in.Desired); err != nil {
			return nil, err
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if in.Force {
		c.redeploy()
	}
	return map[string]serviceOut{"service": c.describe()}, nil
}

// redeploy replaces the service's tasks: the old ones are told to stop, and new
// ones start beside them at once. Protection does not hold a deployment up.
// The caller holds mu.
func (c *Cluster) redeploy() {
	c.deployed = time.Now()
	c.deaths = 0
	c.cancelRetry()
	for _, t := range c.tasks {
		if t.service && t.live() {
			c.stop(t, codeScheduler, "Scaling activity initiated by deployment "+c.deployment())
		}
	}
	c.reconcile()
}

// count counts tasks. The caller holds mu.
func (c *Cluster) count(f func(*task) bool) int {
	n := 0
	for _, t := range c.tasks {
		if f(t) {
			n++
		}
	}
	return n
}

// seconds is a time as AWS JSON writes it.
func seconds(t time.Time) float64 { return float64(t.UnixMilli()) / 1000 }

package ecs

import (
	"time"
)

type overrides struct {
	Containers []struct {
		Name        string  `json:"name"`
		Environment []nameV `json:"environment"`
	} `json:"containerOverrides"`
}

type nameV struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

type runTaskIn struct {
	Cluster   string     `json:"cluster"`
	Task      string     `json:"taskDefinition"`
	Count     *int       `json:"count"`
	StartedBy string     `json:"startedBy"`
	Token     string     `json:"clientToken"`
	Launch    string     `json:"launchType"`
	Overrides *overrides `json:"overrides"`
	Network   any        `json:"networkConfiguration"` // there are no networks here: accepted and unused
}

type tasksOut struct {
	Tasks    []taskOut `json:"tasks"`
	Failures []failure `json:"failures"`
}

func (c *Cluster) runTask(in runTaskIn) (tasksOut, error) {
	out := tasksOut{Tasks: []taskOut{}, Failures: []failure{}}
	if err := c.checkCluster(in.Cluster); err != nil {
		return out, err
	}
	if !is(in.Task, c.cfg.Service, c.cfg.taskDefinition()) && in.Task != c.cfg.Service+":1" {
		return out, &apiError{"ClientException", "TaskDefinition not found."}
	}
	n := 1
	if in.Count != nil {
		n = *in.Count
	}
	if n < 1 || n > 10 {
		return out, invalid("count must be between 1 and 10")
	}
	env := map[string]string{}
	if in.Overrides != nil {
		for _, o := range in.Overrides.Containers {
			for _, e := range o.Environment {
				env[e.Name] = e.Value
			}
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, t := range c.tasks {
		if in.Token != "" && t.token == in.Token {
			out.Tasks = append(out.Tasks, c.show(t))
		}
	}
	if len(out.Tasks) > 0 {
		return out, nil
	}
	for range n {
		t, err := c.start(in.StartedBy, false, env)
		if err != nil {
			out.Failures = append(out.Failures, failure{ARN: c.cfg.clusterARN(), Reason: "RESOURCE: " + err.Error()})
			continue
		}
		t.token = in.Token
		out.Tasks = append(out.Tasks, c.show(t))
	}
	return out, nil
}

type stopTaskIn struct {
	Cluster string `json:"cluster"`
	Task    string `json:"task"`
	Reason  string `json:"reason"`
}

func (c *Cluster) stopTask(in stopTaskIn) (map[string]taskOut, error) {
	if err := c.checkCluster(in.Cluster); err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	t := c.find(in.Task)
	if t == nil {
		return nil, errTask
	}
	reason := in.Reason
	if reason == "" {
		reason = "Task stopped by user"
	}
	c.stop(t, codeUser, reason)
	c.reconcile() // the service replaces it at once, beside the one that stops
	return map[string]taskOut{"task": c.show(t)}, nil
}

type listTasksIn struct {
	Cluster    string `json:"cluster"`
	Service    string `json:"serviceName"`
	StartedBy  string `json:"startedBy"`
	Family     string `json:"family"`
	Status     string `json:"desiredStatus"`
	Launch     string `json:"launchType"`
	MaxResults int    `json:"maxResults"`
	NextToken  string `json:"nextToken"`
}

func (c *Cluster) listTasks(in listTasksIn) (map[string][]string, error) {
	if err := c.checkCluster(in.Cluster); err != nil {
		return nil, err
	}
	if in.Service != "" && !is(in.Service, c.cfg.Service, c.cfg.serviceARN()) {
		return nil, errService
	}
	arns := []string{}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, t := range c.tasks {
		if (in.Status == "STOPPED") != !t.live() || in.StartedBy != "" && t.startedBy != in.StartedBy ||
			in.Service != "" && !t.service || in.Family != "" && in.Family != c.cfg.Service {
			continue
		}
		arns = append(arns, c.cfg.taskARN(t.id))
	}
	return map[string][]string{"taskArns": arns}, nil
}

type describeTasksIn struct {
	Cluster string   `json:"cluster"`
	Tasks   []string `json:"tasks"`
	Include []string `json:"include"`
}

func (c *Cluster) describeTasks(in describeTasksIn) (tasksOut, error) {
	out := tasksOut{Tasks: []taskOut{}, Failures: []failure{}}
	if err := c.checkCluster(in.Cluster); err != nil {
		return out, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, ref := range in.Tasks {
		if t := c.find(ref); t != nil {
			out.Tasks = append(out.Tasks, c.show(t))
		} else {
			out.Failures = append(out.Failures, missing(ref))
		}
	}
	return out, nil
}

type containerOut struct {
	Name   string `json:"name"`
	Status string `json:"lastStatus"`
	Exit   *int   `json:"exitCode,omitempty"`
	Reason string `json:"reason,omitempty"`
}

type taskOut struct {
	ARN        string         `json:"taskArn"`
	Cluster    string         `json:"clusterArn"`
	Definition string         `json:"taskDefinitionArn"`
	Last       string         `json:"lastStatus"`
	Wanted     string         `json:"desiredStatus"`
	StartedBy  string         `json:"startedBy,omitempty"`
	Group      string         `json:"group"`
	Launch     string         `json:"launchType"`
	Created    float64        `json:"createdAt"`
	Started    float64        `json:"startedAt"`
	Stopped    float64        `json:"stoppedAt,omitempty"`
	Code       string         `json:"stopCode,omitempty"`
	Reason     string         `json:"stoppedReason,omitempty"`
	Containers []containerOut `json:"containers"`
}

// show is a task as ECS shows it. The caller holds mu.
func (c *Cluster) show(t *task) taskOut {
	out := taskOut{
		ARN: c.cfg.taskARN(t.id), Cluster: c.cfg.clusterARN(), Definition: c.cfg.taskDefinition(),
		Last: "RUNNING", Wanted: "RUNNING", StartedBy: t.startedBy, Group: "family:" + c.cfg.Service,
		Launch: "FARGATE", Created: seconds(t.created), Started: seconds(t.created), Code: t.code, Reason: t.reason,
	}
	if t.service {
		out.Group = c.cfg.group()
	}
	box := containerOut{Name: c.cfg.Service, Status: "RUNNING"}
	if t.stopping {
		out.Last, out.Wanted = "DEACTIVATING", "STOPPED"
	}
	if !t.running() {
		out.Last, out.Wanted, out.Stopped = "STOPPED", "STOPPED", seconds(t.stopped)
		code := t.exit.Code
		box.Status, box.Exit, box.Reason = "STOPPED", &code, t.exit.Detail
	}
	out.Containers = []containerOut{box}
	return out
}

// protect sets or lifts a task's protection. The caller holds mu.
func (c *Cluster) protect(t *task, on bool, minutes int) error {
	if !t.service {
		return &apiError{"DEPLOYMENT_BLOCKED", "only tasks of a service can be protected"}
	}
	if t.expire != nil {
		t.expire.Stop()
		t.expire = nil
	}
	t.protected = time.Time{}
	if on {
		if minutes == 0 {
			minutes = 120
		}
		if minutes < 1 || minutes > 2880 {
			return invalid("expiresInMinutes must be between 1 and 2880")
		}
		d := time.Duration(minutes) * time.Minute
		t.protected = time.Now().Add(d)
		t.expire = time.AfterFunc(d, c.Reconcile)
	}
	c.reconcile()
	return nil
}

// Reconcile compares what runs with what is wanted, now.
func (c *Cluster) Reconcile() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.reconcile()
}

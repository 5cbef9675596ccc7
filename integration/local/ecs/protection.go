package ecs

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"time"

	"fastbowlinglab/integration/local/endpoint"
)

type protectionIn struct {
	Cluster string   `json:"cluster"`
	Tasks   []string `json:"tasks"`
	On      bool     `json:"protectionEnabled"`
	Minutes int      `json:"expiresInMinutes"`
}

type protectedOut struct {
	Task    string   `json:"taskArn"`
	On      bool     `json:"protectionEnabled"`
	Expires *float64 `json:"expirationDate,omitempty"`
}

type protectionOut struct {
	Protected []protectedOut `json:"protectedTasks"`
	Failures  []failure      `json:"failures"`
}

func (c *Cluster) updateProtection(in protectionIn) (protectionOut, error) {
	return c.eachTask(in, func(t *task) error { return c.protect(t, in.On, in.Minutes) })
}

func (c *Cluster) getProtection(in protectionIn) (protectionOut, error) {
	return c.eachTask(in, func(*task) error { return nil })
}

func (c *Cluster) eachTask(in protectionIn, f func(*task) error) (protectionOut, error) {
	out := protectionOut{Protected: []protectedOut{}, Failures: []failure{}}
	if err := c.checkCluster(in.Cluster); err != nil {
		return out, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, ref := range in.Tasks {
		t := c.find(ref)
		if t == nil || !t.running() {
			out.Failures = append(out.Failures, failure{ref, "TASK_NOT_VALID"})
			continue
		}
		if err := f(t); err != nil {
			return out, err
		}
		out.Protected = append(out.Protected, c.protection(t))
	}
	return out, nil
}

// protection shows a task's protection. The caller holds mu.
func (c *Cluster) protection(t *task) protectedOut {
	p := protectedOut{Task: c.cfg.taskARN(t.id)}
	if t.safe(time.Now()) {
		s := seconds(t.protected)
		p.On, p.Expires = true, &s
	}
	return p
}

// serveAgent answers what a task asks of its own agent: GET <uri>/task (task
// metadata) and GET, PUT <uri>/task-protection/v1/state.
func (c *Cluster) serveAgent(w http.ResponseWriter, r *http.Request, body []byte) {
	id, path, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, endpoint.AgentPath), "/")
	c.mu.Lock()
	defer c.mu.Unlock()
	t := c.find(id)
	switch {
	case t == nil:
		agentError(w, http.StatusNotFound, "", &apiError{"TaskNotFound", "there is no task " + id})
	case path == "task" && r.Method == http.MethodGet:
		endpoint.WriteJSON(w, http.StatusOK, map[string]string{"Cluster": c.cfg.clusterARN(), "TaskARN": c.cfg.taskARN(id),
			"Family": c.cfg.Service, "Revision": "1", "DesiredStatus": c.show(t).Wanted, "KnownStatus": c.show(t).Last,
			"LaunchType": "FARGATE", "ServiceName": c.cfg.Service})
	case path == "task-protection/v1/state" && r.Method == http.MethodGet:
		endpoint.WriteJSON(w, http.StatusOK, agentProtection(c.protection(t)))
	case path == "task-protection/v1/state" && r.Method == http.MethodPut:
		c.agentProtect(w, t, body)
	default:
		agentError(w, http.StatusNotFound, c.cfg.taskARN(id), &apiError{"NotFound", "the agent does not serve " + r.Method + " " + path})
	}
}

func (c *Cluster) agentProtect(w http.ResponseWriter, t *task, body []byte) {
	var in struct {
		On      *bool `json:"ProtectionEnabled"`
		Minutes int   `json:"ExpiresInMinutes"`
	}
	err := json.Unmarshal(body, &in)
	if err == nil && in.On == nil {
		err = errors.New("does not contain 'ProtectionEnabled' field")
	}
	if err == nil {
		err = c.protect(t, *in.On, in.Minutes)
	}
	if err != nil {
		var e *apiError
		if !errors.As(err, &e) {
			e = &apiError{"InvalidParameterException", err.Error()}
		}
		agentError(w, http.StatusBadRequest, c.cfg.taskARN(t.id), e)
		return
	}
	endpoint.WriteJSON(w, http.StatusOK, agentProtection(c.protection(t)))
}

// agentProtection is a task's protection in the agent's own spelling.
func agentProtection(p protectedOut) map[string]any {
	m := map[string]any{"ProtectionEnabled": p.On, "TaskArn": p.Task}
	if p.Expires != nil {
		m["ExpirationDate"] = time.UnixMilli(int64(*p.Expires * 1000)).UTC().Format(time.RFC3339)
	}
	return map[string]any{"protection": m}
}

func agentError(w http.ResponseWriter, status int, arn string, e *apiError) {
	endpoint.WriteJSON(w, status, map[string]any{"error": map[string]string{"Arn": arn, "Code": e.Code, "Message": e.Message}})
}

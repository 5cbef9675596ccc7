package ecs

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"fastbowlinglab/integration/local/endpoint"
)

// apiError is an error of the ECS API.
type apiError struct{ Code, Message string }

func (e *apiError) Error() string { return e.Code + ": " + e.Message }

func invalid(format string, a ...any) error {
	return &apiError{"InvalidParameterException", fmt.Sprintf(format, a...)}
}

// Client errors of ECS for what does not exist.
var (
	errCluster = &apiError{"ClusterNotFoundException", "Cluster not found."}
	errService = &apiError{"ServiceNotFoundException", "Service not found."}
	errTask    = &apiError{"InvalidParameterException", "The referenced task was not found."}
)

const maxRequest = 1 << 20

// operation decodes a request and answers it.
type operation func(*Cluster, []byte) (any, error)

var operations = map[string]operation{
	"DescribeClusters":     op((*Cluster).describeClusters),
	"ListClusters":         op((*Cluster).listClusters),
	"ListServices":         op((*Cluster).listServices),
	"DescribeServices":     op((*Cluster).describeServices),
	"UpdateService":        op((*Cluster).updateService),
	"RunTask":              op((*Cluster).runTask),
	"StopTask":             op((*Cluster).stopTask),
	"ListTasks":            op((*Cluster).listTasks),
	"DescribeTasks":        op((*Cluster).describeTasks),
	"UpdateTaskProtection": op((*Cluster).updateProtection),
	"GetTaskProtection":    op((*Cluster).getProtection),
}

// op makes an operation of a typed method. A member that the method does not
// know is refused by name, so that nothing asked for is ignored in silence.
func op[In, Out any](f func(*Cluster, In) (Out, error)) operation {
	return func(c *Cluster, body []byte) (any, error) {
		var in In
		dec := json.NewDecoder(bytes.NewReader(body))
		dec.DisallowUnknownFields()
		if err := dec.Decode(&in); err != nil {
			return nil, invalid("the embedded cloud's ECS does not take this request: %s", strings.TrimPrefix(err.Error(), "json: "))
		}
		return f(c, in)
	}
}

// ServeHTTP answers the AWS JSON API of ECS, and the task agent under
// endpoint.AgentPath.
func (c *Cluster) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	q := endpoint.Parse(r)
	body, err := io.ReadAll(io.LimitReader(r.Body, maxRequest))
	if err != nil {
		endpoint.WriteError(w, q, http.StatusBadRequest, "ClientException", err.Error())
		return
	}
	if q.Service == endpoint.ECSAgent {
		c.serveAgent(w, r, body)
		return
	}
	f, ok := operations[q.Operation]
	if !ok {
		endpoint.WriteError(w, q, http.StatusNotImplemented, "UnknownOperationException",
			"the embedded cloud's ECS has no "+q.Operation)
		return
	}
	out, err := f(c, body)
	var e *apiError
	switch {
	case errors.As(err, &e):
		endpoint.WriteError(w, q, http.StatusBadRequest, e.Code, e.Message)
	case err != nil:
		endpoint.WriteError(w, q, http.StatusInternalServerError, "ServerException", err.Error())
	default:
		endpoint.WriteJSON(w, http.StatusOK, out)
	}
}

// is reports whether ref, a short name or an ARN, means the thing with that name and ARN.
func is(ref, name, arn string) bool { return ref == name || ref == arn }

func (c *Cluster) checkCluster(ref string) error {
	if !is(ref, c.cfg.Cluster, c.cfg.clusterARN()) {
		return errCluster
	}
	return nil
}

// find gives a task by id or ARN. The caller holds mu.
func (c *Cluster) find(ref string) *task {
	for _, t := range c.tasks {
		if is(ref, t.id, c.cfg.taskARN(t.id)) {
			return t
		}
	}
	return nil
}

// failure is how ECS answers for one thing of several that it could not find.
type failure struct {
	ARN    string `json:"arn"`
	Reason string `json:"reason"`
}

func missing(ref string) failure { return failure{ref, "MISSING"} }

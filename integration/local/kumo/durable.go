package kumo

import (
	"net/http"
	"sync"

	"fastbowlinglab/integration/local/endpoint"
)

// durable answers a write only when it is in the service's file, so that what
// was acknowledged survives kill -9. A receive from a queue is not a write in
// this sense: losing it delivers the message again, which SQS may do anyway.
type durable struct {
	next http.Handler
	// mu keeps a flush and an S3 write apart: while it flushes, kumo removes
	// every blob that no object names yet, the parts of an upload among them.
	mu sync.RWMutex
}

// ServeHTTP implements http.Handler.
func (d *durable) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	q := endpoint.Parse(r)
	if !mutates(q) {
		d.next.ServeHTTP(w, r)
		return
	}
	rec := newRecord()
	if q.Service == endpoint.S3 {
		d.mu.RLock()
		d.next.ServeHTTP(rec, r)
		d.mu.RUnlock()
	} else {
		d.next.ServeHTTP(rec, r)
	}
	d.flush()
	rec.send(w)
}

// flush writes what changed. Calls that waited for each other find nothing left to do.
func (d *durable) flush() {
	d.mu.Lock()
	defer d.mu.Unlock()
	flushSnapshots()
}

var reads = map[string]bool{
	"ReceiveMessage": true, "GetQueueUrl": true, "GetQueueAttributes": true, "ListQueues": true,
	"GetParameter": true, "GetParameters": true, "GetParametersByPath": true, "DescribeParameters": true,
	"GetSecretValue": true, "DescribeSecret": true, "ListSecrets": true,
}

func mutates(q *endpoint.Request) bool {
	switch q.Service {
	case endpoint.S3, endpoint.SES:
		return q.HTTP.Method != http.MethodGet && q.HTTP.Method != http.MethodHead
	}
	return !reads[q.Operation]
}

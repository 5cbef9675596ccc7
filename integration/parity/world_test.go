package parity

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"sync"
	"testing"
	"time"

	"fastbowlinglab/integration/local"
	"fastbowlinglab/integration/local/endpoint"
	"fastbowlinglab/shared/names"
)

// world is one embedded cloud, which refuses what the synthesised policies do
// not allow, and the templates.
type world struct {
	templates Templates
	policies  map[string]Policy
	cloud     *local.Cloud

	mu     sync.Mutex
	denied []string
	asked  map[string]int // requests that were checked, by program
}

var shared struct {
	once sync.Once
	w    *world
	dir  string
	err  error
	skip string
}

func TestMain(m *testing.M) {
	slog.SetDefault(slog.New(slog.DiscardHandler))
	code := m.Run()
	if shared.w != nil && shared.w.cloud != nil {
		if err := shared.w.cloud.Close(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	if shared.dir != "" {
		os.RemoveAll(shared.dir)
	}
	os.Exit(code)
}

// start gives the world. It is made once: a synth takes a while.
func start(t *testing.T) *world {
	t.Helper()
	shared.once.Do(func() { shared.w, shared.err = open() })
	if shared.skip != "" {
		t.Skip(shared.skip)
	}
	if shared.err != nil {
		t.Fatal(shared.err)
	}
	return shared.w
}

func open() (*world, error) {
	root, err := local.FindRoot()
	if err != nil {
		return nil, err
	}
	for _, need := range []string{".local/bin/" + names.PoseWorker, ".local/bin/" + names.FnRender + "/bootstrap", "node_modules/@dynoxide/linux-x64/dynoxide"} {
		if _, err := os.Stat(filepath.Join(root, need)); err != nil {
			shared.skip = need + " is missing: run `make functions` first"
			return nil, nil
		}
	}
	if shared.dir, err = os.MkdirTemp("", "parity"); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 8*time.Minute)
	defer cancel()
	w := &world{asked: map[string]int{}}
	if w.templates, err = Synth(ctx, root, shared.dir); err != nil {
		return nil, err
	}
	w.policies = w.templates.Policies()
	w.cloud, err = local.Start(ctx, local.Config{EventRetries: []time.Duration{time.Second}, Intercept: w.authorise})
	return w, err
}

// authorise is IAM: a program's request needs a statement that allows it.
// Requests without a program's name are people's, or come by a signed link.
func (w *world) authorise(q *endpoint.Request) endpoint.Fault {
	policy, known := w.policies[q.Caller]
	if !known {
		return endpoint.Fault{}
	}
	needs, ok := Needs(q)
	if !ok {
		return endpoint.Fault{}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.asked[q.Caller]++
	for _, n := range needs {
		if !policy.Allows(n.Action, n.Resource) {
			w.denied = append(w.denied, fmt.Sprintf("%s may not %s on %s", q.Caller, n.Action, n.Resource))
			return endpoint.Fault{Kind: endpoint.Denied}
		}
	}
	return endpoint.Fault{}
}

// functionARN finds a function in a definition, by its name.
var functionARN = regexp.MustCompile(`arn:aws:lambda:[^:"]*:[^:"]*:function:([a-z]+)(?::[^"]*)?`)

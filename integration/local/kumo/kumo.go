// Package kumo serves S3, SQS, SES, SSM, Secrets Manager, EventBridge and STS in
// this process with github.com/sivchari/kumo, and fills in what our code needs
// and kumo lacks. It is the only package that imports kumo, which is slow to
// compile and link.
//
// kumo's services are singletons of the process: their state is read from the
// folder in KUMO_DATA_DIR before main starts and cannot be changed afterwards.
// Prepare sees to that.
package kumo

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	_ "unsafe" // for go:linkname

	_ "github.com/sivchari/kumo" // links the services in
)

// handler is kumo's whole emulator as a handler. Its exported constructor only
// gives it behind a listener of its own.
//
//go:linkname handler github.com/sivchari/kumo.handler
func handler() http.Handler

// upstream is made once: making it ties kumo's singletons together anew, while
// some of them may be at work.
var upstream = sync.OnceValue(handler)

// flushSnapshots writes every changed service's state to its file. kumo itself
// does so once a second, and would lose what it acknowledged since.
//
//go:linkname flushSnapshots github.com/sivchari/kumo/internal/storage.FlushSnapshots
func flushSnapshots()

// The environment that kumo reads.
const (
	envDir   = "KUMO_DATA_DIR"
	envFlush = "KUMO_PERSIST_FLUSH_INTERVAL_MS"
)

// never keeps kumo's own flusher still: durable flushes when it must.
const never = "2000000000"

// Prepare makes sure that this process keeps kumo's state in dir, which it can
// only do from its start: when it was started otherwise it replaces itself with
// the same program, arguments and process id. Call it first in main; it returns
// only if nothing had to be done, or with an error.
func Prepare(dir string) error {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return fmt.Errorf("state folder %s: %w", dir, err)
	}
	if os.Getenv(envDir) == abs && os.Getenv(envFlush) == never {
		return nil
	}
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("start again with the state folder: %w", err)
	}
	env := append(without(os.Environ(), envDir, envFlush), Environ(abs)...)
	return fmt.Errorf("start again with the state folder: %w", syscall.Exec(self, os.Args, env))
}

// Environ is the environment with which a process keeps kumo's state in dir.
func Environ(dir string) []string { return []string{envDir + "=" + dir, envFlush + "=" + never} }

func without(env []string, keys ...string) []string {
	var out []string
	for _, kv := range env {
		k, _, _ := strings.Cut(kv, "=")
		drop := false
		for _, key := range keys {
			drop = drop || k == key
		}
		if !drop {
			out = append(out, kv)
		}
	}
	return out
}

// ErrNotPrepared says that this process keeps kumo's state somewhere else.
var ErrNotPrepared = errors.New("kumo's state folder is set when a process starts: call kumo.Prepare first in main")

// Config says how to serve.
type Config struct {
	Dir string // the folder given to Prepare; "" when the state lives in memory
	URL string // of the endpoint, for queue URLs
}

// inUse tells that New was called and its release was not.
var inUse atomic.Bool

// New gives the services as one handler, to one user at a time. release writes
// their state to its files and lets the next user in.
func New(cfg Config) (h http.Handler, release func() error, err error) {
	if cfg.Dir != "" {
		if cfg.Dir, err = filepath.Abs(cfg.Dir); err != nil {
			return nil, nil, fmt.Errorf("state folder: %w", err)
		}
		if err := os.MkdirAll(cfg.Dir, 0o755); err != nil {
			return nil, nil, fmt.Errorf("state folder: %w", err)
		}
	}
	if have := os.Getenv(envDir); have != cfg.Dir {
		return nil, nil, fmt.Errorf("%w (have %q, want %q)", ErrNotPrepared, have, cfg.Dir)
	}
	if cfg.Dir != "" {
		if err := undamaged(cfg.Dir); err != nil {
			return nil, nil, err
		}
	}
	if !inUse.CompareAndSwap(false, true) {
		return nil, nil, errors.New("kumo is in use: its services are singletons of the process")
	}
	leave := func() error { inUse.Store(false); return nil }
	if cfg.Dir == "" {
		return front(upstream(), cfg.URL), leave, nil
	}
	d := &durable{next: upstream()}
	f := &inflight{kumo: d.next, next: &blobs{next: d, dir: cfg.Dir}, durable: d, file: filepath.Join(cfg.Dir, "inflight.json")}
	if err := f.restore(); err != nil {
		return nil, nil, errors.Join(err, leave())
	}
	return front(f, cfg.URL), func() error { d.flush(); return leave() }, nil
}

// front is what stands before the services, kept or not.
func front(h http.Handler, url string) http.Handler { return spool(queues(heads(h), url)) }

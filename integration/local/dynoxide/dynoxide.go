// Package dynoxide runs the embedded cloud's DynamoDB: dynoxide, one static
// binary over an SQLite file, as a child process.
package dynoxide

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"fastbowlinglab/integration/local/proc"
)

// readyWithin bounds the wait for the database to answer; it takes 8 ms.
const readyWithin = 10 * time.Second

// Config says how to run the database.
type Config struct {
	Path string // of the binary
	File string // SQLite file; "" keeps everything in memory
	Log  string // log file; "" for none
}

// DB is a running database.
type DB struct {
	Addr string // host:port
	proc *proc.Process
	rp   *httputil.ReverseProxy
	tr   *http.Transport
}

// Start runs the database and waits until it answers.
func Start(ctx context.Context, cfg Config) (*DB, error) {
	if _, err := os.Stat(cfg.Path); err != nil {
		return nil, fmt.Errorf("dynoxide: %w (npm install brings it)", err)
	}
	if cfg.File != "" {
		if err := os.MkdirAll(filepath.Dir(cfg.File), 0o755); err != nil {
			return nil, fmt.Errorf("dynoxide: %w", err)
		}
	}
	ctx, cancel := context.WithTimeout(ctx, readyWithin)
	defer cancel()
	for try := 1; ; try++ {
		db, err := start(ctx, cfg)
		if err == nil {
			return db, nil
		}
		// Between the choice of a free port and its use another process may have taken it.
		if !errors.Is(err, errEnded) || try == 3 {
			return nil, err
		}
	}
}

var errEnded = errors.New("dynoxide ended before it answered")

func start(ctx context.Context, cfg Config) (*DB, error) {
	port, err := freePort()
	if err != nil {
		return nil, fmt.Errorf("dynoxide: find a free port: %w", err)
	}
	args := []string{"serve", "--host", "127.0.0.1", "--port", strconv.Itoa(port)}
	if cfg.File != "" {
		args = append(args, "--db-path", cfg.File)
	}
	p, err := proc.Start(proc.Spec{Path: cfg.Path, Args: args, Log: cfg.Log, Env: []string{"HOME=" + os.TempDir()}})
	if err != nil {
		return nil, err
	}
	db := newDB(net.JoinHostPort("127.0.0.1", strconv.Itoa(port)), p)
	if err := db.ready(ctx); err != nil {
		p.Kill()
		return nil, err
	}
	return db, nil
}

func newDB(addr string, p *proc.Process) *DB {
	tr := &http.Transport{MaxIdleConns: 256, MaxIdleConnsPerHost: 256, IdleConnTimeout: time.Minute}
	target := &url.URL{Scheme: "http", Host: addr}
	return &DB{Addr: addr, proc: p, tr: tr, rp: &httputil.ReverseProxy{
		Transport: tr,
		Rewrite:   func(r *httputil.ProxyRequest) { r.SetURL(target) },
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
			// An answer that broke off says nothing about what was done: break off too.
			panic(http.ErrAbortHandler)
		},
	}}
}

// ready waits until the database answers a call of its API.
func (db *DB) ready(ctx context.Context) error {
	for {
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+db.Addr+"/", strings.NewReader("{}"))
		if err != nil {
			return fmt.Errorf("dynoxide: %w", err)
		}
		req.Header.Set("X-Amz-Target", "DynamoDB_20120810.ListTables")
		req.Header.Set("Content-Type", "application/x-amz-json-1.0")
		req.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=local/20260101/us-east-1/dynamodb/aws4_request, "+
			"SignedHeaders=host, Signature=0")
		req.Header.Set("X-Amz-Date", "20260101T000000Z")
		if resp, err := db.tr.RoundTrip(req); err == nil {
			_ = resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				return nil
			}
		}
		select {
		case <-db.proc.Done():
			return fmt.Errorf("%w: %s", errEnded, db.proc.Exit().Detail)
		case <-ctx.Done():
			return fmt.Errorf("dynoxide: not ready: %w", context.Cause(ctx))
		case <-time.After(2 * time.Millisecond):
		}
	}
}

// ServeHTTP passes a request on to the database.
func (db *DB) ServeHTTP(w http.ResponseWriter, r *http.Request) { db.rp.ServeHTTP(w, r) }

// Done is closed when the database process has ended.
func (db *DB) Done() <-chan struct{} { return db.proc.Done() }

// Pid is the process id of the database.
func (db *DB) Pid() int { return db.proc.Pid }

// Close stops the database.
func (db *DB) Close() {
	db.proc.Stop(5 * time.Second)
	db.tr.CloseIdleConnections()
}

func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer func() { _ = l.Close() }() // closing is the point: the port is free again
	return l.Addr().(*net.TCPAddr).Port, nil
}

package local

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"fastbowlinglab/integration/local/endpoint"
	"fastbowlinglab/integration/local/lambdaapi"
	"fastbowlinglab/shared/names"
)

// The fake account that everything lives in.
const (
	Account   = lambdaapi.Account
	Region    = lambdaapi.Region
	AccessKey = "local"
	SecretKey = "local"
)

// Config says where the cloud keeps its state and what it runs. The zero value
// of a field is a default unless it says otherwise.
type Config struct {
	// Dir keeps all state, so that the next start goes on from there. "" keeps
	// state in memory; a folder needs Prepare first in main.
	Dir string
	// Addr is the endpoint's address on loopback, and APIAddr the HTTP API's.
	// Default: a free port.
	Addr, APIAddr string
	// WebOrigins are the origins whose pages may use the HTTP API and upload to the
	// bucket, beside the API's own.
	WebOrigins []string
	// Root is the project's folder, with node_modules. Default: found upwards from
	// the working directory.
	Root string
	// Binaries holds <function>/bootstrap for each function and poseworker.
	// Default: Root/.local/bin, where make functions puts them.
	Binaries string
	// Fonts is the folder of the report's fonts. Default: Root/.local/fonts, where
	// make functions puts them.
	Fonts string
	// Programs are those of functions and worker, by name, that are elsewhere than
	// in Binaries.
	Programs map[string]string
	// Versions keeps published programs, which Deploy needs. Default: Dir/versions;
	// without a Dir there is one version of each function, its present program.
	Versions string
	// Functions that exist. Default: names.Functions().
	Functions []names.Function
	// Env adds to and overrides the environment of functions and worker.
	Env map[string]string
	// Logs is the folder of log files. Default: Dir/logs, or a folder that Close removes.
	Logs string

	// Schedules overrides how often a function is invoked by the scheduler; a
	// negative period means never (Tick still works).
	Schedules map[string]time.Duration
	// EventRetries are the waits before a failed asynchronous invocation is tried
	// again. Default: 1 and 2 minutes, as in AWS.
	EventRetries []time.Duration
	// StreamPoll is the wait between two reads of a stream. Default 200 ms.
	StreamPoll time.Duration
	// Duplicate decides, for each delivery of a source ("stream", "event",
	// "schedule"), whether it happens twice. Default: never.
	Duplicate func(source string) bool

	// StopGrace is ECS's stop timeout. Default: names.StopGrace.
	StopGrace time.Duration
	// TaskBackoff is the wait before a dead task of the service is replaced. Default 1 s.
	TaskBackoff time.Duration

	// BalancerIdle is the load balancer's idle timeout. Default: names.ALBIdleTimeout.
	BalancerIdle time.Duration

	// Intercept puts faults between callers and services. Default: none.
	Intercept endpoint.Intercept

	// Bedrock answers the calls of models. Default: the stand-in of integration/bedrock.
	Bedrock http.Handler

	// Definition gives the analysis state machine's definition for the functions'
	// ARNs by placeholder. Default: that of package statemachine.
	Definition func(arns map[string]string) ([]byte, error)

	Log *slog.Logger // default slog.Default()
}

func (c Config) withDefaults() (Config, error) {
	if c.Root == "" {
		root, err := FindRoot()
		if err != nil {
			return c, err
		}
		c.Root = root
	}
	if c.Addr == "" {
		c.Addr = "127.0.0.1:0"
	}
	if c.APIAddr == "" {
		c.APIAddr = "127.0.0.1:0"
	}
	if c.Binaries == "" {
		c.Binaries = filepath.Join(c.Root, ".local/bin")
	}
	if c.Fonts == "" {
		c.Fonts = filepath.Join(c.Root, ".local/fonts")
	}
	if c.Functions == nil {
		c.Functions = names.Functions()
	}
	if c.Definition == nil {
		c.Definition = definition
	}
	if c.Duplicate == nil {
		c.Duplicate = func(string) bool { return false }
	}
	if c.Log == nil {
		c.Log = slog.Default()
	}
	for _, p := range []*string{&c.Dir, &c.Root, &c.Binaries, &c.Fonts, &c.Logs, &c.Versions} {
		if *p == "" {
			continue
		}
		abs, err := filepath.Abs(*p) // a function's process has another working directory
		if err != nil {
			return c, fmt.Errorf("path %s: %w", *p, err)
		}
		*p = abs
	}
	return c, c.checkBinaries()
}

func (c Config) binary(fn string) string {
	if p, ok := c.Programs[fn]; ok {
		return p
	}
	return filepath.Join(c.Binaries, fn, "bootstrap")
}

func (c Config) worker() string {
	if p, ok := c.Programs[names.PoseWorker]; ok {
		return p
	}
	return filepath.Join(c.Binaries, names.PoseWorker)
}

func (c Config) dynoxide() string {
	return filepath.Join(c.Root, "node_modules/@dynoxide/linux-x64/dynoxide")
}

func kumoDir(dir string) string { return filepath.Join(dir, "kumo") }

// checkBinaries names every program that is missing: each would otherwise fail
// only when it is first needed.
func (c Config) checkBinaries() error {
	paths := []string{c.worker()}
	for _, f := range c.Functions {
		paths = append(paths, c.binary(f.Name))
	}
	var missing []string
	for _, p := range paths {
		if st, err := os.Stat(p); err != nil || st.IsDir() || st.Mode()&0o111 == 0 {
			missing = append(missing, strings.TrimPrefix(p, c.Binaries+"/"))
		}
	}
	if missing != nil {
		return fmt.Errorf("programs missing in %s (make functions builds them): %s", c.Binaries, strings.Join(missing, ", "))
	}
	return nil
}

// FindRoot finds the project's folder upwards from the working directory.
func FindRoot() (string, error) {
	dir, err := os.Getwd()
	for err == nil {
		b, e := os.ReadFile(filepath.Join(dir, "go.mod"))
		if e == nil && strings.HasPrefix(string(b), "module fastbowlinglab\n") {
			return dir, nil
		}
		if e != nil && !errors.Is(e, fs.ErrNotExist) {
			return "", fmt.Errorf("find the project's folder: %w", e)
		}
		up := filepath.Dir(dir)
		if up == dir {
			err = errors.New("the working directory is not inside the project")
		}
		dir = up
	}
	return "", fmt.Errorf("find the project's folder: %w", err)
}

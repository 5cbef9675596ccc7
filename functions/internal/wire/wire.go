// Package wire is what every functions/<name>/cmd/main.go shares: settings from
// the environment, AWS clients' configuration, and a structured log.
package wire

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"sort"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
)

// Env reads the named environment variables. Missing ones end the program,
// named all at once.
func Env(names ...string) map[string]string {
	vals, err := lookup(os.LookupEnv, names)
	if err != nil {
		Fatal(err)
	}
	return vals
}

func lookup(get func(string) (string, bool), names []string) (map[string]string, error) {
	vals := make(map[string]string, len(names))
	var missing []string
	for _, n := range names {
		v, ok := get(n)
		if !ok || v == "" {
			missing = append(missing, n)
		}
		vals[n] = v
	}
	if missing != nil {
		sort.Strings(missing)
		return nil, fmt.Errorf("environment variables are missing: %s", strings.Join(missing, ", "))
	}
	return vals, nil
}

// AWS loads the configuration of AWS clients. The SDK's own retries are off:
// package retry is the one layer that repeats, where repeating is safe.
func AWS() aws.Config {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	cfg, err := config.LoadDefaultConfig(ctx, config.WithRetryer(func() aws.Retryer { return aws.NopRetryer{} }))
	if err != nil {
		Fatal(fmt.Errorf("load the AWS configuration: %w", err))
	}
	return cfg
}

// Log makes the JSON log the default one.
func Log() {
	slog.SetDefault(slog.New(slog.NewJSONHandler(os.Stdout, nil)))
}

// Fatal says why the program cannot start and ends it.
func Fatal(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

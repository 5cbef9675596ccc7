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
	"github.com/aws/aws-sdk-go-v2/credentials"
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

// AWS loads the configuration of AWS clients from wherever it is found, such as
// the credentials of a container. The SDK's own retries are off: package retry
// is the one layer that repeats, where repeating is safe.
func AWS() aws.Config {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	cfg, err := config.LoadDefaultConfig(ctx, config.WithRetryer(noRetries))
	if err != nil {
		Fatal(fmt.Errorf("load the AWS configuration: %w", err))
	}
	return cfg
}

// Lambda is the configuration of AWS clients in a Lambda function: region,
// endpoint and credentials as the runtime puts them into the environment. The
// chain of other sources that package config knows is left out, since it would
// add a tenth to every binary.
func Lambda() aws.Config {
	env := Env("AWS_REGION", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY")
	cfg := aws.Config{
		Region:      env["AWS_REGION"],
		Credentials: credentials.NewStaticCredentialsProvider(env["AWS_ACCESS_KEY_ID"], env["AWS_SECRET_ACCESS_KEY"], os.Getenv("AWS_SESSION_TOKEN")),
		Retryer:     noRetries,
		AppID:       os.Getenv("AWS_SDK_UA_APP_ID"),
	}
	if url := os.Getenv("AWS_ENDPOINT_URL"); url != "" {
		cfg.BaseEndpoint = &url
	}
	return cfg
}

func noRetries() aws.Retryer { return aws.NopRetryer{} }

// Log makes the JSON log the default one.
func Log() {
	slog.SetDefault(slog.New(slog.NewJSONHandler(os.Stdout, nil)))
}

// Fatal says why the program cannot start and ends it.
func Fatal(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

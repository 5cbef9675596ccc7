// Command smoke runs the main job against a deployment: it submits a clip as an
// app does, shows how far it is, and says what came of it. Its output is one JSON
// object, in which what an athlete's token cannot see is empty: notices, model
// calls, cost, time by stage. The rest is for people and goes to standard error.
//
// The access token is read from the environment variable TOKEN, so that it is in
// no list of processes. Its athlete needs one credit, which is spent.
//
// Exit status: 0 when the analysis has an end, whichever; 1 when it has none or
// something is broken; 2 when the command line or the clip is no good.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/signal"
	"syscall"
	"time"

	"fastbowlinglab/integration/demo"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Getenv("TOKEN"), os.Stdout, os.Stderr))
}

func run(ctx context.Context, args []string, token string, out, problems io.Writer) int {
	fs := flag.NewFlagSet("smoke", flag.ContinueOnError)
	fs.SetOutput(problems)
	api := fs.String("api", "", "base `URL` of the HTTP API, as the deploy prints it")
	clip := fs.String("clip", "integration/samples/bowler.mp4", "the video `file`")
	key := fs.String("key", time.Now().UTC().Format("smoke-20060102T150405"), "the submission's `name`; the same name again finds the same analysis")
	state := fs.String("state", ".local/smoke", "the `folder` for results")
	limit := fs.Duration("timeout", 30*time.Minute, "how long to wait for the end")
	if err := fs.Parse(args); err != nil {
		return 2
	}
	say := func(code int, err error) int {
		fmt.Fprintln(problems, "smoke:", err)
		return code
	}
	if u, err := url.Parse(*api); err != nil || u.Scheme == "" || u.Host == "" {
		return say(2, fmt.Errorf("API is %q, want the API's URL: make smoke API=https://HOST TOKEN=JWT", *api))
	}
	if token == "" {
		return say(2, errors.New("TOKEN is empty, want an access token of the user pool: make smoke API=https://HOST TOKEN=JWT"))
	}
	if _, err := demo.OpenClip(*clip); err != nil {
		return say(2, err)
	}
	if err := os.MkdirAll(*state, 0o755); err != nil {
		return say(1, err)
	}
	ctx, cancel := context.WithTimeout(ctx, *limit)
	defer cancel()
	screen := demo.NewScreen(problems)
	sum, err := demo.Run(ctx, demo.Config{
		API:     *api,
		Athlete: func(string) demo.Token { return func(context.Context) (string, error) { return token, nil } },
		Clip:    *clip, Key: *key, Dir: *state, Poll: 2 * time.Second, Screen: screen,
	})
	if sum.AnalysisID != "" {
		sum.Print(problems, screen.Paints())
		if e := json.NewEncoder(out).Encode(sum); e != nil {
			return say(1, e)
		}
	}
	if err != nil {
		return say(1, err)
	}
	return 0
}

// Command demo runs one real analysis on the embedded cloud and says what came
// of it. The last line of its output is one JSON object.
//
// Exit status: 0 when the analysis has an end, whichever; 1 when it has none yet
// or something is broken; 2 when the command line or the clip is no good.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"fastbowlinglab/integration/demo"
	"fastbowlinglab/integration/demo/embedded"
	"fastbowlinglab/integration/local"
	"fastbowlinglab/shared/aitask"
	"fastbowlinglab/shared/names"
)

func main() {
	fs := flag.NewFlagSet("demo", flag.ContinueOnError)
	clip := fs.String("clip", "integration/samples/bowler.mp4", "the video `file`")
	key := fs.String("key", "", "a `name` that makes another submission of the same clip")
	limit := fs.Duration("timeout", 30*time.Minute, "how long to wait for the end")
	state := fs.String("state", ".local", "the `folder` that keeps the embedded cloud's state and the results")
	images := fs.String("images", "", "run the worker and the precheck in the images of this `folder`, as make image fills it")
	provider := fs.String("provider", aitask.RulesProvider, "`who` writes the texts: rules, or bedrock (a stand-in that the embedded cloud serves)")
	if err := fs.Parse(os.Args[1:]); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return
		}
		os.Exit(2)
	}
	if fs.NArg() > 0 {
		fail(2, fmt.Errorf("%q is no flag; the clip is given with -clip", fs.Arg(0)))
	}
	if _, err := demo.OpenClip(*clip); err != nil {
		fail(2, err)
	}
	model, err := modelOf(*provider)
	if err != nil {
		fail(2, err)
	}
	if *key == "" && *provider != aitask.RulesProvider {
		*key = *provider // another submission than that of the rules
	}
	dir := filepath.Join(*state, "cloud")
	if err := local.Prepare(dir); err != nil {
		fail(1, err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, *limit)
	defer cancel()
	if err := run(ctx, dir, *state, *clip, *key, *images, model); err != nil {
		if errors.Is(err, demo.ErrStillOpen) {
			err = fmt.Errorf("%w; nothing is lost: the same command goes on from there", err)
		}
		fail(1, err)
	}
}

// run starts the cloud, runs the job on it and prints what came of it.
func run(ctx context.Context, dir, state, clip, key, images, model string) (err error) {
	log, err := logger(state)
	if err != nil {
		return err
	}
	cfg := local.Config{Dir: dir, Logs: filepath.Join(state, "logs"), Log: log}
	if images != "" {
		if cfg, err = cfg.InImages(images, filepath.Join(state, "bin/inimage")); err != nil {
			return err
		}
	}
	c, err := local.Start(ctx, cfg)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	for _, t := range aitask.Tasks() {
		if err := c.SetParameter(ctx, t.Setting(names.Parameters), model); err != nil {
			return err
		}
	}
	job := embedded.Config(c, clip, key, state)
	job.Screen = demo.NewScreen(os.Stdout)
	sum, err := demo.Run(ctx, job)
	if sum.AnalysisID == "" {
		return err
	}
	sum.Print(os.Stdout, job.Screen.Paints())
	line, e := json.Marshal(sum)
	if e != nil {
		return errors.Join(err, e)
	}
	if fault := sum.Fault(); err == nil && fault != nil {
		fmt.Printf("  %v; %s has each program's log; the same command shows this end again, KEY=another submits the clip anew\n\n", fault, cfg.Logs)
	}
	fmt.Println(string(line))
	return err
}

// modelOf is the setting by which every task uses a provider.
func modelOf(provider string) (string, error) {
	switch provider {
	case aitask.RulesProvider:
		return aitask.DefaultModel.String(), nil
	case aitask.BedrockProvider:
		return aitask.BedrockProvider + ":" + local.StandInModel, nil
	}
	return "", fmt.Errorf("-provider is %q, want %s or %s", provider, aitask.RulesProvider, aitask.BedrockProvider)
}

// logger writes the cloud's own log beside those of the functions, so that the
// screen stays calm.
func logger(state string) (*slog.Logger, error) {
	dir := filepath.Join(state, "logs")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(filepath.Join(dir, "cloud.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, err
	}
	log := slog.New(slog.NewJSONHandler(f, nil))
	slog.SetDefault(log)
	return log, nil
}

func fail(code int, err error) {
	fmt.Fprintln(os.Stderr, "demo:", err)
	os.Exit(code)
}

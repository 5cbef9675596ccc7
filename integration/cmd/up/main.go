// Command up keeps the embedded cloud up on its kept state until SIGINT or
// SIGTERM, and prints how to use it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"fastbowlinglab/integration/local"
)

func main() {
	state := flag.String("state", ".local", "the `folder` that keeps the embedded cloud's state")
	addr := flag.String("addr", "127.0.0.1:4566", "the endpoint's `address` (port 0: a free one)")
	api := flag.String("api", "127.0.0.1:4580", "the HTTP API's `address` (port 0: a free one)")
	flag.Parse()
	if flag.NArg() > 0 {
		fail(2, fmt.Errorf("%q is no flag; -h lists them", flag.Arg(0)))
	}
	dir := filepath.Join(*state, "cloud")
	if err := local.Prepare(dir); err != nil {
		fail(1, err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := up(ctx, local.Config{Dir: dir, Addr: *addr, APIAddr: *api, Logs: filepath.Join(*state, "logs"),
		Log: slog.New(slog.NewJSONHandler(os.Stderr, nil))}); err != nil {
		fail(1, err)
	}
}

// up runs the cloud until ctx ends.
func up(ctx context.Context, cfg local.Config) (err error) {
	c, err := local.Start(ctx, cfg)
	if errors.Is(err, syscall.EADDRINUSE) {
		return fmt.Errorf("%w; to use free ports: make up ARGS='-addr 127.0.0.1:0 -api 127.0.0.1:0'", err)
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	guide, err := c.Guide()
	if err != nil {
		return err
	}
	fmt.Print(guide)
	if err := c.Wait(ctx); err != nil {
		return err
	}
	fmt.Println("stopping")
	return nil
}

func fail(code int, err error) {
	fmt.Fprintln(os.Stderr, "up:", err)
	os.Exit(code)
}

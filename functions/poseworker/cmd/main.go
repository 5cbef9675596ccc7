// Command poseworker is the program of the pose fleet's tasks.
package main

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"runtime"
	"syscall"

	"fastbowlinglab/functions/internal/wire"
	"fastbowlinglab/functions/poseworker"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/pose/engine"
)

func main() {
	wire.Log()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	env := wire.Env(names.WorkerEnv()...)
	passes, err := passes()
	if err != nil {
		wire.Fatal(err)
	}
	eng, err := engine.Open(engine.Config{ModelsDir: env[names.EnvModels], ORTLibrary: env[names.EnvORT], Model: env[names.EnvPoseModel],
		Threads: max(1, runtime.GOMAXPROCS(0)/passes)})
	if err != nil {
		wire.Fatal(err)
	}
	defer eng.Close()
	w, err := poseworker.New(deps(env, passes, eng))
	if err != nil {
		wire.Fatal(err)
	}
	ln, err := net.Listen("tcp", poseworker.ListenAddress())
	if err != nil {
		wire.Fatal(fmt.Errorf("pose worker: %w", err))
	}
	slog.Info("listening", "address", ln.Addr().String())
	go w.Serve(ln) // until the process ends: it says to the last that it is leaving
	if err := w.Run(ctx); err != nil {
		wire.Fatal(fmt.Errorf("pose worker: %w", err))
	}
}

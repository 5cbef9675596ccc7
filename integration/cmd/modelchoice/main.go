// Command modelchoice follows the bowler of rendered clips by two landmark models
// and prints, for the frames from back-foot contact to just after release, how far
// each is from the truth and what it costs: the table of shared/pose/README.md.
//
//	go run ./integration/cmd/modelchoice integration/samples/bowler.mp4
//
// The truth lies beside each clip, as <clip>.truth.json.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"fastbowlinglab/shared/media"
	"fastbowlinglab/shared/pose"
	"fastbowlinglab/shared/pose/engine"
)

func main() {
	log.SetFlags(0)
	models := flag.String("models", "full,heavy", "landmark models, comma-separated")
	flag.Parse()
	if flag.NArg() == 0 {
		log.Fatal("usage: modelchoice [-models full,heavy] clip.mp4 ...")
	}
	fmt.Println("| clip | model | frames | elbow | front knee | trunk | wrist, torsos | arms exchanged | CPU ms a frame |\n|---|---|---|---|---|---|---|---|---|")
	for _, m := range strings.Split(*models, ",") {
		if err := run(m, flag.Args()); err != nil {
			log.Fatal(err)
		}
	}
}

// run follows all clips by one model, and prints a row for each and one for all.
func run(model string, clips []string) error {
	e, err := engine.Open(engine.Config{ModelsDir: "node_modules/@mediapipe/pose",
		ORTLibrary: "node_modules/onnxruntime-node/bin/napi-v6/linux/x64/libonnxruntime.so.1", Model: model})
	if err != nil {
		return err
	}
	defer e.Close()
	var all errors
	var spent time.Duration
	frames := 0
	for _, c := range clips {
		tr, err := readTruth(strings.TrimSuffix(c, filepath.Ext(c)) + ".truth.json")
		if err != nil {
			return err
		}
		begun := cpu()
		track, err := follow(e, c)
		if err != nil {
			return fmt.Errorf("%s: %w", c, err)
		}
		took := cpu() - begun
		got := tr.against(track)
		fmt.Println(got.row(strings.TrimSuffix(filepath.Base(c), ".mp4"), model, took, len(track)))
		all.add(got)
		spent, frames = spent+took, frames+len(track)
	}
	fmt.Println(all.row("all", model, spent, frames))
	return nil
}

func follow(e *engine.Engine, clip string) ([]pose.Frame, error) {
	ctx := context.Background()
	info, err := media.Probe(ctx, clip, media.DefaultLimits())
	if err != nil {
		return nil, err
	}
	var out []pose.Frame
	err = e.Track(ctx, clip, info, nil, func(c pose.Chunk) error {
		out = append(out, c.Frames...)
		return nil
	})
	return out, err
}

// cpu is the processor time of this process, the decoder's apart.
func cpu() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func readTruth(file string) (truth, error) {
	var t truth
	b, err := os.ReadFile(file)
	if err != nil {
		return t, err
	}
	if err := json.Unmarshal(b, &t); err != nil {
		return t, fmt.Errorf("%s: %w", file, err)
	}
	if t.Label != "bowling" {
		return t, fmt.Errorf("%s: no delivery", file)
	}
	return t, nil
}

// quantile of unsorted values; 0 of none.
func quantile(v []float64, q float64) float64 {
	if len(v) == 0 {
		return 0
	}
	s := slices.Sorted(slices.Values(v))
	return s[min(len(s)-1, int(q*float64(len(s))))]
}

// Command motiondata makes the tracks and truths under shared/motion/testdata:
// it renders seeded deliveries (integration/samples/gen), follows the bowler with
// the product's pose engine and keeps the landmarks, with what is true of each
// clip beside them. Takes some minutes; see shared/motion/README.md.
//
//	go run ./integration/cmd/motiondata -only h41
package main

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"fastbowlinglab/shared/media"
	"fastbowlinglab/shared/pose"
	"fastbowlinglab/shared/pose/engine"
)

func main() {
	log.SetFlags(0)
	only := flag.String("only", "", "comma-separated names of clips; default all")
	out := flag.String("o", "shared/motion/testdata", "folder to write to")
	model := flag.String("model", "full", "landmark model")
	keep := flag.String("clips", "", "folder to render to and to find clips rendered before; default one that is removed")
	flag.Parse()
	if err := run(*only, *out, *model, *keep); err != nil {
		log.Fatal(err)
	}
}

func run(only, out, model, keep string) error {
	tmp := keep
	if tmp == "" {
		var err error
		if tmp, err = os.MkdirTemp("", "motiondata"); err != nil {
			return err
		}
		defer os.RemoveAll(tmp)
	}
	e, err := engine.Open(engine.Config{ModelsDir: "node_modules/@mediapipe/pose",
		ORTLibrary: "node_modules/onnxruntime-node/bin/napi-v6/linux/x64/libonnxruntime.so.1", Model: model})
	if err != nil {
		return err
	}
	defer e.Close()
	for _, c := range clips() {
		if only != "" && !strings.Contains(","+only+",", ","+c.name+",") {
			continue
		}
		video, truthFile, err := c.prepare(tmp)
		if err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		n, err := follow(e, video, filepath.Join(out, c.name+"."+model+".json.gz"))
		if err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		if err := slim(truthFile, c, filepath.Join(out, c.name+".truth.json")); err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		log.Printf("%s: %d frames", c.name, n)
	}
	return nil
}

// prepare gives the clip's video, and its truth at 240 frames a second for a
// seed, so that an instant between two frames is known.
func (c clip) prepare(tmp string) (video, truth string, err error) {
	if c.seed == 0 {
		base := filepath.Join("integration", "samples", c.file)
		return base + ".mp4", base + ".truth.json", nil
	}
	video, truth = filepath.Join(tmp, c.name+".mp4"), filepath.Join(tmp, c.name+"-240.truth.json")
	if _, err := os.Stat(truth); err == nil {
		return video, truth, nil // rendered before
	}
	gen := func(name string, rate int, more ...string) error {
		args := append([]string{"run", "./integration/samples/gen", "-o", tmp, "-seed", strconv.Itoa(c.seed), "-name", name,
			"-fps", strconv.Itoa(rate), "-from", c.from, "-to", c.to}, append(strings.Fields(c.flags), more...)...)
		if b, err := exec.Command("go", args...).CombinedOutput(); err != nil {
			return fmt.Errorf("render: %w: %s", err, b)
		}
		return nil
	}
	if err := gen(c.name, c.rate); err != nil {
		return "", "", err
	}
	return video, truth, gen(c.name+"-240", 240, "-truth")
}

// follow tracks the bowler of a clip and stores the track.
func follow(e *engine.Engine, video, file string) (int, error) {
	ctx := context.Background()
	info, err := media.Probe(ctx, video, media.DefaultLimits())
	if err != nil {
		return 0, err
	}
	var t pose.Track
	err = e.Track(ctx, video, info, nil, func(c pose.Chunk) error {
		t.Width, t.Height, t.Mirrored, t.OtherRuns = c.Width, c.Height, c.Mirrored, c.OtherRuns
		t.Frames = append(t.Frames, c.Frames...)
		return nil
	})
	if err != nil {
		return 0, err
	}
	f, err := os.Create(file)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	z := gzip.NewWriter(f)
	if err := json.NewEncoder(z).Encode(t); err != nil {
		return 0, err
	}
	if err := z.Close(); err != nil {
		return 0, err
	}
	return len(t.Frames), f.Close()
}

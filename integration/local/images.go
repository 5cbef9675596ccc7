package local

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"

	"fastbowlinglab/integration/local/proc"
	"fastbowlinglab/shared/names"
)

// InImages has the programs that ship as images run in them: store is the folder
// that `make image` filled, engine the program of integration/cmd/inimage, which
// stands in for the container engine.
func (c Config) InImages(store, engine string) (Config, error) {
	for _, p := range []*string{&store, &engine} {
		abs, err := filepath.Abs(*p)
		if err == nil {
			_, err = os.Stat(abs)
		}
		if err != nil {
			return c, fmt.Errorf("run programs in their images: %w", err)
		}
		*p = abs
	}
	programs, env := map[string]string{names.PoseWorker: engine}, map[string]string{proc.EnvImageStore: store}
	for _, f := range names.Functions() {
		if f.Package == names.Image {
			programs[f.Name] = engine
		}
	}
	maps.Copy(programs, c.Programs)
	maps.Copy(env, c.Env)
	c.Programs, c.Env = programs, env
	return c, nil
}

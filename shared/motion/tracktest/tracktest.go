// Package tracktest reads the tracks of rendered clips that tests measure: those
// under shared/motion/testdata, which integration/cmd/motiondata makes.
package tracktest

import (
	"compress/gzip"
	"encoding/json"
	"os"
	"testing"

	"fastbowlinglab/shared/pose"
)

// Read reads a track's packed JSON. The test fails if the file is not one.
func Read(t testing.TB, file string) pose.Track {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	var tr pose.Track
	if err := json.NewDecoder(z).Decode(&tr); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	if tr.Width <= 0 || tr.Height <= 0 || len(tr.Frames) == 0 {
		t.Fatalf("%s: %d frames of %d by %d pixels", file, len(tr.Frames), tr.Width, tr.Height)
	}
	return tr
}

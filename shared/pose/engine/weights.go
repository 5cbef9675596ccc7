package engine

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
)

// weights is one of the files of the npm package @mediapipe/pose 0.5.1675469404
// (Apache-2.0), by its sha256. size is its length: the detector is also found
// as the beginning of pose_solution_packed_assets.data, as the package ships it.
type weights struct {
	files []string
	size  int64
	sum   string
}

var detectorWeights = weights{
	[]string{"pose_detection.tflite", "pose_solution_packed_assets.data"}, 2_962_288,
	"a63c614bef30d35947f13be361820b1e4e3bec9cfeebf4d11216a18373108e85",
}

var landmarkWeights = map[string]weights{
	"lite": {[]string{"pose_landmark_lite.tflite"}, 2_819_824,
		"f17bfbecadb61c3be1baa8b8d851cc6619c870a87167b32848ad20db306b9d61"},
	"full": {[]string{"pose_landmark_full.tflite"}, 6_440_512,
		"e9a5c5cb17f736fafd4c2ec1da3b3d331d6edbe8a0d32395855aeb2cdfd64b9f"},
	"heavy": {[]string{"pose_landmark_heavy.tflite"}, 27_709_200,
		"59e42d71bcd44cbdbabc419f0ff76686595fd265419566bd4009ef703ea8e1fe"},
}

// load reads the weights from dir and refuses any other content.
func (w weights) load(dir string) ([]byte, error) {
	var firstErr error
	for _, name := range w.files {
		b, err := readPrefix(filepath.Join(dir, name), w.size)
		if err != nil {
			if firstErr == nil {
				firstErr = err
			}
			continue
		}
		sum := sha256.Sum256(b)
		if got := hex.EncodeToString(sum[:]); got != w.sum {
			return nil, fmt.Errorf("load weights: %s has sha256 %s, want %s", name, got, w.sum)
		}
		return b, nil
	}
	return nil, fmt.Errorf("load weights: %w", firstErr)
}

func readPrefix(path string, n int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if st.Size() < n {
		return nil, fmt.Errorf("%s: %d bytes, want %d", filepath.Base(path), st.Size(), n)
	}
	b := make([]byte, n)
	if _, err := f.ReadAt(b, 0); err != nil {
		return nil, err
	}
	return b, nil
}

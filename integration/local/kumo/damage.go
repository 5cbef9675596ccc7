package kumo

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// undamaged refuses a state folder with a file that kumo could not have read: it
// takes such a file as none, begins anew without a word, and writes over it.
func undamaged(dir string) error {
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		return fmt.Errorf("state folder %s: %w", dir, err)
	}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			return fmt.Errorf("read kept state: %w", err)
		}
		var members map[string]json.RawMessage
		if err := json.Unmarshal(b, &members); err != nil {
			return fmt.Errorf("kept state: %s is damaged: %w; put it back from a copy, or `make clean` forgets all state", file, err)
		}
	}
	return nil
}

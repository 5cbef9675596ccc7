package pump

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sync"
)

// positions keeps the last handled sequence number of each shard.
type positions struct {
	file string
	mu   sync.Mutex
	seq  map[string]string
}

// openPositions reads the file. One that is missing or cannot be read means the
// beginning: a stream may be handled twice, never skipped.
func openPositions(file string) *positions {
	p := &positions{file: file, seq: map[string]string{}}
	if b, err := os.ReadFile(file); file != "" && err == nil {
		var kept map[string]string
		if json.Unmarshal(b, &kept) == nil && kept != nil {
			p.seq = kept
		}
	}
	return p
}

func (p *positions) get(shard string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.seq[shard]
}

func (p *positions) set(shard, seq string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.seq[shard] = seq
	if p.file == "" {
		return nil
	}
	b, err := json.Marshal(p.seq)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(p.file), 0o755)
	}
	tmp := p.file + ".tmp"
	if err == nil {
		err = os.WriteFile(tmp, b, 0o644)
	}
	if err == nil {
		err = os.Rename(tmp, p.file)
	}
	if err != nil {
		return fmt.Errorf("keep the position: %w", err)
	}
	return nil
}

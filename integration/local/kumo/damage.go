package kumo

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// undamaged refuses a state folder with a file that kumo could not have read in full:
// what it cannot read it takes as none, without a word, and writes over. A file is
// sound when kumo's own reader takes it, and would write back all that is in it.
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
		if err := sound(dir, strings.TrimSuffix(filepath.Base(file), ".json"), b); err != nil {
			return fmt.Errorf("kept state: %s is damaged: %w; put it back from a copy, or `make clean` forgets all state", file, err)
		}
	}
	return nil
}

// sound looks at the file of a service.
func sound(dir, service string, b []byte) error {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(b, &members); err != nil {
		return err
	}
	if service == "inflight" {
		_, err := readInflight(b)
		return err
	}
	r, ok := readers[service]
	if !ok { // one that is not used here
		return nil
	}
	out, err := r.again(b)
	if err != nil {
		return err
	}
	where, err := dropped(b, out)
	if err != nil {
		return err
	}
	if where != "" {
		return fmt.Errorf("%s is nothing that the service knows, and would be lost", where)
	}
	if service == "s3" {
		return whole(dir, b)
	}
	return nil
}

// whole looks whether every object has its content: one without would be served as
// an empty one.
func whole(dir string, b []byte) error {
	snap, err := readSnapshot(b)
	if err != nil {
		return err
	}
	for _, bucket := range snap.Buckets {
		for _, o := range bucket.Objects {
			if err := o.whole(dir); err != nil {
				return err
			}
		}
		for _, versions := range bucket.Versions {
			for _, o := range versions {
				if err := o.whole(dir); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func (o blob) whole(dir string) error {
	if o.IsDeleteMarker || o.Size == 0 {
		return nil
	}
	if o.BodyRef == "" {
		return fmt.Errorf("version %q of %s names no content", o.VersionID, o.Key)
	}
	info, err := os.Stat(filepath.Join(dir, "s3-objects", o.BodyRef))
	if err == nil && info.Size() != o.Size {
		err = fmt.Errorf("%s holds %d bytes", o.BodyRef, info.Size())
	}
	if err != nil {
		return fmt.Errorf("version %q of %s, of %d bytes: %w", o.VersionID, o.Key, o.Size, err)
	}
	return nil
}

// readInflight reads the file of messages in flight, strictly.
func readInflight(b []byte) (map[string]received, error) {
	var all map[string]received
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&all); err != nil {
		return nil, err
	}
	for id, m := range all {
		if m.Queue == "" || m.Handle == "" || m.Visible.IsZero() {
			return nil, fmt.Errorf("message %s has no queue, no handle or no time", id)
		}
	}
	return all, nil
}

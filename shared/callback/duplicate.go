package callback

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// ErrDuplicateMember says that an object names a member twice. Readers of JSON
// differ in which of the two counts (RFC 8259, section 4), so what was signed
// would mean two things.
var ErrDuplicateMember = errors.New("callback: duplicate member")

// maxDepth bounds how deep a body may nest.
const maxDepth = 16

// NoDuplicateMembers refuses a body in which an object has a member twice, at any
// depth, or that nests too deep to tell. What is not JSON at all is left to the
// one who reads it.
func NoDuplicateMembers(body []byte) error {
	err := duplicates(json.NewDecoder(bytes.NewReader(body)), 0)
	if errors.Is(err, ErrDuplicateMember) {
		return err
	}
	return nil
}

func duplicates(dec *json.Decoder, depth int) error {
	tok, err := dec.Token()
	if err != nil {
		return err
	}
	open, ok := tok.(json.Delim)
	if !ok {
		return nil
	}
	if depth == maxDepth {
		return fmt.Errorf("%w, or it nests deeper than %d", ErrDuplicateMember, maxDepth)
	}
	seen := map[string]bool{}
	for dec.More() {
		if open == '{' {
			tok, err := dec.Token()
			if err != nil {
				return err
			}
			name, _ := tok.(string)
			if seen[name] {
				return ErrDuplicateMember
			}
			seen[name] = true
		}
		if err := duplicates(dec, depth+1); err != nil {
			return err
		}
	}
	_, err = dec.Token()
	return err
}

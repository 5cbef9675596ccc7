package api

import (
	"encoding/base64"
	"encoding/json"
	"reflect"
	"strconv"
)

// Limits of a page.
const (
	defaultPage = 20
	maxPage     = 100
)

// limit reads how many of a list are wanted at most.
func (r request) limit(def int) (int, error) {
	q, given := r.QueryStringParameters["limit"]
	if !given {
		return def, nil
	}
	n, err := strconv.Atoi(q)
	if err != nil || n < 1 || n > maxPage {
		return 0, invalid("limit: a number from 1 to %d", maxPage)
	}
	return n, nil
}

// maxCursor bounds a cursor: its parts become keys, and the table refuses a key
// that is too long with an error that would not be the client's.
const maxCursor = 512

// cursor reads where the last page ended, into a struct of strings none of which
// may be missing. Without one, into stays as it is.
func (r request) cursor(into any) error {
	q, given := r.QueryStringParameters["cursor"]
	if !given {
		return nil
	}
	bad := invalid("cursor: not one that this API gave")
	if len(q) > maxCursor {
		return bad
	}
	b, err := base64.RawURLEncoding.DecodeString(q)
	if err != nil || json.Unmarshal(b, into) != nil {
		return bad
	}
	v := reflect.ValueOf(into).Elem()
	for i := range v.NumField() {
		if v.Field(i).String() == "" {
			return bad
		}
	}
	return nil
}

// cursorText is a cursor as clients see it: opaque.
func cursorText(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic("api: encode a cursor: " + err.Error()) // a struct of strings always encodes
	}
	return base64.RawURLEncoding.EncodeToString(b)
}

package callback_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fastbowlinglab/shared/callback"
)

// Field case 54, h4: a member that comes twice cannot point somewhere else.
func TestNoDuplicateMembers(t *testing.T) {
	for body, want := range map[string]bool{
		`{"a":1,"b":{"a":1,"c":[{"a":1},{"a":2}]}}`: false, `{"a":1,"a":1}`: true, `{"b":{"a":1,"\u0061":2}}`: true, `[[{"x":0,"x":1}]]`: true,
		`{"a":1}{"a":2}`: false, `{"a":`: false, ``: false, `"a"`: false, strings.Repeat("[", 40): true, `{"a":1,"A":2}`: false,
	} {
		if err := callback.NoDuplicateMembers([]byte(body)); errors.Is(err, callback.ErrDuplicateMember) != want {
			t.Errorf("%.60s: %v, want refused %t", body, err, want)
		}
	}
	b, err := os.ReadFile(filepath.Join("..", "..", "..", "shared", "cases", "payloads", "h4_key_order_dup.json"))
	if err != nil {
		t.Skip("../shared/cases is not here")
	}
	if !errors.Is(callback.NoDuplicateMembers(b), callback.ErrDuplicateMember) {
		t.Errorf("h4 was taken: %s", b)
	}
}

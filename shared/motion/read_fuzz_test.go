package motion

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

// FuzzReadResult: whatever is accepted can be written, and is the same when read
// again, so that no reader further on meets what JSON cannot hold.
func FuzzReadResult(f *testing.F) {
	f.Add(`{"version":1,"engine":"e","model":"full","clips":[{"index":0,"refused":"not_bowling"}]}`)
	f.Add(`{"version":1,"clips":[{"index":0,"phases":[{"name":"release","time":1.4,"frame":86,"points":[{"x":1,"y":2,"v":0.5}]}],
		"measures":[{"name":"elbow_angle","phase":"release","value":170,"unit":"degrees","band":14,"confidence":0.8}],
		"series":[{"name":"elbow","unit":"degrees","times":[0,0.1],"values":[null,170],"band":14}],"warnings":["w"]}]}`)
	f.Add(`{"version":1,"clips":[{"series":[{"times":[1e308],"values":[-1e308]}]}]}{}`)
	f.Fuzz(func(t *testing.T, s string) {
		r, err := ReadResult(strings.NewReader(s))
		if err != nil {
			return
		}
		b, err := json.Marshal(r)
		if err != nil {
			t.Fatalf("accepted, and cannot be written: %v", err)
		}
		again, err := ReadResult(bytes.NewReader(b))
		if err != nil {
			t.Fatalf("written, and not accepted: %v", err)
		}
		if c, err := json.Marshal(again); err != nil || !bytes.Equal(b, c) {
			t.Fatalf("changes when it is read again (%v):\n%s\n%s", err, b, c)
		}
		if again.Usable() != r.Usable() || len(again.Clips) != len(r.Clips) {
			t.Fatal("another result when it is read again")
		}
	})
}

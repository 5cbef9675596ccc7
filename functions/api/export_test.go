package api_test

import (
	"strings"
	"testing"

	"fastbowlinglab/shared/names"
)

// A clip is exported as it was confirmed and analysed, whatever was uploaded over it
// through a form that was still good.
func TestExportLinksWhatWasConfirmed(t *testing.T) {
	w := newWorld(t)
	w.grant(1)
	id := w.confirmed("k")
	row, err := w.deps.Life.Get(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	key := names.ClipKey(id, 0)
	w.bucket.put(key, "something longer than what was confirmed")
	found := false
	for _, a := range w.do(call{route: "GET /v1/me/export"}).want(t, 200, "").body["analyses"].([]any) {
		for _, f := range a.(map[string]any)["files"].([]any) {
			if f := f.(map[string]any); f["name"] == key {
				found = true
				if c := row.Clips[0]; !strings.Contains(f["url"].(string), "versionId="+c.VersionID) || int64(f["size_bytes"].(float64)) != c.SizeBytes {
					t.Errorf("exported as %v; confirmed was version %s of %d bytes", f, c.VersionID, c.SizeBytes)
				}
			}
		}
	}
	if !found {
		t.Error("the clip is not exported")
	}
}

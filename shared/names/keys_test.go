package names

import (
	"encoding/json"
	"net/url"
	"os"
	"path/filepath"
	"testing"
)

// Field case 21: S3 encodes the keys in its events. Nothing here is driven by such
// events (an upload counts when confirm has read it), and no key of ours changes
// by being decoded once, twice or not at all, so that none can be missed.
func TestKeysAreTheSameEncodedOrNot(t *testing.T) {
	const id = "an-0123456789abcdef"
	keys := []string{ClipKey(id, 7), ChunkKey(id, 2, 3, 1, 4), PoseResultKey(id, 2, 3), FrameKey(id, 2, 3, 1, "front_foot_contact"),
		TextKey(id, 2, "findings"), ReportPDFKey(id, 2), ReportJSONKey(id, 2), BatchKey("run-1", 2),
		RevisionPDFKey(id, 2, 1, RevisionName(EffectMeasure, "v2.1")), RevisedResultKey(id, 2, RevisionName(EffectMeasure, "v2.1"))}
	for _, k := range keys {
		once, err := url.QueryUnescape(k)
		if err != nil || once != k {
			t.Errorf("%s decodes to %s, %v", k, once, err)
		}
		if path := (&url.URL{Path: k}).EscapedPath(); path != k {
			t.Errorf("%s is written %s in a URL", k, path)
		}
	}
	for _, name := range []string{"s1_space_plus.json", "s2_tamil.json"} {
		b, err := os.ReadFile(filepath.Join("..", "..", "..", "shared", "cases", "payloads", name))
		if err != nil {
			t.Skipf("%s is not here", name)
		}
		var e struct {
			Records []struct {
				S3 struct {
					Object struct{ Key string }
				}
			}
		}
		if err := json.Unmarshal(b, &e); err != nil || len(e.Records) == 0 {
			t.Fatalf("%s: %d records, %v", name, len(e.Records), err)
		}
		k := e.Records[0].S3.Object.Key
		if once, err := url.QueryUnescape(k); err != nil || once == k {
			t.Errorf("%s is no example of what must not be ours: %s", name, k)
		}
	}
}

package kumo_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fastbowlinglab/integration/local/kumo"
)

// kumo takes a file that it cannot read as none. We say so, leave the file as it
// is, and leave the services to the next who asks.
func TestDamagedStateIsRefused(t *testing.T) {
	for _, damage := range [][2]string{
		{"s3.json", `{"buckets":{"fbl-media":{"na`}, {"sqs.json", ""}, {"sesv2.json", "[]"}, {"inflight.json", "null\x00"},
		// JSON objects, and something else one level down or further.
		{"s3.json", `{"buckets":[]}`}, {"s3.json", `{"bucket":{"fbl-media":{"name":"fbl-media"}}}`}, {"s3.json", `{"buckets":{"fbl-media":{"name":"fbl-media","objects":[1]}}}`},
		{"s3.json", `{"buckets":{"fbl-media":{"name":"fbl-media","objects":{"a":{"Key":"a","Size":4}}}}}`},
		{"s3.json", `{"buckets":{"fbl-media":{"name":"fbl-media","versions":{"a":[{"Key":"a","Size":4,"VersionID":"v1","bodyRef":"cc"}]}}}}`},
		{"sqs.json", `{"queues":"none"}`}, {"sqs.json", `{"queues":{"q":{"message":[{}]}}}`}, {"sqs.json", `{"queues":{"q":{"messages":{}}}}`},
		{"sesv2.json", `{"sentEmails":{}}`}, {"sesv2.json", `{"sent":[{}]}`}, {"ssm.json", `{"parameters":[]}`}, {"ssm.json", `{"parameter":{"/a":{"Value":"v"}}}`},
		{"secretsmanager.json", `{"secrets":[1]}`}, {"sns.json", `{"topics":3}`}, {"eventbridge.json", `{"rules":{"bus":[]}}`},
		{"inflight.json", `{"m":[]}`}, {"inflight.json", `{"m":{"Queu":"q"}}`}, {"inflight.json", `{"m":{"Queue":"/q"}}`},
	} {
		name, content := damage[0], damage[1]
		dir := t.TempDir()
		t.Setenv("KUMO_DATA_DIR", dir)
		check(t, os.WriteFile(filepath.Join(dir, "ssm.json"), []byte("{}"), 0o644))
		file := filepath.Join(dir, name)
		check(t, os.WriteFile(file, []byte(content), 0o644))
		_, release, err := kumo.New(kumo.Config{Dir: dir})
		if err == nil {
			check(t, release())
			t.Errorf("a damaged %s was taken as sound: %s", name, content)
			continue
		}
		if !strings.Contains(err.Error(), file) || !strings.Contains(err.Error(), "make clean") {
			t.Errorf("%s: %v names no file, or no way out", name, err)
		}
		if b, err := os.ReadFile(file); err != nil || string(b) != content {
			t.Errorf("%s was changed: %q, %v", name, b, err)
		}
	}
	t.Setenv("KUMO_DATA_DIR", "")
	_, release, err := kumo.New(kumo.Config{})
	check(t, err)
	check(t, release())
}

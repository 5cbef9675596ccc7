package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"mime/multipart"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"fastbowlinglab/shared/names"
)

// form sends a presigned POST with these fields, in order, and the file last.
func (w *world) form(url string, fields [][2]string, content string) int {
	w.t.Helper()
	var b bytes.Buffer
	m := multipart.NewWriter(&b)
	for _, f := range fields {
		_ = m.WriteField(f[0], f[1]) // into memory
	}
	f, _ := m.CreateFormFile("file", "../../other\r\nname.mp4")
	_, _ = io.WriteString(f, content)
	_ = m.Close()
	resp, err := http.Post(url, m.FormDataContentType(), &b)
	if err != nil {
		w.t.Fatal(err)
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, resp.Body)
	return resp.StatusCode
}

func ordered(fields map[string]string, change ...[2]string) (out [][2]string) {
	f := maps.Clone(fields)
	for _, c := range change {
		f[c[0]] = c[1]
	}
	for k, v := range f {
		if v != "" {
			out = append(out, [2]string{k, v})
		}
	}
	return out
}

// Field case 18: whatever type the browser sends, and whatever size it declared,
// the clip arrives, and the confirm tells what arrived. Only the form's own key
// can be written. (That a form's policy is signed is S3's to check: the embedded
// cloud checks its conditions alone.)
func TestUploadForms(t *testing.T) {
	w := start(t)
	token, op := w.tokens()
	w.grant(op, 2)
	var mine, other created
	for key, c := range map[string]*created{"mine": &mine, "other": &other} {
		if err := json.Unmarshal(w.call("POST", "/v1/analyses", token, key, submission(10)).body, c); err != nil {
			t.Fatal(err)
		}
	}
	up := mine.Uploads[0]
	fields := up.Fields
	keys := func() map[string]bool {
		got := map[string]bool{}
		for _, k := range w.versions() {
			got[k] = true
		}
		return got
	}

	theirs := names.ClipKey(other.AnalysisID, 0)
	for what, f := range map[string][][2]string{
		"another's key":         ordered(fields, [2]string{"key", theirs}),
		"a key below ours":      ordered(fields, [2]string{"key", fields["key"] + "/more"}),
		"a key with a filename": ordered(fields, [2]string{"key", "clips/${filename}"}),
		"dots":                  ordered(fields, [2]string{"key", fields["key"] + "/../../" + theirs}),
		"no key":                ordered(fields, [2]string{"key", ""}),
	} {
		if status := w.form(up.URL, f, "0123456789"); status/100 == 2 {
			t.Errorf("%s: %d", what, status)
		}
	}
	if got := keys(); len(got) != 0 {
		t.Fatalf("something was stored: %v", got)
	}
	if strings.Contains(up.URL, mine.AnalysisID) {
		t.Errorf("the form's address is %s", up.URL)
	}

	for i, kind := range []string{"video/quicktime", "application/octet-stream", "video/mp4; codecs=\"hvc1\"", "x"} {
		body := strings.Repeat("v", 9+i) // declared are 10
		if status := w.form(up.URL, ordered(fields, [2]string{"Content-Type", kind}), body); status/100 != 2 {
			t.Errorf("type %q: %d", kind, status)
		}
	}
	if got := keys(); len(got) != 1 || !got[names.ClipKey(mine.AnalysisID, 0)] {
		t.Fatalf("stored %v", got)
	}
	// The versions before the confirm do not matter; nor does one that comes after.
	if a := w.call("POST", "/v1/analyses/"+mine.AnalysisID+"/confirm", token, "", nil); a.status != http.StatusAccepted {
		t.Fatalf("confirm: %d %s", a.status, a.body)
	}
	pinned := w.row(mine.AnalysisID).Clips[0]
	if pinned.SizeBytes != 12 || pinned.VersionID == "" {
		t.Errorf("pinned %+v, want the 12 bytes that came last", pinned)
	}
	if status := w.form(up.URL, ordered(fields), "replaced after the confirm"); status/100 != 2 {
		t.Errorf("a late upload by a form that is still good: %d", status)
	}
	out, err := s3.NewFromConfig(w.AWS()).GetObject(t.Context(), &s3.GetObjectInput{Bucket: aws.String(names.Bucket), Key: &pinned.Key, VersionId: &pinned.VersionID})
	if err != nil {
		t.Fatal(err)
	}
	defer out.Body.Close()
	if b, _ := io.ReadAll(out.Body); string(b) != strings.Repeat("v", 12) || w.row(mine.AnalysisID).Clips[0].VersionID != pinned.VersionID {
		t.Errorf("the version that is analysed holds %q", b)
	}
	eventually(t, time.Minute, "the refusal", func() bool { return w.row(mine.AnalysisID).Status.Ended() })
	if r := w.row(mine.AnalysisID); r.Status != "rejected" {
		t.Errorf("12 letters under a film's name ended %s %s", r.Status, r.Reason)
	}
	// Forms signed afresh are for the same key.
	var again created
	a := w.call("POST", "/v1/analyses/"+other.AnalysisID+"/uploads", token, "", nil)
	if err := json.Unmarshal(a.body, &again); err != nil || again.Uploads[0].Fields["key"] != theirs {
		t.Errorf("%d %s", a.status, a.body)
	}
	if fmt.Sprint(again.Uploads[0].URL) != up.URL {
		t.Errorf("forms go to %s and %s", up.URL, again.Uploads[0].URL)
	}
}

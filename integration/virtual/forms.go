package virtual

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"mime/multipart"
	"net/http"
	"slices"
	"strings"
	"time"
)

// Form is a form of the API's that puts one clip where it belongs.
type Form struct {
	URL       string            `json:"url"`
	Fields    map[string]string `json:"fields"`
	ExpiresAt time.Time         `json:"expires_at"`
}

// boundary parts the forms of a world, whose requests are to be the same each time.
const boundary = "virtual-form"

// Upload sends a file through a form, as a browser does, as the process of ctx, and
// gives the store's answer.
func (c *Cloud) Upload(ctx context.Context, f Form, body []byte) (status int, err error) {
	var b bytes.Buffer
	m := multipart.NewWriter(&b)
	err = m.SetBoundary(boundary)
	for _, k := range slices.Sorted(maps.Keys(f.Fields)) {
		if err == nil {
			err = m.WriteField(k, f.Fields[k])
		}
	}
	if err != nil {
		return 0, err
	}
	w, err := m.CreateFormFile("file", "clip")
	if err != nil {
		return 0, err
	}
	_, _ = w.Write(body) // into memory, as is the end
	_ = m.Close()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, f.URL, &b)
	if err != nil {
		return 0, err
	}
	r.Header.Set("Content-Type", m.FormDataContentType())
	resp, err := c.Gate.Do(r)
	if err != nil {
		return 0, err
	}
	return resp.StatusCode, nil
}

// Fetch follows a signed link, as the process of ctx.
func (c *Cloud) Fetch(ctx context.Context, url string) (status int, body []byte, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return 0, nil, err
	}
	resp, err := c.Gate.Do(r)
	if err != nil {
		return 0, nil, err
	}
	body, err = io.ReadAll(resp.Body)
	return resp.StatusCode, body, err
}

// form takes an upload, if its policy is signed, has not expired and allows it.
func (s *bucket) form(w http.ResponseWriter, r *http.Request) {
	if err := r.ParseMultipartForm(1 << 20); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	fields := map[string]string{} // S3 reads their names in any case
	for k, v := range r.MultipartForm.Value {
		fields[strings.ToLower(k)] = v[0]
	}
	file := r.MultipartForm.File["file"]
	if len(file) != 1 {
		http.Error(w, "virtual S3: a form has one file", http.StatusBadRequest)
		return
	}
	if err := allowed(fields, file[0].Size); err != nil {
		http.Error(w, err.Error(), http.StatusForbidden)
		return
	}
	f, err := file[0].Open()
	if err == nil {
		var body []byte
		body, err = io.ReadAll(f)
		s.put(fields["key"], body)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// allowed reads the policy of an upload.
func allowed(fields map[string]string, size int64) error {
	raw, err := base64.StdEncoding.DecodeString(fields["policy"])
	if err != nil {
		return fmt.Errorf("virtual S3: policy: %w", err)
	}
	scope := strings.Split(fields["x-amz-credential"], "/")
	if len(scope) != 5 || !hmac.Equal([]byte(fields["x-amz-signature"]), []byte(signature(fields["policy"], scope))) {
		return fmt.Errorf("virtual S3: SignatureDoesNotMatch")
	}
	var policy struct {
		Expiration time.Time
		Conditions []json.RawMessage
	}
	if err := json.Unmarshal(raw, &policy); err != nil {
		return fmt.Errorf("virtual S3: policy: %w", err)
	}
	if !time.Now().Before(policy.Expiration) {
		return fmt.Errorf("virtual S3: Policy expired")
	}
	covered := map[string]bool{"policy": true, "x-amz-signature": true}
	for _, c := range policy.Conditions {
		name, ok := holds(c, fields, size)
		if !ok {
			return fmt.Errorf("virtual S3: condition failed: %s", c)
		}
		covered[name] = true
	}
	for k := range fields {
		if !covered[k] {
			return fmt.Errorf("virtual S3: extra input field: %s", k)
		}
	}
	return nil
}

// holds reads one condition of a policy: which field it is about, and whether it
// holds.
func holds(condition json.RawMessage, fields map[string]string, size int64) (name string, ok bool) {
	var exact map[string]string
	if json.Unmarshal(condition, &exact) == nil {
		for k, v := range exact {
			k = strings.ToLower(k)
			return k, k == "bucket" || fields[k] == v // there is one bucket
		}
	}
	var list []any
	if json.Unmarshal(condition, &list) != nil || len(list) != 3 {
		return "", false
	}
	op, _ := list[0].(string)
	if op == "content-length-range" {
		least, _ := list[1].(float64)
		most, _ := list[2].(float64)
		return "", float64(size) >= least && float64(size) <= most
	}
	field, _ := list[1].(string)
	want, _ := list[2].(string)
	name = strings.ToLower(strings.TrimPrefix(field, "$"))
	switch op {
	case "eq":
		return name, fields[name] == want
	case "starts-with":
		return name, strings.HasPrefix(fields[name], want)
	}
	return name, false
}

// signature is that of a policy, by the one key of these worlds. scope is the
// credential: key, day, region, service, "aws4_request".
func signature(policy string, scope []string) string {
	key := []byte("AWS4" + secret)
	for _, part := range append(scope[1:], policy) {
		h := hmac.New(sha256.New, key)
		_, _ = io.WriteString(h, part) // a hash cannot fail
		key = h.Sum(nil)
	}
	return hex.EncodeToString(key)
}

// expired reports whether a signed link is no good any more. Whose key signed it is
// not looked at.
func expired(r *http.Request) bool {
	q := r.URL.Query()
	if !q.Has("X-Amz-Signature") {
		return false
	}
	at, err := time.Parse("20060102T150405Z", q.Get("X-Amz-Date"))
	life, lErr := time.ParseDuration(q.Get("X-Amz-Expires") + "s")
	return err != nil || lErr != nil || time.Now().After(at.Add(life))
}

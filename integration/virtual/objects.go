package virtual

import (
	"crypto/md5"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"fastbowlinglab/shared/names"
)

// object is one version of an object.
type object struct {
	version string
	body    []byte
	at      time.Time // when it was stored
}

// bucket is a versioned bucket in memory: PutObject, PostObject, GetObject with
// versionId and Range, HeadObject, DeleteObject of a version, ListObjectVersions in
// one page, ListObjectsV2 in small ones; the lifecycle of old versions of clips.
// Signed links end; no other signature is
// looked at. Path-style addresses, one bucket.
type bucket struct {
	objects map[string][]object
	seq     int
}

// ServeHTTP speaks S3's REST protocol.
func (s *bucket) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_, key, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	if expired(r) {
		http.Error(w, "virtual S3: Request has expired", http.StatusForbidden)
		return
	}
	switch r.Method {
	case http.MethodPost:
		s.form(w, r)
	case http.MethodPut:
		body, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		o := s.put(key, body)
		w.Header().Set("X-Amz-Version-Id", o.version)
		w.Header().Set("ETag", etag(o.body))
	case http.MethodDelete:
		s.remove(key, r.URL.Query().Get("versionId"))
		w.WriteHeader(http.StatusNoContent)
	case http.MethodGet, http.MethodHead:
		if key == "" && r.URL.Query().Has("versions") {
			s.list(w, r.URL.Query().Get("prefix"))
			return
		}
		if key == "" && r.URL.Query().Get("list-type") == "2" {
			s.page(w, r.URL.Query().Get("prefix"), r.URL.Query().Get("continuation-token"))
			return
		}
		o, ok := s.get(key, r.URL.Query().Get("versionId"))
		if !ok {
			w.Header().Set("Content-Type", "application/xml")
			w.WriteHeader(http.StatusNotFound)
			fmt.Fprint(w, `<Error><Code>NoSuchKey</Code><Message>The specified key does not exist.</Message></Error>`)
			return
		}
		serve(w, r, o)
	default:
		http.Error(w, "virtual S3 has no "+r.Method, http.StatusMethodNotAllowed)
	}
}

func (s *bucket) put(key string, body []byte) object {
	s.seq++
	o := object{version: fmt.Sprintf("v%d", s.seq), body: body, at: time.Now()}
	s.objects[key] = append(s.objects[key], o)
	return o
}

func (s *bucket) get(key, version string) (object, bool) {
	vs := s.objects[key]
	for i := len(vs) - 1; i >= 0; i-- {
		if version == "" || vs[i].version == version {
			return vs[i], i == len(vs)-1 || !outlived(key, vs[i+1].at)
		}
	}
	return object{}, false
}

// outlived reports whether the bucket's lifecycle has removed a clip that another was
// stored over at a time.
func outlived(key string, at time.Time) bool {
	return strings.HasPrefix(key, names.PrefixClips) && time.Since(at) > names.ClipVersions
}

// remove deletes one version for good.
func (s *bucket) remove(key, version string) {
	vs := slices.DeleteFunc(s.objects[key], func(o object) bool { return o.version == version })
	if s.objects[key] = vs; len(vs) == 0 {
		delete(s.objects, key)
	}
}

// keys lists the objects under a prefix, in order.
func (s *bucket) keys(prefix string) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(s.objects)), func(k string) bool { return !strings.HasPrefix(k, prefix) })
}

// list answers with every version under a prefix.
func (s *bucket) list(w http.ResponseWriter, prefix string) {
	w.Header().Set("Content-Type", "application/xml")
	fmt.Fprint(w, `<ListVersionsResult><IsTruncated>false</IsTruncated>`)
	for _, k := range s.keys(prefix) { // our own keys: nothing in them is to be escaped
		for _, o := range s.objects[k] {
			fmt.Fprintf(w, `<Version><Key>%s</Key><VersionId>%s</VersionId></Version>`, k, o.version)
		}
	}
	fmt.Fprint(w, `</ListVersionsResult>`)
}

// listPage is how many objects a page of a list has.
const listPage = 10

// page answers with the newest version of every object under a prefix, behind a key.
func (s *bucket) page(w http.ResponseWriter, prefix, behind string) {
	left := slices.DeleteFunc(s.keys(prefix), func(k string) bool { return k <= behind })
	keys := left[:min(listPage, len(left))]
	w.Header().Set("Content-Type", "application/xml")
	fmt.Fprintf(w, `<ListBucketResult><IsTruncated>%t</IsTruncated>`, len(keys) < len(left))
	if len(keys) < len(left) {
		fmt.Fprintf(w, `<NextContinuationToken>%s</NextContinuationToken>`, keys[len(keys)-1])
	}
	for _, k := range keys {
		o, _ := s.get(k, "") // it is one of the keys
		fmt.Fprintf(w, `<Contents><Key>%s</Key><Size>%d</Size></Contents>`, k, len(o.body))
	}
	fmt.Fprint(w, `</ListBucketResult>`)
}

// Keys lists the objects of this world under a prefix.
func (c *Cloud) Keys(prefix string) []string { return c.objects.keys(prefix) }

func serve(w http.ResponseWriter, r *http.Request, o object) {
	w.Header().Set("X-Amz-Version-Id", o.version)
	w.Header().Set("ETag", etag(o.body))
	body := o.body
	if rng, ok := strings.CutPrefix(r.Header.Get("Range"), "bytes=0-"); ok && len(body) > 0 {
		if n, err := strconv.Atoi(rng); err == nil && n+1 < len(body) {
			body = body[:n+1]
		}
		w.Header().Set("Content-Range", fmt.Sprintf("bytes 0-%d/%d", len(body)-1, len(o.body)))
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		w.WriteHeader(http.StatusPartialContent)
	}
	if r.Method == http.MethodGet {
		_, _ = w.Write(body) // into memory: cannot fail
	}
}

func etag(b []byte) string {
	h := md5.Sum(b) // S3's ETag of a single-part object
	return `"` + hex.EncodeToString(h[:]) + `"`
}

package kumo

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"fastbowlinglab/integration/local/endpoint"
)

// blobs serves reads of large objects straight from their files: of a named
// version, or of a range of the newest.
// kumo reads the whole object into memory for every range that is asked for: a
// few readers of a clip of half a gigabyte would need more than the machine has.
// What is out of the ordinary in a request is left to kumo.
type blobs struct {
	next http.Handler
	dir  string

	mu     sync.Mutex
	seen   os.FileInfo                // the snapshot that was read
	by     map[string]map[string]blob // bucket and key, version
	newest map[string]string          // bucket and key: the newest version
}

// blob is what kumo's snapshot says of one version.
type blob struct {
	Key, VersionID, ETag, ContentType string
	Size                              int64
	LastModified                      time.Time
	Metadata                          map[string]string
	IsDeleteMarker                    bool
	BodyRef                           string `json:"bodyRef"`
}

// versionHeader carries a version id.
const versionHeader = "X-Amz-Version-Id"

// large is the size from which the file is used; below it kumo will do.
const large = 1 << 20

// ServeHTTP implements http.Handler.
func (b *blobs) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	q := endpoint.Parse(r)
	if q.Service != endpoint.S3 {
		b.next.ServeHTTP(w, r)
		return
	}
	if r.Method != http.MethodGet {
		if r.Method == http.MethodDelete || r.Method == http.MethodPost { // a version may go
			defer b.forget()
		}
		b.next.ServeHTTP(w, r)
		return
	}
	v := r.URL.Query().Get("versionId")
	if q.Operation != "GET object" || v == "" && r.Header.Get("Range") == "" || !plain(r, time.Now()) {
		b.next.ServeHTTP(w, r)
		return
	}
	o, ok := b.find(strings.TrimPrefix(r.URL.Path, "/"), v)
	if !ok || o.Size < large || o.IsDeleteMarker || !satisfiable(r.Header.Get("Range"), o.Size) {
		b.next.ServeHTTP(w, r)
		return
	}
	f, err := os.Open(filepath.Join(b.dir, "s3-objects", o.BodyRef))
	if err != nil {
		b.next.ServeHTTP(w, r)
		return
	}
	defer func() { _ = f.Close() }() // only read
	o.headers(w.Header())
	http.ServeContent(w, r, "", o.LastModified, f)
}

func (o blob) headers(h http.Header) {
	h.Set("Content-Type", o.ContentType)
	h.Set("ETag", o.ETag)
	h.Set("Accept-Ranges", "bytes")
	h.Set(versionHeader, o.VersionID)
	for k, v := range o.Metadata {
		if k != "Content-Type" {
			h["x-amz-meta-"+k] = []string{v}
		}
	}
}

// unusual are the parameters of a read that kumo must see to.
var unusual = []string{"response-content-type", "response-content-disposition", "response-cache-control",
	"response-content-encoding", "response-content-language", "response-expires", "partNumber", "acl", "tagging",
	"attributes", "torrent", "retention", "legal-hold"}

// plain reports whether a read has no condition, wants nothing special, and, if
// it is presigned, is certainly in time.
func plain(r *http.Request, now time.Time) bool {
	q := r.URL.Query()
	for _, k := range unusual {
		if q.Has(k) {
			return false
		}
	}
	for _, k := range []string{"If-Match", "If-None-Match", "If-Modified-Since", "If-Unmodified-Since", "If-Range"} {
		if r.Header.Get(k) != "" {
			return false
		}
	}
	if !q.Has("X-Amz-Signature") {
		return true
	}
	at, err := time.Parse("20060102T150405Z", q.Get("X-Amz-Date"))
	seconds, err2 := strconv.Atoi(q.Get("X-Amz-Expires"))
	return err == nil && err2 == nil && seconds <= 604800 && now.Before(at.Add(time.Duration(seconds)*time.Second))
}

// satisfiable reports whether rng is empty or one range that starts inside the
// object; what else there is has its own rules.
func satisfiable(rng string, size int64) bool {
	if rng == "" {
		return true
	}
	from, to, ok := strings.Cut(strings.TrimPrefix(rng, "bytes="), "-")
	if !ok || !strings.HasPrefix(rng, "bytes=") {
		return false
	}
	a, err := strconv.ParseInt(from, 10, 64)
	if err != nil || a < 0 || a >= size {
		return false
	}
	z, err := strconv.ParseInt(to, 10, 64)
	return to == "" || err == nil && z >= a
}

// find looks a version up, "" meaning the newest. A version never changes, so
// that a known one need not be read again; which is the newest may have changed
// with the snapshot.
func (b *blobs) find(path, version string) (blob, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if o, ok := b.by[path][version]; ok {
		return o, true
	}
	if err := b.load(); err != nil {
		return blob{}, false // kumo knows it better
	}
	if version == "" {
		version = b.newest[path]
	}
	o, ok := b.by[path][version]
	return o, ok
}

func (b *blobs) forget() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.by, b.newest, b.seen = nil, nil, nil
}

// snapshot is what s3.json says.
type snapshot struct {
	Buckets map[string]struct {
		Objects  map[string]blob   `json:"objects"`
		Versions map[string][]blob `json:"versions"`
	} `json:"buckets"`
}

func readSnapshot(raw []byte) (s snapshot, err error) {
	err = json.Unmarshal(raw, &s)
	return s, err
}

// load reads the snapshot if it is another than last time. The caller holds mu.
func (b *blobs) load() error {
	file := filepath.Join(b.dir, "s3.json")
	st, err := os.Stat(file)
	if err != nil {
		return err
	}
	if b.seen != nil && st.ModTime().Equal(b.seen.ModTime()) && st.Size() == b.seen.Size() {
		return nil
	}
	raw, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	snap, err := readSnapshot(raw)
	if err != nil {
		return fmt.Errorf("read %s: %w", file, err)
	}
	by, newest := map[string]map[string]blob{}, map[string]string{}
	for bucket, s := range snap.Buckets {
		for key, o := range s.Objects {
			newest[bucket+"/"+key] = o.VersionID
		}
		for key, versions := range s.Versions {
			m := map[string]blob{}
			for _, o := range versions {
				m[o.VersionID] = o
			}
			by[bucket+"/"+key] = m
		}
	}
	b.by, b.newest, b.seen = by, newest, st
	return nil
}

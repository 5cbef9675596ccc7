package media_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"fastbowlinglab/shared/fault"
	"fastbowlinglab/shared/media"
	"fastbowlinglab/shared/reason"
)

func root(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		if dir == filepath.Dir(dir) {
			t.Fatal("no go.mod above the test")
		}
		dir = filepath.Dir(dir)
	}
}

func bowler(t testing.TB) string {
	return filepath.Join(root(t), "integration", "samples", "bowler.mp4")
}

func refusal(err error) reason.Code {
	var r *media.Refusal
	if errors.As(err, &r) {
		return r.Code
	}
	return ""
}

// TestDisguisesOpenNothing gives files that would make ffmpeg open other files
// or addresses, had it a free hand.
// Field case 23: what is no film under a film's name.
func TestDisguisesOpenNothing(t *testing.T) {
	var hits atomic.Int32
	srv := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { hits.Add(1) }))
	defer srv.Close()
	secret := filepath.Join(t.TempDir(), "secret.mp4")
	ffmpeg(t, "-i", bowler(t), "-c", "copy", secret)
	for name, content := range map[string]string{
		"hls.mp4":    "#EXTM3U\n#EXT-X-TARGETDURATION:5\n#EXTINF:5,\n" + srv.URL + "/a.ts\n#EXTINF:5,\nfile:" + secret + "\n#EXT-X-ENDLIST\n",
		"concat.mp4": "ffconcat version 1.0\nfile '" + secret + "'\nfile '" + srv.URL + "/a.mp4'\n",
		"sdp.mp4":    "v=0\no=- 0 0 IN IP4 127.0.0.1\ns=x\nc=IN IP4 127.0.0.1\nt=0 0\nm=video 5004 RTP/AVP 96\n",
		"dash.mp4":   "<?xml version=\"1.0\"?><MPD><Period><BaseURL>" + srv.URL + "/</BaseURL></Period></MPD>",
		"image2.mp4": secret,
	} {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := media.Probe(t.Context(), path, media.DefaultLimits()); refusal(err) != reason.MediaNotVideo {
			t.Errorf("%s: %v", name, err)
		}
	}
	// A name is never an instruction, whatever it looks like.
	for _, name := range []string{"concat:" + secret + "|" + secret, "pipe:0", "subfile,,start,0,end,0,,:" + secret, "lavfi:testsrc"} {
		if _, err := media.Probe(t.Context(), name, media.DefaultLimits()); err == nil || refusal(err) != "" {
			t.Errorf("%s: %v, want no such file", name, err)
		}
	}
	if hits.Load() != 0 {
		t.Errorf("%d requests reached the network", hits.Load())
	}
}

func TestOnlyRegularFilesAreRead(t *testing.T) {
	fifo := filepath.Join(t.TempDir(), "fifo.mp4")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{fifo, t.TempDir(), "/dev/zero"} {
		if _, err := media.Probe(t.Context(), path, media.DefaultLimits()); refusal(err) != reason.MediaNotVideo {
			t.Errorf("%s: %v", path, err)
		}
	}
}

func TestLimitsAreCheckedBeforeWork(t *testing.T) {
	for _, c := range []struct {
		name string
		lim  media.Limits
		want reason.Code
	}{
		{"Bytes", media.Limits{MaxBytes: 1000}, reason.MediaTooLarge},
		{"Pixels", media.Limits{MaxPixels: 1279 * 720}, reason.MediaTooLarge},
		{"Side", media.Limits{MaxSide: 1279}, reason.MediaTooLarge},
		{"SmallSide", media.Limits{MinSide: 721}, reason.MediaTooSmall},
		{"Long", media.Limits{MaxDuration: 2 * time.Second}, reason.MediaTooLong},
		{"Short", media.Limits{MinDuration: 3 * time.Second}, reason.MediaTooShort},
		{"ManyFrames", media.Limits{MaxFrames: 149}, reason.MediaTooLong},
		{"FewFrames", media.Limits{MinFrames: 151}, reason.MediaTooShort},
		{"None", media.Limits{}, ""},
	} {
		_, err := media.Probe(t.Context(), bowler(t), c.lim)
		if refusal(err) != c.want || c.want == "" && err != nil {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

// TestStopLeavesNoDecoder ends a decoding by its context, by an error and early,
// and looks for what is left of it.
func TestStopLeavesNoDecoder(t *testing.T) {
	info, err := media.Probe(t.Context(), bowler(t), media.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	oops := errors.New("oops")
	for _, c := range []struct {
		name string
		fn   func(media.Frame) error
		want error
	}{
		{"Early", func(media.Frame) error { return media.ErrStop }, nil},
		{"Error", func(media.Frame) error { return oops }, oops},
		{"Context", func(media.Frame) error { cancel(); return nil }, context.Canceled},
	} {
		if err := media.Frames(ctx, bowler(t), info, media.Options{}, c.fn); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	if left := children(t); len(left) != 0 {
		t.Errorf("still running: %v", left)
	}
}

// children lists this process' children by their command.
func children(t *testing.T) (out []string) {
	t.Helper()
	dirs, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil || len(dirs) == 0 {
		t.Skip("skipped: there is no /proc")
	}
	for _, d := range dirs {
		b, err := os.ReadFile(d)
		if err != nil {
			continue // gone meanwhile
		}
		_, rest, _ := strings.Cut(string(b), ") ")
		if f := strings.Fields(rest); len(f) > 1 && f[1] == strconv.Itoa(os.Getpid()) {
			out = append(out, string(b[:min(40, len(b))]))
		}
	}
	return out
}

// TestURLIsReadThroughTheRelay reads a clip over HTTP whose answers break off.
func TestURLIsReadThroughTheRelay(t *testing.T) {
	var requests atomic.Int32
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("X-Amz-Signature") != "secret" {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		if n := requests.Add(1); n%3 == 2 {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		http.ServeFile(breaking{w, 100_000}, r, bowler(t))
	}))
	defer srv.Close()
	src := srv.URL + "/clip?X-Amz-Signature=secret"
	info, err := media.Probe(t.Context(), src, media.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	err = media.Frames(t.Context(), src, info, media.Options{MaxSide: 160}, func(media.Frame) error { n++; return nil })
	if err != nil || n != 150 {
		t.Errorf("%d frames, %v", n, err)
	}
	if _, err := media.Still(t.Context(), src, info, 1.43, 320); err != nil {
		t.Error(err)
	}
}

// breaking drops the connection after so many bytes of an answer.
type breaking struct {
	http.ResponseWriter
	left int
}

func (b breaking) Write(p []byte) (int, error) {
	if len(p) > b.left {
		b.ResponseWriter.Write(p[:b.left])
		panic(http.ErrAbortHandler)
	}
	return b.ResponseWriter.Write(p)
}

// TestStorageFailureIsNoVerdict: what the network does is never a refusal.
func TestStorageFailureIsNoVerdict(t *testing.T) {
	var down atomic.Bool
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/missing":
			w.WriteHeader(http.StatusNotFound)
		case r.URL.Path == "/expired":
			w.WriteHeader(http.StatusForbidden)
		case r.URL.Path == "/elsewhere":
			http.Redirect(w, r, "/clip", http.StatusFound)
		case down.Load() && r.Header.Get("Range") != "bytes=0-0": // the first request still passes
			w.WriteHeader(http.StatusInternalServerError)
		default:
			http.ServeFile(w, r, bowler(t))
		}
	}))
	defer srv.Close()
	for path, want := range map[string]fault.Name{"/missing": fault.Permanent, "/expired": fault.Transient, "/elsewhere": fault.Transient} {
		_, err := media.Probe(t.Context(), srv.URL+path+"?sig=secret", media.DefaultLimits())
		if err == nil || refusal(err) != "" || fault.NameOf(err) != want || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", path, err)
		}
	}
	info, err := media.Probe(t.Context(), srv.URL+"/clip", media.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	down.Store(true)
	err = media.Frames(t.Context(), srv.URL+"/clip", info, media.Options{MaxSide: 64}, func(media.Frame) error { return nil })
	if fault.NameOf(err) != fault.Transient || refusal(err) != "" {
		t.Errorf("storage went down: %v", err)
	}
}

func TestEmptyObject(t *testing.T) {
	for _, status := range []int{http.StatusOK, http.StatusRequestedRangeNotSatisfiable} {
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(status) }))
		if _, err := media.Probe(t.Context(), srv.URL, media.DefaultLimits()); refusal(err) != reason.MediaEmpty {
			t.Errorf("status %d: %v", status, err)
		}
		srv.Close()
	}
}

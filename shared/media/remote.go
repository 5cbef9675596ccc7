package media

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"fastbowlinglab/shared/fault"
)

// A clip behind a URL is read through a relay on the loopback interface: the
// signed URL never stands in a process list or in ffmpeg's messages, ffmpeg may
// reach nothing else, and a network failure is known for what it is instead of
// looking like a file that ends early. This is the one layer that retries.
const (
	remoteTries   = 4
	remoteTimeout = 15 * time.Second // to connect, and for each answer's header
	remoteStall   = 20 * time.Second // without a byte
)

// relay reads ranges of one URL and serves them to ffmpeg.
type relay struct {
	ctx    context.Context
	url    string
	client *http.Client
	size   int64

	starved atomic.Int32 // ranges for which storage owes bytes at this moment

	mu  sync.Mutex
	err error // the first failure that retries did not mend
}

// ErrAway is in the chain of an error that is storage's and no property of the clip:
// it failed, was overloaded, broke off or did not answer.
var ErrAway = errors.New("storage is away")

func openRemote(ctx context.Context, u *url.URL) (*source, error) {
	ctx, cancel := context.WithCancel(ctx)
	r := &relay{ctx: ctx, url: u.String(), client: &http.Client{
		Transport: &http.Transport{
			Proxy:                 http.ProxyFromEnvironment,
			DialContext:           (&net.Dialer{Timeout: remoteTimeout}).DialContext,
			TLSHandshakeTimeout:   remoteTimeout,
			ResponseHeaderTimeout: remoteTimeout,
			MaxIdleConnsPerHost:   2,
			DisableCompression:    true,
		},
		// Storage answers in place; a redirect leads somewhere unsigned.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	stop := func() { cancel(); r.client.CloseIdleConnections() }
	if err := r.learnSize(); err != nil {
		stop()
		return nil, err
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		stop()
		return nil, fault.Wrap(fault.Transient, err, "open clip: listen for the decoder")
	}
	path := "/" + rand.Text()
	mux := http.NewServeMux()
	mux.Handle(path, r)
	srv := &http.Server{Handler: mux, ReadHeaderTimeout: remoteTimeout, ConnContext: func(ctx context.Context, c net.Conn) context.Context {
		if t, ok := c.(*net.TCPConn); ok {
			_ = t.SetWriteBuffer(firstPiece) // else the system keeps megabytes that nobody will read; a hint, no more
		}
		return ctx
	}}
	done := make(chan struct{})
	go func() { defer close(done); _ = srv.Serve(ln) }() // ends with ErrServerClosed
	return &source{
		ReaderAt: r, size: r.size, input: "http://" + ln.Addr().String() + path, proto: "http,tcp",
		close: func() { stop(); srv.Close(); <-done }, broken: r.broken,
	}, nil
}

// learnSize asks for the first byte; the answer's Content-Range has the size.
func (r *relay) learnSize() error {
	res, err := r.get(0, 0)
	if err != nil {
		return err
	}
	res.Body.Close()
	if res.StatusCode != http.StatusPartialContent {
		r.size = 0 // what storage answers for an empty object: 416, or 200 and nothing
		return nil
	}
	_, total, ok := strings.Cut(res.Header.Get("Content-Range"), "/")
	size, err := strconv.ParseInt(total, 10, 64)
	if !ok || err != nil || size < 0 {
		return fault.New(fault.Permanent, "read clip: storage does not serve ranges (status %d)", res.StatusCode)
	}
	r.size = size
	return nil
}

// get asks for the bytes from first to last, inclusive, with retries.
func (r *relay) get(first, last int64) (*http.Response, error) {
	r.starved.Add(1) // through the waits between tries too
	defer r.starved.Add(-1)
	var err error
	for try := range remoteTries {
		if try > 0 && !pause(r.ctx, try) {
			break
		}
		var res *http.Response
		if res, err = r.once(first, last); err == nil {
			return res, nil
		}
		if fault.NameOf(err) != fault.Transient {
			break
		}
	}
	if r.ctx.Err() != nil {
		err = r.ctx.Err()
	}
	r.fail(err)
	return nil, err
}

func (r *relay) once(first, last int64) (*http.Response, error) {
	req, err := http.NewRequestWithContext(r.ctx, http.MethodGet, r.url, nil)
	if err != nil {
		return nil, fault.New(fault.Permanent, "read clip: bad URL")
	}
	req.Header.Set("Range", fmt.Sprintf("bytes=%d-%d", first, last))
	res, err := r.client.Do(req)
	if err != nil {
		return nil, away(urlless(err), "read clip")
	}
	switch {
	case res.StatusCode == http.StatusPartialContent,
		res.StatusCode == http.StatusRequestedRangeNotSatisfiable && first == 0,
		res.StatusCode == http.StatusOK && res.ContentLength == 0:
		return res, nil
	}
	res.Body.Close()
	switch code := res.StatusCode; {
	case code >= 500, code == http.StatusTooManyRequests, code == http.StatusRequestTimeout:
		return nil, away(nil, "read clip: storage answered %d", code)
	case code == http.StatusNotFound, code == http.StatusOK:
		return nil, fault.New(fault.Permanent, "read clip: storage answered %d", code)
	}
	// 403 too: an expired signature is renewed by asking again.
	return nil, fault.New(fault.Transient, "read clip: storage answered %d", res.StatusCode)
}

// away names a failure of storage.
func away(err error, format string, a ...any) error {
	return fault.Wrap(fault.Transient, errors.Join(ErrAway, err), format, a...)
}

// pause waits before another try: about 0.2, 0.4, 0.8 s, jittered.
func pause(ctx context.Context, try int) bool {
	base := 200 * time.Millisecond << (try - 1)
	j, err := rand.Int(rand.Reader, big.NewInt(int64(base)))
	if err != nil {
		j = big.NewInt(0)
	}
	t := time.NewTimer(base/2 + time.Duration(j.Int64()))
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}

// Pieces in which a range is asked for, doubling: a decoder asks for all the rest
// of a file and goes elsewhere after a few bytes, and what was on its way by then
// was read in vain.
const (
	firstPiece = 256 << 10
	mostPiece  = 16 << 20
)

// copyRange sends bytes first to last to w, in pieces, asking again from where a
// broken answer stopped.
func (r *relay) copyRange(w io.Writer, first, last int64) error {
	piece := int64(firstPiece)
	for fruitless := 0; first <= last; {
		to := min(last, first+piece-1)
		piece = min(2*piece, mostPiece)
		res, err := r.get(first, to)
		if err != nil {
			return err
		}
		n, err := copyStalling(w, owed{res.Body, &r.starved}, to-first+1)
		res.Body.Close()
		first += n
		if errors.Is(err, errWrite) {
			return err // the reader has gone, which is no failure of the source
		}
		if n > 0 {
			fruitless = 0
		}
		if first <= to {
			if fruitless++; fruitless >= remoteTries {
				err := away(nil, "read clip: the answer broke off at byte %d", first)
				r.fail(err)
				return err
			}
		}
	}
	return nil
}

// owed is an answer's body that counts who waits for a byte of it.
type owed struct {
	io.ReadCloser
	starved *atomic.Int32
}

func (o owed) Read(p []byte) (int, error) {
	o.starved.Add(1)
	defer o.starved.Add(-1)
	return o.ReadCloser.Read(p)
}

var errWrite = errors.New("reader has gone")

// copyStalling copies up to n bytes and closes body when nothing comes for
// remoteStall.
func copyStalling(w io.Writer, body io.ReadCloser, n int64) (done int64, err error) {
	watch := time.AfterFunc(remoteStall, func() { body.Close() })
	defer watch.Stop()
	buf := make([]byte, 64<<10)
	for done < n {
		m, err := body.Read(buf[:min(int64(len(buf)), n-done)])
		if m > 0 {
			watch.Reset(remoteStall)
			if _, werr := w.Write(buf[:m]); werr != nil {
				return done, errWrite
			}
			done += int64(m)
		}
		if err != nil {
			return done, err
		}
	}
	return done, nil
}

// ReadAt implements io.ReaderAt.
func (r *relay) ReadAt(p []byte, off int64) (int, error) {
	if off >= r.size {
		return 0, io.EOF
	}
	want := min(int64(len(p)), r.size-off)
	w := &sliceWriter{p: p[:want]}
	if err := r.copyRange(w, off, off+want-1); err != nil {
		return w.n, err
	}
	if want < int64(len(p)) {
		return w.n, io.EOF
	}
	return w.n, nil
}

type sliceWriter struct {
	p []byte
	n int
}

func (w *sliceWriter) Write(b []byte) (int, error) {
	n := copy(w.p[w.n:], b)
	w.n += n
	return n, nil
}

// ServeHTTP serves the decoder.
func (r *relay) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	first, last, ok := parseRange(req.Header.Get("Range"), r.size)
	if req.Method != http.MethodGet || !ok {
		w.Header().Set("Content-Range", fmt.Sprintf("bytes */%d", r.size))
		w.WriteHeader(http.StatusRequestedRangeNotSatisfiable)
		return
	}
	h := w.Header()
	h.Set("Accept-Ranges", "bytes")
	h.Set("Content-Type", "application/octet-stream")
	h.Set("Content-Length", strconv.FormatInt(last-first+1, 10))
	h.Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", first, last, r.size))
	w.WriteHeader(http.StatusPartialContent)
	if err := r.copyRange(w, first, last); err != nil {
		panic(http.ErrAbortHandler) // close the connection short, so that ffmpeg sees a break
	}
}

// parseRange reads "bytes=a-" or "bytes=a-b"; no header is the whole.
func parseRange(h string, size int64) (first, last int64, ok bool) {
	if h == "" {
		return 0, size - 1, size > 0
	}
	spec, ok := strings.CutPrefix(h, "bytes=")
	a, b, dash := strings.Cut(spec, "-")
	if !ok || !dash {
		return 0, 0, false
	}
	first, err := strconv.ParseInt(a, 10, 64)
	if err != nil || first < 0 || first >= size {
		return 0, 0, false
	}
	last = size - 1
	if b != "" {
		v, err := strconv.ParseInt(b, 10, 64)
		if err != nil || v < first {
			return 0, 0, false
		}
		last = min(last, v)
	}
	return first, last, true
}

func (r *relay) fail(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err == nil {
		r.err = err
	}
}

// broken is why the clip could not be read, where it was read with err. A program that
// gave nothing for too long while storage owed it bytes was kept waiting: it was not the
// one that hung.
func (r *relay) broken(err error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err == nil && hung(err) && r.starved.Load() > 0 {
		return away(nil, "read clip: storage gives nothing")
	}
	return r.err
}

// hung reports whether a program was ended because it gave nothing, or no end, in time.
func hung(err error) bool {
	var r *Refusal
	return errors.As(err, &r) && r.hung || errors.Is(err, context.DeadlineExceeded)
}

// urlless drops the URL that net/http puts into its errors: it is signed.
func urlless(err error) error {
	var ue *url.Error
	if errors.As(err, &ue) {
		return ue.Err
	}
	return err
}

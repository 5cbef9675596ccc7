package media

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"fastbowlinglab/shared/fault"
)

// silent serves the sample clip; once it is hushed, answers stop after so many bytes,
// with the connection open.
type silent struct {
	hushed atomic.Bool
	end    chan struct{} // closed when the test is over
}

func (s *silent) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if s.hushed.Load() && r.Header.Get("Range") != "bytes=0-0" {
		w = &holding{w, 200_000, s.end}
	}
	http.ServeFile(w, r, sample)
}

type holding struct {
	http.ResponseWriter
	left int
	end  chan struct{}
}

func (h *holding) Write(p []byte) (int, error) {
	if h.left -= len(p); h.left < 0 {
		h.ResponseWriter.(http.Flusher).Flush()
		<-h.end
		return 0, http.ErrHandlerTimeout
	}
	return h.ResponseWriter.Write(p)
}

const sample = "../../integration/samples/bowler.mp4"

// Storage that takes a request and then says nothing keeps the decoder waiting until it is
// given up as hung. That is storage's doing: no verdict on the clip.
func TestSilentStorageIsNoVerdict(t *testing.T) {
	if _, err := os.Stat(sample); err != nil {
		t.Fatal(err)
	}
	s := &silent{end: make(chan struct{})}
	srv := httptest.NewServer(s)
	defer srv.Close()
	defer close(s.end)
	info, err := Probe(t.Context(), srv.URL+"/clip", DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	old := stallTimeout
	defer func() { stallTimeout = old }()
	s.hushed.Store(true)
	// On a busy machine a decoder may have asked for nothing yet when it is given up.
	for stallTimeout = 300 * time.Millisecond; stallTimeout < 20*time.Second; stallTimeout *= 2 {
		err = Frames(t.Context(), srv.URL+"/clip", info, Options{MaxSide: 64}, func(Frame) error { return nil })
		if errors.Is(err, ErrAway) {
			break
		}
	}
	if !errors.Is(err, ErrAway) || fault.NameOf(err) != fault.Transient || code(err) != "" {
		t.Errorf("got %v", err)
	}
}

// A decoder that hangs though storage owes it nothing is a verdict, as is what a reader of
// the pictures says while bytes are still on their way.
func TestOnlyWhoeverIsKeptWaitingIsExcused(t *testing.T) {
	r := &relay{}
	r.starved.Store(1)
	if err := r.broken(errors.New("the reader's own")); err != nil {
		t.Errorf("%v in place of the reader's own error", err)
	}
	for _, err := range []error{readFailure(errStalled), context.DeadlineExceeded} {
		if got := r.broken(err); !errors.Is(got, ErrAway) {
			t.Errorf("%v while storage owes bytes: %v", err, got)
		}
	}
	r.starved.Store(0)
	if err := r.broken(readFailure(errStalled)); err != nil {
		t.Errorf("a decoder that hung by itself: %v", err)
	}
}

// brokenOff is storage that answers every request with an error.
type brokenOff struct{ asked int }

func (b *brokenOff) RoundTrip(*http.Request) (*http.Response, error) {
	b.asked++
	return nil, io.ErrUnexpectedEOF
}

// Storage owes its bytes between two tries of a range too: whoever is given up then was
// kept waiting.
func TestBytesAreOwedBetweenTries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &brokenOff{}
		r := &relay{ctx: t.Context(), url: "http://storage/clip", client: &http.Client{Transport: b}}
		done := make(chan struct{})
		go func() { defer close(done); _, _ = r.get(0, 1) }()
		synctest.Wait() // it waits for another try
		if b.asked != 1 || r.starved.Load() != 1 {
			t.Errorf("after %d tries %d ranges are owed", b.asked, r.starved.Load())
		}
		<-done
		if b.asked != remoteTries || r.starved.Load() != 0 {
			t.Errorf("after %d tries %d ranges are owed", b.asked, r.starved.Load())
		}
	})
}

// What storage does wrong is told from what it is asked wrongly.
func TestWhoseFaultAnAnswerIs(t *testing.T) {
	for status, away := range map[int]bool{500: true, 503: true, 429: true, 403: false, 404: false} {
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }))
		_, err := Probe(t.Context(), srv.URL+"/clip?sig=secret", DefaultLimits())
		srv.Close()
		if err == nil || errors.Is(err, ErrAway) != away || strings.Contains(err.Error(), "secret") {
			t.Errorf("status %d: %v", status, err)
		}
	}
	srv := httptest.NewServer(http.NotFoundHandler())
	srv.Close()
	if _, err := Probe(t.Context(), srv.URL+"/clip", DefaultLimits()); !errors.Is(err, ErrAway) || fault.NameOf(err) != fault.Transient {
		t.Errorf("nobody there: %v", err)
	}
}

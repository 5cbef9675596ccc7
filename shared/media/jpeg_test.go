package media_test

import (
	"bytes"
	"context"
	"errors"
	"image/jpeg"
	"math"
	"os"
	"path/filepath"
	"testing"

	"fastbowlinglab/shared/fault"
	"fastbowlinglab/shared/media"
)

// colours is a frame whose red rises across and whose green rises down.
func colours(w, h int) media.Frame {
	f := media.Frame{Width: w, Height: h}
	for y := range h {
		for x := range w {
			f.Pix = append(f.Pix, byte(255*x/w), byte(255*y/h), 128)
		}
	}
	return f
}

// TestJPEGShowsTheFrame: its colours and its size, odd ones too, under a header that
// says what it is.
func TestJPEGShowsTheFrame(t *testing.T) {
	for _, size := range [][2]int{{640, 360}, {321, 243}} {
		f := colours(size[0], size[1])
		b, err := f.JPEG(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if len(b) < 11 || string(b[6:10]) != "JFIF" {
			t.Errorf("no JFIF header: % x", b[:min(len(b), 20)])
		}
		img, err := jpeg.Decode(bytes.NewReader(b))
		if err != nil {
			t.Fatal(err)
		}
		if got := img.Bounds().Size(); got.X != f.Width || got.Y != f.Height {
			t.Fatalf("a picture of %v, want %v", got, size)
		}
		var got []byte
		for y := range f.Height {
			for x := range f.Width {
				r, g, b, _ := img.At(x, y).RGBA()
				got = append(got, byte(r>>8), byte(g>>8), byte(b>>8))
			}
		}
		if d := unlike(f.Pix, got); d > 1.5 {
			t.Errorf("%v: it differs by %.2f in the mean", size, d)
		}
	}
}

// TestNoJPEGIsNoVerdict: an encoder that fails, however it does, says nothing of the
// clip, and may be tried again.
func TestNoJPEGIsNoVerdict(t *testing.T) {
	for name, script := range map[string]string{
		"Killed":  "kill -9 $$",
		"Refuses": "echo no >&2; exit 1",
		"Half":    `printf '\377\330\377\340half'`,
		"Silent":  "cat >/dev/null",
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "ffmpeg"), []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
				t.Fatal(err)
			}
			t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
			b, err := colours(640, 360).JPEG(t.Context())
			var refused *media.Refusal
			if b != nil || errors.As(err, &refused) || fault.NameOf(err) != fault.Transient {
				t.Errorf("%d bytes, %v", len(b), err)
			}
		})
	}
}

func TestJPEGHeedsItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := colours(64, 36).JPEG(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// TestStillsAreStill: several pictures at once, of pictures kept and of others, are those
// that are given one by one, in order; where one cannot be had the others are.
func TestStillsAreStill(t *testing.T) {
	path := numbered(t, "clip.mp4", "")
	plain, err := media.Open(t.Context(), path, media.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	defer plain.Release()
	at := []float64{1.2, 0, 0.4, 0.4, 1.9}
	for name, info := range map[string]media.Info{"Kept": surveyed(t, path, 1280), "Sought": plain} {
		t.Run(name, func(t *testing.T) {
			next := 0
			media.Stills(t.Context(), path, info, at, 1280, func(i int, b []byte, err error) {
				want, errOne := media.Still(t.Context(), path, info, at[i], 1280)
				if i != next || err != nil || errOne != nil || !bytes.Equal(b, want) || len(want) == 0 {
					t.Errorf("picture %d, the %d.: %d bytes, %v; alone %d bytes, %v", i, next, len(b), err, len(want), errOne)
				}
				next++
			})
			if next != len(at) {
				t.Errorf("%d pictures of %d", next, len(at))
			}
		})
	}
	media.Stills(t.Context(), path, plain, []float64{math.NaN(), 0.4}, 1280, func(i int, b []byte, err error) {
		if bad := i == 0; bad != (err != nil) || bad != (b == nil) {
			t.Errorf("picture %d: %d bytes, %v", i, len(b), err)
		}
	})
	media.Stills(t.Context(), path, surveyed(t, path, 1280), nil, 1280, func(int, []byte, error) { t.Error("a picture of nothing") })
}

// TestHalfAnAnswerIsNone: an encoder that gives fewer pictures than it was asked for, or
// one that is cut, gives none.
func TestHalfAnAnswerIsNone(t *testing.T) {
	path := numbered(t, "clip.mp4", "")
	info := surveyed(t, path, 1280)
	one, err := media.Still(t.Context(), path, info, 0.5, 1280)
	if err != nil {
		t.Fatal(err)
	}
	for name, answer := range map[string][]byte{"One": one, "Cut": append(bytes.Clone(one), one[:len(one)-2]...), "Three": bytes.Repeat(one, 3), "Trailing": append(bytes.Repeat(one, 2), 0)} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := errors.Join(os.WriteFile(filepath.Join(dir, "answer"), answer, 0o644),
				os.WriteFile(filepath.Join(dir, "ffmpeg"), []byte("#!/bin/sh\ncat >/dev/null; exec cat "+dir+"/answer\n"), 0o755)); err != nil {
				t.Fatal(err)
			}
			t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
			media.Stills(t.Context(), path, info, []float64{0.5, 0.5}, 1280, func(i int, b []byte, err error) {
				if b != nil || fault.NameOf(err) != fault.Transient {
					t.Errorf("picture %d: %d bytes, %v", i, len(b), err)
				}
			})
		})
	}
}

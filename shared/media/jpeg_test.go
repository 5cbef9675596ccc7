package media_test

import (
	"bytes"
	"context"
	"errors"
	"image/jpeg"
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

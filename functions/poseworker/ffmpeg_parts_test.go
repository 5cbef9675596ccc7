package poseworker_test

import (
	"go/scanner"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestFFmpegHasWhatMediaUses: each filter and codec that shared/media names is
// among those that ffmpeg.sh builds in. Elsewhere ffmpeg has them all, so that only
// the image would fail.
func TestFFmpegHasWhatMediaUses(t *testing.T) {
	script, err := os.ReadFile("ffmpeg.sh")
	if err != nil {
		t.Fatal(err)
	}
	enabled := func(kind string) []string {
		m := regexp.MustCompile(`--enable-` + kind + `=(\S+)`).FindStringSubmatch(string(script))
		if m == nil {
			t.Fatalf("ffmpeg.sh enables no %s", kind)
		}
		return strings.Split(m[1], ",")
	}
	out, err := exec.Command("ffmpeg", "-v", "error", "-filters").Output()
	if err != nil {
		t.Skip("ffmpeg is not installed")
	}
	known := map[string]bool{}
	for line := range strings.Lines(string(out)) {
		if f := strings.Fields(line); len(f) > 2 && strings.Contains(f[2], "->") {
			known[f[1]] = true
		}
	}
	files, err := filepath.Glob("../../shared/media/*.go")
	if err != nil {
		t.Fatal(err)
	}
	files = slices.DeleteFunc(files, func(f string) bool { return strings.HasSuffix(f, "_test.go") })
	used, codecs := map[string]bool{}, map[string]bool{}
	filter := regexp.MustCompile(`(?:^|[,;\]]|%s)([a-z]+)(?:=|$|,|\[)`)
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range literals(b) {
			for _, m := range filter.FindAllStringSubmatch(s, -1) {
				if known[m[1]] {
					used[m[1]] = true
				}
			}
		}
		if _, list, ok := strings.Cut(string(b), "var codecs = map[string]bool{"); ok {
			list, _, _ = strings.Cut(list, "}")
			for _, m := range regexp.MustCompile(`"(\w+)": true`).FindAllStringSubmatch(list, -1) {
				codecs[m[1]] = true
			}
		}
	}
	if len(used) < 12 || len(codecs) < 8 {
		t.Fatalf("shared/media uses the filters %v and the codecs %v: that cannot be all", used, codecs)
	}
	for f := range used {
		if !slices.Contains(enabled("filter"), f) {
			t.Errorf("shared/media uses the filter %s, which ffmpeg.sh does not build", f)
		}
	}
	for c := range codecs {
		if c == "av1" {
			c = "libdav1d" // the decoder of its own needs hardware
		}
		if !slices.Contains(enabled("decoder"), c) {
			t.Errorf("shared/media decodes %s, which ffmpeg.sh does not build", c)
		}
	}
	for kind, names := range map[string][]string{
		"demuxer": {"mov", "matroska", "mpegts", "avi", "rawvideo"},
		"encoder": {"rawvideo", "mjpeg"}, // pictures, and JPEGs of them
		"muxer":   {"rawvideo", "mjpeg"},
	} {
		for _, name := range names {
			if !slices.Contains(enabled(kind), name) {
				t.Errorf("ffmpeg.sh does not build the %s %s", kind, name)
			}
		}
	}
}

// literals gives the string literals of a Go file.
func literals(src []byte) []string {
	var s scanner.Scanner
	files := token.NewFileSet()
	s.Init(files.AddFile("", files.Base(), len(src)), src, nil, 0)
	var out []string
	for {
		_, tok, lit := s.Scan()
		if tok == token.EOF {
			return out
		}
		if text, err := strconv.Unquote(lit); tok == token.STRING && err == nil {
			out = append(out, text)
		}
	}
}

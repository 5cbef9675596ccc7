package media

import (
	"bytes"
	"fmt"

	"fastbowlinglab/shared/reason"
)

// headBytes is how much of a file is looked at to tell its container.
const headBytes = 1024

// container names the demuxer for a file that starts with head, or refuses it.
// The name of the file plays no part.
func container(head []byte) (string, error) {
	at := func(off int, magic string) bool {
		return len(head) >= off+len(magic) && string(head[off:off+len(magic)]) == magic
	}
	switch {
	case len(head) == 0:
		return "", refuse(reason.MediaEmpty, "0 bytes")
	case at(4, "ftyp"):
		return isoBrand(head)
	case at(4, "moov"), at(4, "mdat"), at(4, "wide"), at(4, "free"), at(4, "skip"), at(4, "pnot"):
		return "mov", nil
	case at(0, "\x1a\x45\xdf\xa3"):
		return "matroska", nil
	case transportStream(head):
		return "mpegts", nil
	case at(0, "RIFF") && at(8, "AVI "):
		return "avi", nil
	}
	for _, k := range known {
		if at(k.off, k.magic) {
			return "", refuse(k.code, "%s", k.what)
		}
	}
	return "", refuse(reason.MediaNotVideo, "no known container; starts %s", printable(head))
}

// isoBrand tells pictures (HEIC, AVIF) and audio books from films, which share
// the ISO base media format.
func isoBrand(head []byte) (string, error) {
	if len(head) < 12 {
		return "", refuse(reason.MediaCut, "%d bytes of an ISO media file", len(head))
	}
	switch brand := string(head[8:12]); brand {
	case "heic", "heix", "heim", "heis", "mif1", "avif", "jxl ", "crx ":
		return "", refuse(reason.MediaStill, "ISO media brand %q", brand)
	case "M4A ", "M4B ", "F4A ", "F4B ":
		return "", refuse(reason.MediaNoVideo, "ISO media brand %q", brand)
	}
	return "mov", nil
}

// transportStream looks for three sync bytes at the packet spacing of plain
// and of time-stamped (AVCHD) transport streams.
func transportStream(head []byte) bool {
	for _, p := range [...]struct{ start, step int }{{0, 188}, {4, 192}} {
		n := 0
		for i := p.start; i < len(head) && head[i] == 0x47; i += p.step {
			n++
		}
		if n >= 3 {
			return true
		}
	}
	return false
}

var known = []struct {
	off   int
	magic string
	code  reason.Code
	what  string
}{
	{0, "\xff\xd8\xff", reason.MediaStill, "JPEG"},
	{0, "\x89PNG", reason.MediaStill, "PNG"},
	{0, "II*\x00", reason.MediaStill, "TIFF"},
	{0, "MM\x00*", reason.MediaStill, "TIFF"},
	{0, "BM", reason.MediaStill, "BMP"},
	{8, "WEBP", reason.MediaStill, "WebP"},
	{0, "GIF8", reason.MediaStill, "GIF"},
	{8, "WAVE", reason.MediaNoVideo, "WAVE audio"},
	{0, "ID3", reason.MediaNoVideo, "MP3 audio"},
	{0, "fLaC", reason.MediaNoVideo, "FLAC audio"},
	{0, "OggS", reason.MediaUnsupported, "Ogg"},
	{0, "FLV\x01", reason.MediaUnsupported, "FLV"},
	{0, "\x30\x26\xb2\x75", reason.MediaUnsupported, "ASF (WMV)"},
	{0, "\x00\x00\x01\xba", reason.MediaUnsupported, "MPEG programme stream"},
	{0, "\x00\x00\x00\x01", reason.MediaUnsupported, "bare video stream"},
}

// printable gives the first bytes for a log line.
func printable(head []byte) string {
	h := head[:min(len(head), 8)]
	if bytes.IndexFunc(h, func(r rune) bool { return r < 0x20 || r > 0x7e }) >= 0 {
		return fmt.Sprintf("% x", h)
	}
	return fmt.Sprintf("%q", h)
}

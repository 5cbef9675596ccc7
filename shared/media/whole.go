package media

import (
	"encoding/binary"
	"io"
	"math/bits"

	"fastbowlinglab/shared/reason"
)

// minPresent is the share of a file's declared bytes below which it is refused
// as cut before anything is decoded. Frames decides the finer cases by what
// can be decoded.
const minPresent = 0.8

// maxBoxes bounds the walk over top-level boxes: each may cost one request.
const maxBoxes = 64

// checkWhole refuses a file whose own structure says that a good part of it is
// missing: an ISO media file without its index, or a container that declares
// more bytes than there are.
func checkWhole(r io.ReaderAt, size int64, demuxer string) error {
	switch demuxer {
	case "mov":
		return checkBoxes(r, size)
	case "matroska":
		return checkSegment(r, size)
	case "avi":
		var h [8]byte
		if _, err := r.ReadAt(h[:], 0); err != nil {
			return err
		}
		return checkShare(size, 8+int64(binary.LittleEndian.Uint32(h[4:])), "RIFF")
	}
	return nil
}

func checkShare(have, declared int64, what string) error {
	if declared > 0 && float64(have) < minPresent*float64(declared) {
		return refuse(reason.MediaCut, "%s declares %d bytes, the file has %d", what, declared, have)
	}
	return nil
}

// checkBoxes walks the top-level boxes of an ISO media file.
func checkBoxes(r io.ReaderAt, size int64) error {
	var moov, fragmented bool
	for off, n := int64(0), 0; off < size && n < maxBoxes; n++ {
		kind, length, err := readBox(r, off, size)
		if err == io.EOF {
			break // a stump of a header
		}
		if err != nil {
			return err
		}
		switch kind {
		case "moov":
			moov = true
		case "moof":
			fragmented = true
		}
		end := off + length
		if length < 8 || end < off { // not a box: the walk cannot go on
			break
		}
		if end > size {
			if kind == "moov" {
				return refuse(reason.MediaCut, "the index (moov) is incomplete")
			}
			if moov {
				return checkShare(size, end, kind)
			}
		}
		off = end
		if moov && fragmented {
			break // the rest are pairs of moof and mdat
		}
		if n == maxBoxes-1 {
			return nil // too many to tell; decoding decides
		}
	}
	if !moov {
		return refuse(reason.MediaCut, "there is no index (moov)")
	}
	return nil
}

// readBox reads a box header: its type and its length with the header; a box
// that runs to the end of the file gets the length to there.
func readBox(r io.ReaderAt, off, size int64) (kind string, length int64, err error) {
	var h [16]byte
	want := int(min(16, size-off))
	if want < 8 {
		return "", 0, io.EOF
	}
	if _, err := r.ReadAt(h[:want], off); err != nil {
		return "", 0, err
	}
	length = int64(binary.BigEndian.Uint32(h[:4]))
	switch {
	case length == 0:
		length = size - off
	case length == 1 && want == 16:
		length = int64(binary.BigEndian.Uint64(h[8:]))
	}
	return string(h[4:8]), length, nil
}

// checkSegment reads the EBML header and the declared size of the segment that
// follows it. A live recording declares none.
func checkSegment(r io.ReaderAt, size int64) error {
	head := make([]byte, min(size, headBytes))
	if _, err := r.ReadAt(head, 0); err != nil {
		return err
	}
	hlen, n := ebmlSize(head[min(4, len(head)):])
	at := 4 + n + int(min(hlen, headBytes))
	if n == 0 || at+4 >= len(head) || binary.BigEndian.Uint32(head[at:]) != 0x18538067 {
		return nil // unusual; the demuxer decides
	}
	body, n := ebmlSize(head[at+4:])
	if n == 0 || body == 1<<(7*n)-1 { // all ones: unknown
		return nil
	}
	return checkShare(size, int64(at+4+n)+body, "Segment")
}

// ebmlSize reads a variable-length size and tells its own length; 0 if none.
func ebmlSize(b []byte) (v int64, n int) {
	if len(b) == 0 || b[0] == 0 {
		return 0, 0
	}
	n = bits.LeadingZeros8(b[0]) + 1
	if len(b) < n {
		return 0, 0
	}
	v = int64(b[0]) & (1<<(8-n) - 1)
	for _, c := range b[1:n] {
		v = v<<8 | int64(c)
	}
	return v, n
}

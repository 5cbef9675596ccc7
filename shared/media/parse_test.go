package media

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"testing"
	"time"

	"fastbowlinglab/shared/reason"
)

func code(err error) reason.Code {
	var r *Refusal
	if errors.As(err, &r) {
		return r.Code
	}
	return ""
}

func TestTurnOf(t *testing.T) {
	const one = 65536
	for _, c := range []struct {
		name       string
		a, b, c, d int64
		want       Turn
	}{
		{"AsStored", one, 0, 0, one, Turn{}},
		{"Clockwise", 0, one, -one, 0, Turn{Quarter: 1}},
		{"UpsideDown", -one, 0, 0, -one, Turn{Quarter: 2}},
		{"Anticlockwise", 0, -one, one, 0, Turn{Quarter: 3}},
		{"Mirrored", -one, 0, 0, one, Turn{Flip: true}},
		{"UpsideDownMirror", one, 0, 0, -one, Turn{Quarter: 2, Flip: true}},
		{"Transposed", 0, one, one, 0, Turn{Quarter: 1, Flip: true}},
		{"NearlyClockwise", 3000, one, -one, 3000, Turn{Quarter: 1}},
		{"Nothing", 0, 0, 0, 0, Turn{}},
	} {
		got := turnOf([9]int64{c.a, c.b, 0, c.c, c.d, 0, 0, 0, 1 << 30})
		if got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}

// TestTurnFilters applies the filters' own meaning to the matrix' example point.
// Field case 24: upright once, and not twice.
func TestTurnFilters(t *testing.T) {
	for _, m := range [][4]int64{{1, 0, 0, 1}, {0, 1, -1, 0}, {-1, 0, 0, -1}, {0, -1, 1, 0}, {-1, 0, 0, 1}, {1, 0, 0, -1}, {0, 1, 1, 0}, {0, -1, -1, 0}} {
		x, y := int64(2), int64(1)
		wantX, wantY := m[0]*x+m[2]*y, m[1]*x+m[3]*y
		for _, f := range turnOf([9]int64{m[0], m[1], 0, m[2], m[3], 0, 0, 0, 1}).filters() {
			switch f {
			case "transpose=clock":
				x, y = -y, x
			case "transpose=cclock":
				x, y = y, -x
			case "hflip":
				x = -x
			case "vflip":
				y = -y
			}
		}
		if x != wantX || y != wantY {
			t.Errorf("matrix %v: (%d, %d), want (%d, %d)", m, x, y, wantX, wantY)
		}
	}
}

func box(kind string, size uint32, body int) []byte {
	b := binary.BigEndian.AppendUint32(nil, size)
	return append(append(b, kind...), make([]byte, body)...)
}

func TestCheckWhole(t *testing.T) {
	ftyp, moov := box("ftyp", 16, 8), box("moov", 108, 100)
	join := func(b ...[]byte) []byte { return bytes.Join(b, nil) }
	long := binary.BigEndian.AppendUint64(append([]byte{0, 0, 0, 1}, "mdat"...), 1016)
	segment := func(size uint64) []byte {
		b := []byte{0x1a, 0x45, 0xdf, 0xa3, 0x84, 0, 0, 0, 0, 0x18, 0x53, 0x80, 0x67}
		return append(binary.BigEndian.AppendUint64(b, 1<<56|size), make([]byte, 500)...)
	}
	for _, c := range []struct {
		name    string
		demuxer string
		file    []byte
		want    reason.Code
	}{
		{"Whole", "mov", join(ftyp, moov, box("mdat", 1008, 1000)), ""},
		{"IndexLast", "mov", join(ftyp, box("mdat", 1008, 1000), moov), ""},
		{"LargeBox", "mov", join(ftyp, moov, long, make([]byte, 1000)), ""},
		{"DataToTheEnd", "mov", join(ftyp, moov, box("mdat", 0, 1000)), ""},
		{"LittleMissing", "mov", join(ftyp, moov, box("mdat", 1008, 950)), ""},
		{"HalfMissing", "mov", join(ftyp, moov, box("mdat", 1008, 400)), reason.MediaCut},
		{"HalfOfALargeBoxMissing", "mov", join(ftyp, moov, long, make([]byte, 300)), reason.MediaCut},
		{"NoIndex", "mov", join(ftyp, box("mdat", 1008, 1000)), reason.MediaCut},
		{"HalfAnIndex", "mov", join(ftyp, box("moov", 108, 50)), reason.MediaCut},
		{"Stump", "mov", ftyp, reason.MediaCut},
		{"Fragments", "mov", join(ftyp, moov, box("moof", 58, 50), box("mdat", 1008, 1000)), ""},
		{"Backwards", "mov", join(ftyp, moov, box("mdat", 3, 1000)), ""},
		{"Segment", "matroska", segment(500), ""},
		{"SegmentUnknown", "matroska", segment(1<<56 - 1), ""},
		{"SegmentCut", "matroska", segment(5000), reason.MediaCut},
		{"Interleaved", "avi", append([]byte("RIFF\xf0\x00\x00\x00AVI "), make([]byte, 240)...), ""},
		{"InterleavedCut", "avi", append([]byte("RIFF\xf0\x00\x00\x00AVI "), make([]byte, 100)...), reason.MediaCut},
		{"Anything", "mpegts", nil, ""},
	} {
		if err := checkWhole(bytes.NewReader(c.file), int64(len(c.file)), c.demuxer); code(err) != c.want || c.want == "" && err != nil {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

func TestText(t *testing.T) {
	for in, want := range map[text]float64{
		"30000/1001": 30000.0 / 1001, "30/1": 30, "3:4": 0.75, "32700/1091|": 32700.0 / 1091,
		"0/0": 0, "N/A": 0, "": 0, "1/0": 0, "-1/2": 0, "inf/1": 0, "nan/1": 0, "1e308/1e-308": 0, "25": 0,
	} {
		if got, ok := in.ratio(); got != want || ok != (want > 0) {
			t.Errorf("%q: %g, %t", in, got, ok)
		}
	}
}

// Field case 26: rates like "0/0", "N/A" and "32700/1091|"; field case 29: no duration, the wrong track.
func TestParseProbe(t *testing.T) {
	const video = `{"index":1,"codec_type":"video","codec_name":"h264","width":640,"height":360`
	for _, c := range []struct {
		name, json string
		want       reason.Code
		check      func(Info) bool
	}{
		{"UnknownRates", `{"streams":[` + video + `,"avg_frame_rate":"0/0","nb_frames":"N/A","duration":"N/A"}],"format":{"duration":"N/A"}}`, "",
			func(i Info) bool { return i.FrameRate == 0 && i.Frames == 0 && i.Duration == 0 }},
		{"RateWithBar", `{"streams":[` + video + `,"avg_frame_rate":"32700/1091|"}]}`, "", func(i Info) bool { return i.FrameRate > 29 }},
		{"Infinity", `{"streams":[` + video + `,"duration":"inf"}],"format":{"duration":"nan"}}`, "", func(i Info) bool { return i.Duration == 0 }},
		{"NumberForText", `{"streams":[` + video + `,"nb_frames":12}]}`, "", func(i Info) bool { return i.Frames == 12 }},
		{"HugeCount", `{"streams":[` + video + `,"nb_frames":"1e300"}]}`, "", func(i Info) bool { return i.Frames == 0 }},
		{"AspectBeyondReason", `{"streams":[` + video + `,"sample_aspect_ratio":"1000:1"}]}`, "", func(i Info) bool { return i.Width == 640 }},
		{"NoStreams", `{}`, reason.MediaNoVideo, nil},
		{"CoverOnly", `{"streams":[` + video + `,"disposition":{"attached_pic":1}}]}`, reason.MediaNoVideo, nil},
		{"NoSize", `{"streams":[{"codec_type":"video","codec_name":"h264"}]}`, reason.MediaNoVideo, nil},
		{"OddCodec", `{"streams":[{"codec_type":"video","codec_name":"bmv_video","width":640,"height":360}]}`, reason.MediaUnsupported, nil},
		{"NotJSON", `Invalid data found`, reason.MediaUnreadable, nil},
	} {
		i, err := parseProbe([]byte(c.json), "mov")
		if code(err) != c.want || c.check != nil && (err != nil || !c.check(i)) {
			t.Errorf("%s: %+v, %v", c.name, i, err)
		}
	}
}

func FuzzParseProbe(f *testing.F) {
	f.Add([]byte(`{"streams":[{"index":0,"codec_type":"video","codec_name":"h264","width":640,"height":360,"sample_aspect_ratio":"1:1",` +
		`"avg_frame_rate":"30/1","duration":"3.0","nb_frames":"90","disposition":{"attached_pic":0},` +
		`"side_data_list":[{"displaymatrix":"\n00000000: 0 -65536 0\n00000001: 65536 0 0\n00000002: 0 0 1073741824\n"}]}],"format":{"start_time":"0","duration":"3"}}`))
	f.Add([]byte(`{"streams":[{"avg_frame_rate":"0/0"}]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		i, err := parseProbe(b, "mov")
		if err != nil {
			if code(err) == "" {
				t.Errorf("an error that is no refusal: %v", err)
			}
			return
		}
		bad := func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) || v < 0 }
		if i.Width <= 0 || i.Height <= 0 || i.Frames < 0 || bad(i.Duration) || bad(i.FrameRate) || math.IsNaN(i.FileStart) {
			t.Errorf("%+v", i)
		}
	})
}

func FuzzContainer(f *testing.F) {
	f.Add([]byte("\x00\x00\x00\x18ftypisom"))
	f.Add([]byte("\x1a\x45\xdf\xa3\x9f"))
	f.Fuzz(func(t *testing.T, b []byte) {
		d, err := container(b[:min(len(b), headBytes)])
		if (d == "") == (err == nil) {
			t.Fatalf("%q, %v", d, err)
		}
		if err == nil {
			if err := checkWhole(bytes.NewReader(b), int64(len(b)), d); err != nil && code(err) == "" && !errors.Is(err, io.EOF) {
				t.Errorf("an error that is no refusal: %v", err)
			}
		}
	})
}

func TestParseRange(t *testing.T) {
	for h, want := range map[string][2]int64{
		"": {0, 99}, "bytes=0-": {0, 99}, "bytes=10-19": {10, 19}, "bytes=90-500": {90, 99},
	} {
		if a, b, ok := parseRange(h, 100); !ok || a != want[0] || b != want[1] {
			t.Errorf("%q: %d-%d, %t", h, a, b, ok)
		}
	}
	for _, h := range []string{"bytes=100-", "bytes=-5", "bytes=5-4", "items=0-1", "bytes=x-", "bytes=1", "bytes=0-1,3-4"} {
		if a, b, ok := parseRange(h, 100); ok {
			t.Errorf("%q: %d-%d", h, a, b)
		}
	}
}

// TestStalledProgramIsGivenUp runs a program that says nothing, in place of a
// decoder that hangs.
func TestStalledProgramIsGivenUp(t *testing.T) {
	old := stallTimeout
	stallTimeout = 50 * time.Millisecond
	defer func() { stallTimeout = old }()
	p, err := start(t.Context(), channels{sides: 1}, "sleep", "600")
	if err != nil {
		t.Fatal(err)
	}
	err = decoding{width: 2, height: 2}.read(p, Info{FrameRate: 30}, func(float64, []byte) error { return nil })
	p.stop()
	if code(err) != reason.MediaUnreadable {
		t.Errorf("got %v", err)
	}
}

// TestChattyProgramDoesNotBlock lets a program say more than any pipe holds.
// Field case 32.
func TestChattyProgramDoesNotBlock(t *testing.T) {
	out, said, err := output(t.Context(), 100, "sh", "-c", "head -c 2000000 /dev/zero | tr '\\0' 'e' >&2; echo done")
	if err != nil || string(out) != "done\n" || len(said) > 200 {
		t.Errorf("%q, %d bytes said, %v", out, len(said), err)
	}
}

func TestKilledProgramIsTooLarge(t *testing.T) {
	if _, _, err := output(t.Context(), 100, "sh", "-c", "kill -9 $$"); code(err) != reason.MediaTooLarge {
		t.Errorf("got %v", err)
	}
}

// TestContextKillsTheGroup starts a program whose own child holds its output:
// the output ends only when both are gone.
func TestContextKillsTheGroup(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	p, err := start(ctx, channels{}, "sh", "-c", "sleep 600 & echo up; wait")
	if err != nil {
		t.Fatal(err)
	}
	defer p.stop()
	if _, err := p.stdout.Read(make([]byte, 3)); err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := p.stdout.SetReadDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := p.stdout.Read(make([]byte, 3)); err != io.EOF {
		t.Errorf("the output is still open: %v", err)
	}
}

package media

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"

	"fastbowlinglab/shared/reason"
)

// probed is the part of ffprobe's JSON that is read. Every field may be
// missing, or hold "N/A" or "0/0".
type probed struct {
	Streams []probedStream `json:"streams"`
	Format  struct {
		StartTime text `json:"start_time"`
		Duration  text `json:"duration"`
	} `json:"format"`
}

type probedStream struct {
	Index       int            `json:"index"`
	CodecType   text           `json:"codec_type"`
	CodecName   text           `json:"codec_name"`
	Width       int            `json:"width"`
	Height      int            `json:"height"`
	SAR         text           `json:"sample_aspect_ratio"`
	Pixels      text           `json:"pix_fmt"`
	Transfer    text           `json:"color_transfer"`
	Range       text           `json:"color_range"`
	Matrix      text           `json:"color_space"`
	FieldOrder  text           `json:"field_order"`
	AvgRate     text           `json:"avg_frame_rate"`
	RealRate    text           `json:"r_frame_rate"`
	Duration    text           `json:"duration"`
	Frames      text           `json:"nb_frames"`
	Disposition map[string]int `json:"disposition"`
	SideData    []struct {
		Matrix text `json:"displaymatrix"`
	} `json:"side_data_list"`
}

// text is a JSON string or number, kept as text.
type text string

// UnmarshalJSON implements json.Unmarshaler.
func (t *text) UnmarshalJSON(b []byte) error {
	var s string
	if json.Unmarshal(b, &s) == nil {
		*t = text(s)
		return nil
	}
	*t = text(b)
	return nil
}

// number reads a finite number; false for N/A and the like.
func (t text) number() (float64, bool) {
	v, err := strconv.ParseFloat(strings.TrimRight(string(t), "|"), 64)
	return v, err == nil && !math.IsInf(v, 0) && !math.IsNaN(v)
}

// ratio reads "30000/1001" or "3:4"; false unless it is positive and finite.
func (t text) ratio() (float64, bool) {
	s := strings.TrimRight(string(t), "|")
	num, den, ok := strings.Cut(s, "/")
	if !ok {
		num, den, ok = strings.Cut(s, ":")
	}
	if !ok {
		return 0, false
	}
	a, okA := text(num).number()
	b, okB := text(den).number()
	if !okA || !okB || a <= 0 || b <= 0 {
		return 0, false
	}
	r := a / b
	if r == 0 || math.IsInf(r, 0) {
		return 0, false
	}
	return r, true
}

// matrix reads the nine numbers of a display matrix as ffprobe prints them:
// three lines, each "00000000: a b c".
func (t text) matrix() (m [9]int64, ok bool) {
	n := 0
	for line := range strings.Lines(string(t)) {
		_, row, found := strings.Cut(line, ":")
		if !found {
			continue
		}
		for _, f := range strings.Fields(row) {
			v, err := strconv.ParseInt(f, 10, 64)
			if err != nil || n == 9 {
				return m, false
			}
			m[n] = v
			n++
		}
	}
	return m, n == 9
}

// codecs that are decoded. Others may well work; what is not needed is not run
// on strangers' bytes.
var codecs = map[string]bool{
	"h264": true, "hevc": true, "vp8": true, "vp9": true, "av1": true, "mpeg4": true,
	"mjpeg": true, "prores": true, "h263": true, "mpeg2video": true,
}

// parseProbe turns ffprobe's answer into an Info without Start, and with a zero
// Frames, Duration or FrameRate where the container does not say.
func parseProbe(b []byte, demuxer string) (Info, error) {
	var p probed
	if err := json.Unmarshal(b, &p); err != nil {
		return Info{}, refuse(reason.MediaUnreadable, "ffprobe's answer cannot be read")
	}
	s, err := chooseStream(p.Streams)
	if err != nil {
		return Info{}, err
	}
	info := Info{
		Container: demuxer, Codec: string(s.CodecName), Stream: s.Index,
		CodedWidth: s.Width, CodedHeight: s.Height, Transfer: string(s.Transfer),
		pixels: string(s.Pixels), matrix: string(s.Matrix), colourRange: string(s.Range),
		HDR:        s.Transfer == "smpte2084" || s.Transfer == "arib-std-b67",
		Interlaced: s.FieldOrder == "tt" || s.FieldOrder == "bb" || s.FieldOrder == "tb" || s.FieldOrder == "bt",
	}
	if !codecs[info.Codec] {
		return Info{}, refuse(reason.MediaUnsupported, "codec %.20q", info.Codec)
	}
	for _, d := range s.SideData {
		if m, ok := d.Matrix.matrix(); ok {
			info.Turn = turnOf(m)
			info.Mirrored = info.Turn.Flip
			break
		}
	}
	info.Width, info.Height = displayed(s.Width, s.Height, s.SAR, info.Turn)
	if v, ok := p.Format.StartTime.number(); ok {
		info.FileStart = v
	}
	info.measure(s, p.Format.Duration)
	return info, nil
}

// measure fills in duration, rate and number of frames as far as the container
// gives them. An edit list shortens the track's duration but not nb_frames.
func (i *Info) measure(s probedStream, formatDuration text) {
	if v, ok := s.Duration.number(); ok && v > 0 {
		i.Duration = v
	} else if v, ok := formatDuration.number(); ok && v > 0 {
		i.Duration = v
	}
	if v, ok := s.AvgRate.ratio(); ok {
		i.FrameRate = v
	}
	n, ok := s.Frames.number()
	if !ok || n < 1 || n > math.MaxInt32 {
		return
	}
	i.Frames = int(n)
	if i.Duration > 0 && i.FrameRate > 0 {
		if shown := int(math.Round(i.Duration * i.FrameRate)); shown < i.Frames {
			i.Frames, i.Edited = max(shown, 1), true
		}
	}
}

// chooseStream gives the largest real video track: no cover art, no thumbnail.
func chooseStream(all []probedStream) (probedStream, error) {
	best := -1
	var art bool
	for i, s := range all {
		if s.CodecType != "video" {
			continue
		}
		if s.Disposition["attached_pic"] != 0 || s.Disposition["timed_thumbnails"] != 0 {
			art = true
			continue
		}
		if s.Width <= 0 || s.Height <= 0 || s.Index < 0 {
			continue
		}
		if best < 0 || area(s) > area(all[best]) {
			best = i
		}
	}
	if best < 0 {
		return probedStream{}, refuse(reason.MediaNoVideo, "no video track of %d tracks (cover art: %t)", len(all), art)
	}
	return all[best], nil
}

func area(s probedStream) int64 { return int64(s.Width) * int64(s.Height) }

// displayed gives the size after pixel aspect and turn. An aspect beyond 4:1 is
// taken for a fault of the file and ignored.
func displayed(w, h int, sar text, t Turn) (int, int) {
	if r, ok := sar.ratio(); ok && r >= 0.25 && r <= 4 {
		w = max(1, int(math.Round(float64(w)*r)))
	}
	if t.sideways() {
		w, h = h, w
	}
	return w, h
}

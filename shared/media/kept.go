package media

import (
	"context"
	"math"
	"os"
	"sort"
	"strconv"
	"sync"
)

// keptBytes bounds the pictures of one clip that are kept for its next reader: 380
// frames scaled to 1280 x 720. They lie in a file that has no name any more, so
// that they end with the process however it ends, and mostly in the system's
// cache: more would come to be written to a disk that is slower than a decoder.
const keptBytes = 512 << 20

// kept is what one survey of a clip leaves for those who read it next.
type kept struct {
	mu    sync.Mutex
	known bool
	start float64 // of the first frame, in the container's time

	times []float64 // of every frame, from the first one on
	place []int32   // its picture's place among those kept

	format        pixelFormat // of the pictures kept
	width, height int         // as stored, before the turn
	scaled        bool
	frame         int64    // bytes of a picture
	file          *os.File // nil when none are kept
	stored        int64    // bytes written
}

// pixelFormat is a planar format of ffmpeg, with the bytes of a sample and the
// chroma subsampling: by how many times the two planes of colour are smaller.
type pixelFormat struct {
	name       string
	bytes      int64
	subX, subY int // across, down
}

var pixelFormats = map[string]pixelFormat{}

func init() {
	for _, f := range []pixelFormat{
		{"yuv420p", 1, 2, 2}, {"yuvj420p", 1, 2, 2}, {"yuv420p10le", 2, 2, 2},
		{"yuv422p", 1, 2, 1}, {"yuvj422p", 1, 2, 1}, {"yuv422p10le", 2, 2, 1},
		{"yuv444p", 1, 1, 1}, {"yuvj444p", 1, 1, 1},
	} {
		pixelFormats[f.name] = f
	}
}

// size is the bytes of a picture.
func (f pixelFormat) size(w, h int) int64 {
	cw, ch := (w+f.subX-1)/f.subX, (h+f.subY-1)/f.subY
	return f.bytes * (int64(w)*int64(h) + 2*int64(cw)*int64(ch))
}

// plan decides whether pictures are kept, and how large. Without a file to keep
// them in none are: they are a saving, not a need.
func (k *kept) plan(info Info, maxSide int) {
	f, ok := pixelFormats[info.pixels]
	if !ok || info.Interlaced || !ranges[info.colourRange] || !matrices[info.matrix] {
		return
	}
	k.format, k.width, k.height, k.scaled = f, info.CodedWidth, info.CodedHeight, false
	if max(info.Width, info.Height, info.CodedWidth, info.CodedHeight) > maxSide {
		w, h := info.FitSide(maxSide)
		if info.Turn.sideways() {
			w, h = h, w
		}
		k.width, k.height, k.scaled = w+w%2, h+h%2, true
	}
	if k.width%f.subX != 0 || k.height%f.subY != 0 {
		return // an odd side, which not every filter keeps
	}
	k.frame = f.size(k.width, k.height)
	if info.Frames <= 0 || k.frame*int64(info.Frames) > keptBytes {
		return
	}
	if file, err := nameless(); err == nil {
		k.file = file
	}
}

// nameless makes a file without a name. A variable for tests alone.
var nameless = func() (*os.File, error) {
	file, err := os.CreateTemp("", "frames-*")
	if err != nil {
		return nil, err
	}
	if err := os.Remove(file.Name()); err != nil {
		file.Close()
		return nil, err
	}
	return file, nil
}

func (k *kept) keeping() bool { return k.file != nil }

// output are the options of the decoder's output to the file, which is descriptor fd.
// More pictures than fit it does not write, and what is then missing comes from the clip.
func (k *kept) output(fd int) []string {
	return []string{"-map_metadata", "-1", "-fps_mode", "passthrough", "-frames:v", strconv.FormatInt(keptBytes/k.frame, 10),
		"-f", "rawvideo", "-pix_fmt", k.format.name, "-avioflags", "direct", "pipe:" + strconv.Itoa(fd)}
}

// measure notes how much was written.
func (k *kept) measure() {
	if i, err := k.file.Stat(); err == nil {
		k.stored = i.Size()
	}
}

// begin notes the time of the first frame.
func (k *kept) begin(at float64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.start, k.known = at, true
}

// startOf gives the time of the clip's first frame, once it is known.
func (k *kept) startOf() (float64, bool) {
	if k == nil {
		return 0, false
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.start, k.known
}

// drop lets go of the pictures.
func (k *kept) drop() {
	if k.file != nil {
		k.file.Close()
	}
	k.file, k.stored = nil, 0
}

// forget drops frames and pictures, and keeps the start.
func (k *kept) forget() {
	k.drop()
	k.times, k.place = nil, nil
}

// surveyed reports whether the clip's frames are known.
func (k *kept) surveyed() bool { return k != nil && len(k.times) > 0 }

// complete reports whether the picture of every frame is kept.
func (k *kept) complete() bool {
	return k != nil && k.file != nil && len(k.place) > 0 &&
		k.stored%k.frame == 0 && int64(k.place[len(k.place)-1]) < k.stored/k.frame
}

// holds reports whether every picture is kept at least as large as wanted.
func (k *kept) holds(info Info, maxSide int) bool {
	w, h := info.FitSide(maxSide)
	return k.complete() && (!k.scaled || max(w, h) <= max(k.width, k.height))
}

// read reads the picture of a frame as it was kept, of k.frame bytes.
func (k *kept) read(index int, into []byte) error {
	_, err := k.file.ReadAt(into, int64(k.place[index])*k.frame)
	return err
}

// at is the frame that is shown at or first after a time, or the last one.
func (k *kept) at(t float64) int {
	return min(sort.SearchFloat64s(k.times, t), len(k.times)-1)
}

// ranges and matrices are the colours that raw pictures can be told to have.
var (
	ranges   = map[string]bool{"": true, "unknown": true, "tv": true, "pc": true}
	matrices = map[string]bool{"": true, "unknown": true, "bt709": true, "smpte170m": true, "bt470bg": true, "bt2020nc": true}
)

// settle makes the time of the clip's first frame known.
func (s *source) settle(ctx context.Context, info *Info) error {
	if !math.IsNaN(info.Start) {
		return nil
	}
	if at, ok := info.kept.startOf(); ok {
		info.Start = at
		return nil
	}
	if err := s.findStart(ctx, info); err != nil {
		return err
	}
	info.kept.begin(info.Start)
	return nil
}

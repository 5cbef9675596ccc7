package image

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"fastbowlinglab/shared/names"
)

// clips are one of each codec and container that shared/media accepts, by the
// options that make it: what the image's own ffmpeg must decode.
var clips = map[string]string{
	"h264.mp4": "-c:v libx264 -preset ultrafast", "hevc.mp4": "-c:v libx265 -preset ultrafast -x265-params log-level=error",
	"hdr.mov":  "-c:v libx265 -preset ultrafast -x265-params log-level=error -pix_fmt yuv420p10le -color_trc arib-std-b67 -color_primaries bt2020 -colorspace bt2020nc",
	"vp8.webm": "-c:v libvpx", "vp9.webm": "-c:v libvpx-vp9 -cpu-used 8", "av1.mkv": "-c:v libaom-av1 -cpu-used 8", "mpeg4.avi": "-c:v mpeg4",
	"mjpeg.mov": "-c:v mjpeg -pix_fmt yuvj420p", "prores.mov": "-c:v prores_ks", "h263.3gp": "-c:v h263", "mpeg2video.ts": "-c:v mpeg2video",
	"h264.ts": "-c:v libx264 -preset ultrafast", "interlaced.ts": "-c:v mpeg2video -flags +ildct+ilme -top 1",
}

// filters are the chains of shared/media/decode.go: those of every clip, of an
// interlaced one, and of one in HDR.
const (
	chain       = `scale=w=88:h=72:flags=bilinear,format=rgb24,pad=88:72:-1:-1,transpose=clock,hflip,vflip,setsar=1,settb=1/1000000,metadata=mode=add:key=f:value=1,metadata=mode=print:file=/dev/null:direct=1`
	interlaced  = `yadif=mode=send_frame:deint=interlaced,select=gte(t\,0),`
	toneMapping = `zscale=w=88:h=72:tin=arib-std-b67:min=bt2020nc:pin=bt2020:t=linear:npl=203,format=gbrpf32le,zscale=p=bt709,tonemap=tonemap=mobius:param=0.5:desat=0,zscale=t=bt709:r=full,format=gbrp,`
)

// TestImageDecodes: the image's ffmpeg, which is built from Debian's source with
// little else, decodes whatever a clip may be.
func TestImageDecodes(t *testing.T) {
	_, store := images(t)
	dir := t.TempDir()
	script := "set -e\n"
	for name, options := range clips {
		args := append(append([]string{"-v", "error", "-f", "lavfi", "-i", "testsrc=s=176x144:r=25:d=0.2", "-pix_fmt", "yuv420p"}, strings.Fields(options)...), filepath.Join(dir, name))
		if out, err := exec.Command("ffmpeg", args...).CombinedOutput(); err != nil {
			t.Fatalf("make %s: %v: %s", name, err, out)
		}
		filters := chain
		switch name {
		case "hdr.mov":
			filters = toneMapping + chain
		case "interlaced.ts":
			filters = interlaced + chain
		}
		script += fmt.Sprintf("ffprobe -v error -show_entries stream=codec_name -of csv=p=0 /clips/%s >/dev/null\necho %s $(ffmpeg -nostdin -v error -i /clips/%s -vf '%s' -fps_mode passthrough -f rawvideo -pix_fmt rgb24 pipe:1 | wc -c)\n",
			name, name, name, filters)
	}
	container := buildah(t, store, "from", "--pull-never", "localhost/fbl-"+names.PoseWorker)
	t.Cleanup(func() { buildah(t, store, "rm", container) })
	out := buildah(t, store, "run", "--isolation", "chroot", "--volume", dir+":/clips:ro", container, "--", "/bin/sh", "-c", script)
	for name := range clips {
		var bytes int
		for line := range strings.Lines(out) {
			if clip, n, _ := strings.Cut(strings.TrimSpace(line), " "); clip == name {
				fmt.Sscan(n, &bytes)
			}
		}
		if frame := 88 * 72 * 3; bytes < 4*frame || bytes%frame != 0 {
			t.Errorf("%s gives %d bytes, want 5 pictures of %d", name, bytes, frame)
		}
	}
}

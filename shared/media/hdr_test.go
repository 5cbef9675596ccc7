package media_test

import (
	"path/filepath"
	"testing"

	"fastbowlinglab/shared/media"
)

// TestHDRIsMappedToSDR makes grey bands, writes them as PQ and as HLG, and wants
// them back about as bright, and in order. Unmapped, PQ's bands come out within
// a third of the range.
// Field case 31: PQ and HLG come out as SDR.
func TestHDRIsMappedToSDR(t *testing.T) {
	for _, transfer := range []string{"smpte2084", "arib-std-b67"} {
		t.Run(transfer, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "hdr.mov")
			ffmpeg(t, "-f", "lavfi", "-i", "color=black:s=320x160:r=10:d=1.2,format=gray,geq=lum=28+50*floor(X/64)",
				"-vf", "format=yuv420p,zscale=pin=bt709:tin=bt709:min=bt709:rin=pc:p=bt2020:t="+transfer+":m=bt2020nc:r=tv:npl=203,format=yuv420p10le",
				"-c:v", "libx265", "-x265-params", "log-level=none", "-color_primaries", "bt2020", "-color_trc", transfer,
				"-colorspace", "bt2020nc", path)
			info, err := media.Probe(t.Context(), path, media.DefaultLimits())
			if err != nil || !info.HDR {
				t.Fatalf("HDR %t, %v", info.HDR, err)
			}
			fs, err := media.Sample(t.Context(), path, info, 1, 0)
			if err != nil {
				t.Fatal(err)
			}
			var got []int
			for band := range 5 {
				got = append(got, int(fs[0].Pix[3*(80*320+64*band+32)+1]))
			}
			t.Logf("bands 28, 78, 128, 178, 228 come out as %d", got)
			for i := range got {
				want := 28 + 50*i
				if d := got[i] - want; d < -30 || d > 30 || i > 0 && got[i] < got[i-1]+15 {
					t.Errorf("bands %d", got)
					break
				}
			}
			if got[4]-got[0] < 110 {
				t.Errorf("bands %d: washed out", got)
			}
		})
	}
}

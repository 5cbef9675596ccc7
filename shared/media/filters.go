package media

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"sync"

	"fastbowlinglab/shared/fault"
)

// filters builds the filter chain: de-interlace, thin out, scale (first, since
// all that follows is cheaper on fewer pixels), map to SDR, turn, tell the time.
func (d decoding) filters(ctx context.Context, info Info) (string, error) {
	var f []string
	if info.Interlaced {
		f = append(f, deinterlace)
	}
	if d.every > 0 {
		f = append(f, fmt.Sprintf(`select=isnan(prev_selected_t)+gte(t-prev_selected_t\,%.6f)`, d.every))
	}
	w, h := d.width, d.height
	if info.Turn.sideways() {
		w, h = h, w
	}
	if info.HDR {
		ok, err := toneMapping(ctx)
		if err != nil {
			return "", err
		}
		if ok {
			f = append(f, fmt.Sprintf("zscale=w=%d:h=%d:tin=%s:min=bt2020nc:pin=bt2020:t=linear:npl=203", w, h, info.Transfer),
				"format=gbrpf32le", "zscale=p=bt709", "tonemap=tonemap=mobius:param=0.5:desat=0", "zscale=t=bt709:r=full", "format=gbrp")
		}
	}
	f = append(f, scaling(info, w, h)...)
	f = append(f, info.Turn.filters()...)
	f = append(f, "setsar=1")
	if !d.untimed {
		f = append(f, tellTimes(3))
	}
	return strings.Join(f, ","), nil
}

const deinterlace = "yadif=mode=send_frame:deint=interlaced"

// tellTimes writes each picture's time to a descriptor, in microseconds.
func tellTimes(fd int) string {
	return "settb=1/1000000,metadata=mode=add:key=f:value=1," + // print tells nothing of frames without metadata
		fmt.Sprintf(`metadata=mode=print:file=pipe\\:%d:direct=1`, fd)
}

// scaling brings a stored picture to w x h, before the turn.
func scaling(info Info, w, h int) []string {
	return []string{fit(info, w, h), "format=rgb24", fmt.Sprintf("pad=%d:%d:-1:-1", w, h)}
}

// fit scales to w x h. A track may change the shape of its picture on the way (the
// filters are then set up again): such a part is fitted in, for black bars to be
// added, never squashed.
func fit(info Info, w, h int) string {
	shape := float64(info.CodedWidth) / float64(info.CodedHeight)
	side := func(size int, fitted string) string {
		return fmt.Sprintf(`if(lt(abs(iw/ih-%.6f)\,%.6f)\,%d\,max(2\,trunc(min(%s))))`, shape, shape/50, size, fitted)
	}
	return fmt.Sprintf("scale=w=%s:h=%s:flags=bilinear",
		side(w, fmt.Sprintf(`%d\,%d*iw/ih`, w, h)), side(h, fmt.Sprintf(`%d\,%d*ih/iw`, h, w)))
}

// toneMapping reports whether this ffmpeg can map HDR to SDR (zscale, tonemap).
// Without it HDR clips are decoded as they are: pale, but in the right place.
func toneMapping(ctx context.Context) (bool, error) {
	toneOnce.Lock()
	defer toneOnce.Unlock()
	if toneOnce.known {
		return toneOnce.have, nil
	}
	out, _, err := output(ctx, maxProbeJSON, "ffmpeg", "-nostdin", "-hide_banner", "-v", "error", "-filters")
	if err != nil {
		var exit *exec.ExitError
		if errors.Is(err, errExit) || errors.As(err, &exit) {
			return false, fault.Wrap(fault.Permanent, err, "list ffmpeg's filters")
		}
		return false, err
	}
	list := string(out)
	toneOnce.known = true
	toneOnce.have = strings.Contains(list, " zscale ") && strings.Contains(list, " tonemap ")
	return toneOnce.have, nil
}

var toneOnce struct {
	sync.Mutex
	known, have bool
}

package demo

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"fastbowlinglab/shared/names"
)

// Clip is a file to be analysed. Whether it is a video is for the pipeline to
// say; an empty file goes through, to its honest end.
type Clip struct {
	Path   string
	Name   string
	Type   string // content type by the file's name
	Size   int64
	SHA256 string // of the content, in hex
}

var contentTypes = map[string]string{
	".mp4": "video/mp4", ".m4v": "video/x-m4v", ".mov": "video/quicktime", ".webm": "video/webm",
	".mkv": "video/x-matroska", ".avi": "video/x-msvideo", ".ts": "video/mp2t", ".3gp": "video/3gpp",
}

// OpenClip looks at a file and says in a sentence why it cannot be sent.
func OpenClip(path string) (Clip, error) {
	if path == "" {
		return Clip{}, errors.New("no clip is named; say which with CLIP=path")
	}
	st, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Clip{}, fmt.Errorf("there is no file %s", path)
	case errors.Is(err, fs.ErrPermission):
		return Clip{}, fmt.Errorf("no permission to look at %s", path)
	case err != nil:
		return Clip{}, fmt.Errorf("look at the clip: %w", err)
	case st.IsDir():
		return Clip{}, fmt.Errorf("%s is a folder; name one video file", path)
	case !st.Mode().IsRegular():
		return Clip{}, fmt.Errorf("%s is not a regular file", path)
	case st.Size() > names.MaxClipBytes:
		return Clip{}, fmt.Errorf("%s has %s; a clip may have at most %s", path, bytesText(st.Size()), bytesText(names.MaxClipBytes))
	}
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrPermission) {
		return Clip{}, fmt.Errorf("no permission to read %s", path)
	}
	if err != nil {
		return Clip{}, fmt.Errorf("open the clip: %w", err)
	}
	defer f.Close()
	h := sha256.New()
	n, err := io.Copy(h, f)
	if err != nil {
		return Clip{}, fmt.Errorf("read %s: %w", path, err)
	}
	t := contentTypes[strings.ToLower(filepath.Ext(path))]
	if t == "" {
		t = "application/octet-stream"
	}
	return Clip{Path: path, Name: filepath.Base(path), Type: t, Size: n, SHA256: hex.EncodeToString(h.Sum(nil))}, nil
}

// submissionKey is the client key of a clip: it follows from the content, so
// that sending the same clip again finds the analysis there is. extra makes
// another submission of the same clip.
func submissionKey(c Clip, extra string) string {
	sum := sha256.Sum256([]byte(c.SHA256 + "\x00" + extra))
	return "demo-" + hex.EncodeToString(sum[:16])
}

func bytesText(n int64) string {
	switch {
	case n >= 1<<30:
		return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	case n >= 1<<10:
		return fmt.Sprintf("%.0f KiB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%d bytes", n)
}

package media

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"fastbowlinglab/shared/fault"
	"fastbowlinglab/shared/reason"
)

// source is an opened clip: readable at any offset here, and given to ffmpeg
// as an input that can open nothing else.
type source struct {
	io.ReaderAt
	size  int64
	input string // what follows -i
	proto string // protocols that ffmpeg may use
	close func()
	// broken tells why the source could not be read, nil if it could or if what went
	// wrong is not the source's. It is how a failing network is told from a cut file.
	broken func(err error) error
}

// open opens a path, or a URL that starts with http:// or https://.
func open(ctx context.Context, src string) (*source, error) {
	if strings.HasPrefix(src, "http://") || strings.HasPrefix(src, "https://") {
		u, err := url.Parse(src)
		if err != nil { // the error would quote the URL and its signature
			return nil, fault.New(fault.Permanent, "open clip: the URL cannot be parsed")
		}
		return openRemote(ctx, u)
	}
	return openFile(src)
}

func openFile(path string) (*source, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("open clip: %w", err)
	}
	st, err := os.Stat(abs) // before Open: opening a named pipe would wait
	if err != nil {
		return nil, fmt.Errorf("open clip: %w", pathless(err))
	}
	if !st.Mode().IsRegular() {
		return nil, refuse(reason.MediaNotVideo, "not a regular file (%s)", st.Mode().Type())
	}
	f, err := os.Open(abs)
	if err != nil {
		return nil, fmt.Errorf("open clip: %w", pathless(err))
	}
	return &source{
		ReaderAt: f, size: st.Size(), input: "file:" + abs, proto: "file",
		close: func() { f.Close() }, broken: func(error) error { return nil },
	}, nil
}

// pathless drops the file's name, which may be the athlete's own words.
func pathless(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}

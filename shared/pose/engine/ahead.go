package engine

import (
	"context"
	"sync"

	"fastbowlinglab/shared/media"
)

// readAhead is how many decoded pictures may wait for the model.
const readAhead = 4

// buffers hold pictures that are done with, for the next ones: they are large, and
// memory that comes from the system anew has to be cleared first.
var buffers sync.Pool

// ahead runs decode on one goroutine and take on this one, so that the decoder
// works while the model does. decode gives each picture in a buffer of alloc's,
// which is used again once take is done with it.
func ahead(ctx context.Context, take func(media.Frame) error,
	decode func(ctx context.Context, alloc func(n int) []byte, give func(media.Frame) error) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	frames := make(chan media.Frame, readAhead)
	alloc := func(n int) []byte {
		if b, _ := buffers.Get().(*[]byte); b != nil && cap(*b) >= n {
			return (*b)[:n]
		}
		return make([]byte, n)
	}
	decoded := make(chan error, 1)
	go func() {
		defer close(frames)
		decoded <- decode(ctx, alloc, func(f media.Frame) error {
			select {
			case frames <- f:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		})
	}()
	for f := range frames {
		if err := take(f); err != nil {
			cancel()
			<-decoded
			return err
		}
		if f.Planes != nil {
			buffers.Put(&f.Planes.I420)
		} else if f.Pix != nil {
			buffers.Put(&f.Pix)
		}
	}
	return <-decoded
}

package posejob

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"

	"fastbowlinglab/shared/fault"
	"fastbowlinglab/shared/pose"
)

// Limits on one stored chunk, as it lies in storage and unpacked.
const (
	MaxChunkBytes    = 8 << 20
	maxUnpackedBytes = 64 << 20
)

// Pack makes the gzipped JSON of a chunk as it is stored.
func Pack(c pose.Chunk) ([]byte, error) {
	var buf bytes.Buffer
	z, err := gzip.NewWriterLevel(&buf, gzip.BestSpeed)
	if err != nil {
		return nil, err
	}
	if err := json.NewEncoder(z).Encode(c); err != nil {
		return nil, fault.Wrap(fault.Permanent, err, "encode chunk %d", c.Index)
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	if buf.Len() > MaxChunkBytes {
		return nil, fault.New(fault.Permanent, "chunk %d has %d bytes; the limit is %d", c.Index, buf.Len(), MaxChunkBytes)
	}
	return buf.Bytes(), nil
}

// Unpack reads a chunk as it is stored. It believes bytes only if the row knows them.
func Unpack(body []byte, cp Checkpoint, index int) (pose.Chunk, error) {
	var c pose.Chunk
	if sum := sha256.Sum256(body); !bytes.Equal(sum[:], cp.SHA256) {
		return c, fmt.Errorf("its %d bytes are not those that the row names", len(body))
	}
	z, err := gzip.NewReader(bytes.NewReader(body))
	if err != nil {
		return c, err
	}
	if err := json.NewDecoder(io.LimitReader(z, maxUnpackedBytes)).Decode(&c); err != nil {
		return c, err
	}
	if c.Index != index || len(c.Frames) != cp.Frames || c.Last != cp.Last {
		return c, fmt.Errorf("it holds chunk %d with %d frames", c.Index, len(c.Frames))
	}
	return c, nil
}

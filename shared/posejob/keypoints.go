package posejob

import (
	"context"
	"errors"
	"fmt"

	"fastbowlinglab/shared/awserr"
	"fastbowlinglab/shared/fault"
	"fastbowlinglab/shared/object"
	"fastbowlinglab/shared/pose"
	"fastbowlinglab/shared/retry"
)

// Keypoints reads the stored landmarks of a clip, chunk by chunk; ok is false for
// a clip that was not tracked to its end. Keypoints that the row names and that
// are no longer there, or are not what it says, are fault.Permanent: nothing can
// be measured from a part.
func Keypoints(ctx context.Context, objects object.Getter, bucket string, p retry.Policy, j Job, clip int) (t pose.Track, ok bool, err error) {
	cps := j.Chunks(clip)
	if len(cps) == 0 || !cps[len(cps)-1].Last {
		return t, false, nil
	}
	for i, cp := range cps {
		c, err := readChunk(ctx, objects, bucket, p, cp, i)
		if err != nil {
			return pose.Track{}, false, fmt.Errorf("keypoints of clip %d: %w", clip, err)
		}
		t.Width, t.Height, t.Mirrored, t.OtherRuns = c.Width, c.Height, c.Mirrored, c.OtherRuns
		t.Frames = append(t.Frames, c.Frames...)
	}
	return t, true, nil
}

func readChunk(ctx context.Context, objects object.Getter, bucket string, p retry.Policy, cp Checkpoint, index int) (pose.Chunk, error) {
	body, err := object.Read(ctx, objects, p, bucket, cp.Key, MaxChunkBytes)
	if errors.Is(err, object.ErrNotFound) {
		return pose.Chunk{}, fault.Wrap(fault.Permanent, err, "chunk %d is gone: keypoints are kept for a while only", index)
	}
	if err != nil {
		return pose.Chunk{}, awserr.Fault(err, fmt.Sprintf("read chunk %d", index))
	}
	c, err := Unpack(body, cp, index)
	return c, fault.Wrap(fault.Permanent, err, "chunk %d is not what its row says", index)
}

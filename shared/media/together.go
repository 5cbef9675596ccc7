package media

import "fastbowlinglab/shared/reason"

// Together bounds the frames of several clips, in their order.
type Together struct {
	Max int // frames of all of them

	sum int
}

// Fits is a refusal of a clip whose frames are more than those before it have left.
func (t *Together) Fits(frames int) error {
	if t.sum+frames > t.Max {
		return refuse(reason.MediaTooLong, "%d frames after %d of other clips; the limit is %d", frames, t.sum, t.Max)
	}
	return nil
}

// Add counts a clip.
func (t *Together) Add(frames int) { t.sum += frames }

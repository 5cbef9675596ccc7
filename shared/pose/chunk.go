package pose

import "encoding/json"

// Chunk is the unit of work and of checkpointing: the landmarks of consecutive
// frames of one clip, and the tracker's state after them, from which the next
// chunk goes on, in this process or in another.
type Chunk struct {
	Index     int             `json:"index"` // from 0, consecutive
	Width     int             `json:"width"` // displayed, pixels
	Height    int             `json:"height"`
	Mirrored  bool            `json:"mirrored,omitempty"` // as of a Track
	OtherRuns int             `json:"other_runs,omitempty"`
	Frames    []Frame         `json:"frames"`
	State     json.RawMessage `json:"state,omitempty"` // opaque to all but the tracker
	Last      bool            `json:"last"`            // no chunk of this clip follows
}

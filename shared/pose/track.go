package pose

// Landmark indices of the 33-point BlazePose topology (MediaPipe Pose). Left
// and right are the athlete's own.
const (
	Nose = iota
	LeftEyeInner
	LeftEye
	LeftEyeOuter
	RightEyeInner
	RightEye
	RightEyeOuter
	LeftEar
	RightEar
	MouthLeft
	MouthRight
	LeftShoulder
	RightShoulder
	LeftElbow
	RightElbow
	LeftWrist
	RightWrist
	LeftPinky
	RightPinky
	LeftIndex
	RightIndex
	LeftThumb
	RightThumb
	LeftHip
	RightHip
	LeftKnee
	RightKnee
	LeftAnkle
	RightAnkle
	LeftHeel
	RightHeel
	LeftFootIndex
	RightFootIndex
	Landmarks
)

// Point is a landmark in pixels of the displayed picture (after rotation and
// pixel aspect), origin at the top left, centre of the first pixel at 0.5.
// Visibility is in [0,1].
type Point struct {
	X          float64 `json:"x"`
	Y          float64 `json:"y"`
	Visibility float64 `json:"v"`
}

// Frame is one decoded frame. Time is its own presentation time in seconds,
// re-based so that the first frame is 0, strictly rising. Points is empty when
// no person was tracked; else it holds Landmarks points.
type Frame struct {
	Index  int     `json:"i"`
	Time   float64 `json:"t"`
	Score  float64 `json:"score"` // presence score of the landmark model, 0 when not tracked
	Points []Point `json:"points,omitempty"`
}

// Track is a bowler followed through one clip. Width and Height are those of
// the displayed picture, in pixels. Mirrored says that the picture as displayed
// is a mirror image of what stood before the camera: landmarks are named as they
// look in it, so that a left one is the athlete's right.
type Track struct {
	Width     int     `json:"width"`
	Height    int     `json:"height"`
	Mirrored  bool    `json:"mirrored,omitempty"`
	OtherRuns int     `json:"other_runs,omitempty"` // run-ups in the clip beside the one that was followed
	Frames    []Frame `json:"frames"`
}

// MinVisibility is the visibility below which a point counts as absent: its
// place is a guess and nothing may be measured from it.
const MinVisibility = 0.3

// Present reports whether the point was seen well enough to be measured from.
func (p Point) Present() bool { return p.Visibility >= MinVisibility }

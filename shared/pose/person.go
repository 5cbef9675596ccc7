package pose

// Person is someone that the detector found in a picture; pixels, angles in
// radians.
type Person struct {
	Score  float64 `json:"score"` // in [0,1]
	X      float64 `json:"x"`     // middle of the hips
	Y      float64 `json:"y"`
	Radius float64 `json:"radius"` // of the circle about the whole body
	Angle  float64 `json:"angle"`  // clockwise from upright
}

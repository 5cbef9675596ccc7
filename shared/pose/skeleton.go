package pose

// Bones are the pairs of landmarks that a drawn skeleton joins.
var Bones = [][2]int{
	{LeftShoulder, RightShoulder}, {LeftHip, RightHip},
	{LeftShoulder, LeftHip}, {RightShoulder, RightHip},
	{LeftShoulder, LeftElbow}, {LeftElbow, LeftWrist}, {LeftWrist, LeftIndex},
	{RightShoulder, RightElbow}, {RightElbow, RightWrist}, {RightWrist, RightIndex},
	{LeftHip, LeftKnee}, {LeftKnee, LeftAnkle}, {LeftAnkle, LeftHeel}, {LeftHeel, LeftFootIndex}, {LeftAnkle, LeftFootIndex},
	{RightHip, RightKnee}, {RightKnee, RightAnkle}, {RightAnkle, RightHeel}, {RightHeel, RightFootIndex}, {RightAnkle, RightFootIndex},
	{Nose, LeftShoulder}, {Nose, RightShoulder},
}

// names of the landmarks, by index.
var names = [Landmarks]string{
	"nose", "left_eye_inner", "left_eye", "left_eye_outer", "right_eye_inner", "right_eye", "right_eye_outer",
	"left_ear", "right_ear", "mouth_left", "mouth_right", "left_shoulder", "right_shoulder", "left_elbow",
	"right_elbow", "left_wrist", "right_wrist", "left_pinky", "right_pinky", "left_index", "right_index",
	"left_thumb", "right_thumb", "left_hip", "right_hip", "left_knee", "right_knee", "left_ankle", "right_ankle",
	"left_heel", "right_heel", "left_foot_index", "right_foot_index",
}

// Name gives a landmark's name as MediaPipe writes it, "" for no landmark.
func Name(k int) string {
	if k < 0 || k >= Landmarks {
		return ""
	}
	return names[k]
}

// Opposite gives the same landmark on the athlete's other side.
func Opposite(k int) int {
	switch {
	case k == Nose:
		return k
	case k <= RightEyeOuter: // three of the left eye, then three of the right
		return (k-LeftEyeInner+3)%6 + LeftEyeInner
	default: // left and right by turns
		return (k - LeftEar) ^ 1 + LeftEar
	}
}

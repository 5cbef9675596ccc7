// Package pose finds and follows the bowler in a clip: BlazePose's detector and
// landmark model through ONNX Runtime, with weights read from the files that
// MediaPipe publishes. It needs cgo; the types of a track and of a chunk do not.
package pose

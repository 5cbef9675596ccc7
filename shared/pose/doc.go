// Package pose is the result of finding and following the bowler in a clip: the
// landmark model through ONNX Runtime, with weights read from the files that
// types do not. README.md says how, and how well.
package pose

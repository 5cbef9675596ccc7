// Package pose is the result of finding and following the bowler in a clip: the
// types of a track and of a chunk, and the skeleton. Package engine makes them
// with cgo; these types need none. README.md says how it is done, and how well.
package pose

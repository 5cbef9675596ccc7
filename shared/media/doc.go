// Package media reads clips with ffmpeg and believes nothing they say about
// themselves: the container is decided by content, limits are checked before
// work, every frame carries its own time, and decoded frames against expected
// frames decide whether a file is cut.
package media

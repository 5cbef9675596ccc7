// Package e2e holds the end-to-end tests: the main job on the embedded cloud,
// with the function and worker binaries that `make functions` builds, on real
// video. `make test` builds them first; without them these tests are skipped.
package e2e

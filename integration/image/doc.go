// Package image holds the tests of the images that ship: they are built here,
// without a Docker engine and without a registry, and the main job runs with the
// worker and the precheck inside them. Where images cannot be built, the tests are
// skipped and say why.
package image

// Package pdf writes PDF 1.7 files: vector drawing, JPEG pictures, embedded
// subsets of TrueType fonts with the text of every cluster (so that search, copy
// and pdftotext work in any script), bookmarks, and a structure tree for screen
// readers. Coordinates are points from the page's top left, y downwards.
//
// The same calls give the same bytes: nothing is read from the clock, the
// environment or a random source.
package pdf

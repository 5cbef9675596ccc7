// Package report makes the athlete's report: report.pdf, pictures first, and
// report.json, the numbers behind it, whose schema is in the folder schema.
//
// New opens the fonts once; Build may then be called any number of times. The
// same input gives the same bytes: dates are the input's, in the athlete's time
// zone, whose data is part of the program.
//
// The work is split: package typeset turns text of any script into positioned
// glyphs, package pdf writes the file, and this package lays out the pages.
package report

// Package cases holds the table of field cases: which test shows each. It has no
// code but the test that holds the table against the tests.
package cases

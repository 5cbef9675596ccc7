// Package local is the embedded cloud: everything that the system uses of AWS,
// on this machine, behind one endpoint, running the real binaries against real
// files. README.md says what serves what, and ../README.md what it cannot prove.
package local

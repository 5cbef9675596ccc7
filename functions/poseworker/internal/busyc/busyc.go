// Package busyc holds a thread in C, as an inference does: the Go scheduler sees
// a call that does not return. It is for tests.
package busyc

/*
#include <time.h>

static double now(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec * 1e-9;
}

static void spin(double seconds) {
	double end = now() + seconds;
	while (now() < end) {
	}
}
*/
import "C"

// Spin computes for so many seconds in one C call.
func Spin(seconds float64) { C.spin(C.double(seconds)) }

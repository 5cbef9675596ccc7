#include <stdint.h>

// difference sums by how much the bytes of two parts differ, each by most_each at most: of
// every second row, which are stride apart. It ends early once the sum is above enough.
unsigned long difference(const uint8_t *a, const uint8_t *b, long stride, long width, long height,
	uint8_t most_each, unsigned long enough);

#include "difference.h"

unsigned long difference(const uint8_t *a, const uint8_t *b, long stride, long width, long height,
	uint8_t most_each, unsigned long enough) {
	unsigned long sum = 0;
	for (long y = 0; y < height && sum <= enough; y += 2, a += 2 * stride, b += 2 * stride) {
		unsigned row = 0;
		for (long x = 0; x < width; x++) {
			uint8_t d = a[x] > b[x] ? a[x] - b[x] : b[x] - a[x];
			row += d < most_each ? d : most_each;
		}
		sum += row;
	}
	return sum;
}

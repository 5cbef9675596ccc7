#include <stdint.h>

// A picture of w x h pixels, three or four bytes each (size), is sampled at n x n places.
// The first is (x, y), the next one across lies (ux, uy) further on, the next one down
// (vx, vy); (0, 0) is the centre of the first pixel. A sample is value*mul+add.
struct sampling {
	double x, y, ux, uy, vx, vy;
	int w, h, size, n;
	float mul, add;
};

void crop(const uint8_t *pix, const struct sampling *s, float *out);

// mirror flips an n x n sample left to right.
void mirror(float *sample, int n);

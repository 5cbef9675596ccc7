#include "crop.h"

#include <math.h>
#include <string.h>

// Red, green and blue of a pixel at once; the fourth value is of no use.
typedef float colour __attribute__((vector_size(16)));
typedef int whole __attribute__((vector_size(16)));
typedef unsigned short halves __attribute__((vector_size(16)));
typedef unsigned char bytes __attribute__((vector_size(16)));

// at widens four bytes in two steps, which compilers know as one instruction each.
static inline colour at(const unsigned char *p) {
	int four;
	memcpy(&four, p, sizeof four);
	bytes b = (bytes)(whole){four};
	halves h = (halves)__builtin_shuffle(b, (bytes){0}, (bytes){0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23});
	whole w = (whole)__builtin_shuffle(h, (halves){0}, (halves){0, 8, 1, 9, 2, 10, 3, 11});
	return __builtin_convertvector(w, colour);
}

static inline colour exactly(const unsigned char *p) {
	return (colour){p[0], p[1], p[2]};
}

static inline colour mixed(colour a, colour b, colour c, colour d, float dx, float dy) {
	colour top = a + (b - a) * dx, low = c + (d - c) * dx;
	return top + (low - top) * dy;
}

static inline int within(int i, int most) { return i < 0 ? 0 : i > most ? most : i; }

// edge is a sample of which not all four pixels around it lie in the picture, or of its
// last pixel, behind which nothing may be read. What lies outside is black.
static colour edge(const unsigned char *pix, const struct sampling *s, double x, double y) {
	double fx = floor(x), fy = floor(y);
	if (!(fx >= -1 && fy >= -1 && fx < s->w && fy < s->h)) return (colour){0};
	long left = within((int)fx, s->w - 1), right = within((int)fx + 1, s->w - 1);
	long upper = (long)within((int)fy, s->h - 1) * s->w, lower = (long)within((int)fy + 1, s->h - 1) * s->w;
	return mixed(exactly(pix + 3 * (upper + left)), exactly(pix + 3 * (upper + right)),
		exactly(pix + 3 * (lower + left)), exactly(pix + 3 * (lower + right)), x - fx, y - fy);
}

// inside tells whether all four pixels around a place lie in the picture, by a margin. At
// the last one they must not end, since the quick way reads a byte more than a pixel has.
static inline int inside(const struct sampling *s, double x, double y, double margin) {
	const double right = s->w - 1 - margin, bottom = s->h - 1 - margin;
	return x >= margin && y >= margin && x < right && y < bottom && !(x >= right - 1 && y >= bottom - 1);
}

void crop(const unsigned char *pix, const struct sampling *s, float *out) {
	const struct sampling k = *s;
	const long row = 3L * k.w;
	for (int j = 0; j < k.n; j++) {
		double x = k.x + j * k.vx, y = k.y + j * k.vy;
		// Between two places that are inside by a whole pixel, all are inside: it makes up for
		// the corner that is cut out of what is inside, across which a row may run.
		const int inner = inside(&k, x, y, 1) && inside(&k, x + (k.n - 1) * k.ux, y + (k.n - 1) * k.uy, 1);
		for (int i = 0; i < k.n; i++, out += 3, x += k.ux, y += k.uy) {
			colour c;
			if (inner || inside(&k, x, y, 0)) {
				int ix = (int)x, iy = (int)y;
				const unsigned char *p = pix + iy * row + 3 * ix;
				c = mixed(at(p), at(p + 3), at(p + row), at(p + row + 3), x - ix, y - iy);
			} else {
				c = edge(pix, s, x, y);
			}
			c = c * k.mul + k.add;
			out[0] = c[0], out[1] = c[1], out[2] = c[2];
		}
	}
}

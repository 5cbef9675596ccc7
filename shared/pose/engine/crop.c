#include "crop.h"

#include <math.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

// A sample is mixed of four pixels. The two above each other come first, in whole numbers:
// their weights sum to ONE, and the sum of a byte's products is exact in a float.
enum { ONE = 1 << 14, ONE_BITS = 14 };

// mixed gives a sample from left and right pixels of an upper and a lower row: dy of ONE
// further down than the upper one, dx of 1 to the right of the left one.
static inline void mixed(const uint8_t *a, const uint8_t *b, const uint8_t *c, const uint8_t *d,
	float dx, int dy, float mul, float add, float *out) {
	for (int k = 0; k < 3; k++) {
		float left = a[k] * (ONE - dy) + c[k] * dy, right = b[k] * (ONE - dy) + d[k] * dy;
		out[k] = (left + (right - left) * dx) * mul + add;
	}
}

static inline int within(int i, int most) { return i < 0 ? 0 : i > most ? most : i; }

// careful is a sample of which some pixels may lie outside the picture: in the place of one
// that does stands the nearest inside. What lies beyond is black.
static void careful(const uint8_t *pix, const struct sampling *s, double x, double y, float mul, float *out) {
	double fx = floor(x), fy = floor(y);
	if (!(fx >= -1 && fy >= -1 && fx < s->w && fy < s->h)) {
		out[0] = out[1] = out[2] = s->add;
		return;
	}
	int left = within((int)fx, s->w - 1), right = within((int)fx + 1, s->w - 1);
	const uint8_t *upper = pix + (long)s->size * s->w * within((int)fy, s->h - 1);
	const uint8_t *lower = pix + (long)s->size * s->w * within((int)fy + 1, s->h - 1);
	mixed(upper + s->size * left, upper + s->size * right, lower + s->size * left, lower + s->size * right,
		x - fx, (y - fy) * ONE, mul, s->add, out);
}

#ifdef __SSE2__
// four are a pixel's bytes and one more, which is of no use.
static inline __m128i four(const uint8_t *p) {
	int v;
	memcpy(&v, p, sizeof v);
	return _mm_cvtsi32_si128(v);
}

static inline __m128i two(const uint8_t *p, int size) {
	return size == 4 ? _mm_loadl_epi64((const __m128i *)p) : _mm_unpacklo_epi32(four(p), four(p + size));
}

// quickly is mixed for all three colours at once. It writes a fourth number.
static inline void quickly(const uint8_t *p, const uint8_t *q, int size, float dx, int dy, float mul, float add, float *out) {
	const __m128i none = _mm_setzero_si128(), rows = _mm_unpacklo_epi8(two(p, size), two(q, size));
	const __m128i weights = _mm_set1_epi32(dy << 16 | (ONE - dy));
	const __m128 left = _mm_cvtepi32_ps(_mm_madd_epi16(_mm_unpacklo_epi8(rows, none), weights));
	const __m128 right = _mm_cvtepi32_ps(_mm_madd_epi16(_mm_unpackhi_epi8(rows, none), weights));
	const __m128 v = _mm_add_ps(left, _mm_mul_ps(_mm_sub_ps(right, left), _mm_set1_ps(dx)));
	_mm_storeu_ps(out, _mm_add_ps(_mm_mul_ps(v, _mm_set1_ps(mul)), _mm_set1_ps(add)));
}
#else
static inline void quickly(const uint8_t *p, const uint8_t *q, int size, float dx, int dy, float mul, float add, float *out) {
	mixed(p, p + size, q, q + size, dx, dy, mul, add, out);
}
#endif

// inner samples n places of a row that all lie inside the picture, by a pixel at least.
static inline void inner(const uint8_t *pix, const struct sampling *s, int size, double x, double y, int n, float mul, float *out) {
	const double scale = 4294967296; // places are 2^32ths of a pixel, and one is the whole number above them
	int64_t fx = x * scale, fy = y * scale;
	const int64_t ux = s->ux * scale, uy = s->uy * scale;
	const long row = (long)size * s->w;
	const float add = s->add;
	for (int i = 0; i < n; i++, out += 3, fx += ux, fy += uy) {
		const uint8_t *p = pix + (fy >> 32) * row + (fx >> 32) * size;
		float dx = (int)((uint32_t)fx >> 8) * (1.0f / (1 << 24));
		quickly(p, p + row, size, dx, (uint32_t)fy >> (32 - ONE_BITS), mul, add, out);
	}
}

// narrow takes from a row's places, from *first to before *end, those at which v+i*step
// does not lie between 1 and most.
static void narrow(double v, double step, double most, int *first, int *end) {
	double a = -INFINITY, b = INFINITY;
	if (step != 0) a = (1 - v) / step, b = (most - v) / step;
	if (step < 0) {
		double c = a;
		a = b, b = c;
	}
	// What no picture is sampled with, and what is not a number, is for the careful.
	if (!(a <= b && fabs(step) <= most) || (step == 0 && !(v >= 1 && v <= most))) {
		*end = *first;
		return;
	}
	*first = fmin(fmax(ceil(a), *first), *end);
	*end = fmax(fmin(floor(b) + 1, *end), *first);
}

void crop(const uint8_t *pix, const struct sampling *s, float *out) {
	const float mul = s->mul / ONE;
	for (int j = 0; j < s->n; j++, out += 3 * s->n) {
		double x = s->x + j * s->vx, y = s->y + j * s->vy;
		int first = 0, end = s->n - 1; // not the last one, behind which a row or the sample ends
		narrow(x, s->ux, s->w - 3, &first, &end);
		narrow(y, s->uy, s->h - 3, &first, &end);
		for (int i = 0; i < s->n; i++) {
			if (i == first && first < end) {
				double fx = x + first * s->ux, fy = y + first * s->uy;
				if (s->size == 4) inner(pix, s, 4, fx, fy, end - first, mul, out + 3 * first);
				else inner(pix, s, 3, fx, fy, end - first, mul, out + 3 * first);
				i = end;
			}
			careful(pix, s, x + i * s->ux, y + i * s->uy, mul, out + 3 * i);
		}
	}
}

void mirror(float *sample, int n) {
	struct colour { float red, green, blue; };
	for (int row = 0; row < n; row++) {
		struct colour *left = (struct colour *)sample + row * n, *right = left + n - 1;
		for (; left < right; left++, right--) {
			struct colour was = *left;
			*left = *right, *right = was;
		}
	}
}

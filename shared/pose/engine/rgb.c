#include "rgb.h"

// The loops are written so that a compiler does many pixels at once, and machines that have
// wider registers than the plainest of their kind use them.
#if defined(__x86_64__) && defined(__linux__)
#define WIDE __attribute__((target_clones("avx2", "default")))
#else
#define WIDE
#endif

enum { MOST = 64 }; // pixels at a time, so that all between stays near

static inline int16_t share(int d, int16_t of) { return (int16_t)(d * 8 * of >> 16); }
static inline uint32_t byte(int16_t v) { return v < 0 ? 0 : v > 255 ? 255 : v; }

// pixels turns n neighbours, of which two share their colour differences.
WIDE static void pixels(const uint8_t *ys, const uint8_t *us, const uint8_t *vs, int n, const struct part *p, uint32_t *out) {
	const int16_t black = p->black, luma = p->luma;
	const int16_t red_cr = p->red_cr, green_cb = p->green_cb, green_cr = p->green_cr, blue_cb = p->blue_cb;
	int16_t red[MOST], green[MOST], blue[MOST];
	for (int i = 0; i < n / 2; i++) {
		int16_t u = us[i] - 128, v = vs[i] - 128;
		red[2 * i] = red[2 * i + 1] = share(v, red_cr);
		green[2 * i] = green[2 * i + 1] = share(u, green_cb) + share(v, green_cr);
		blue[2 * i] = blue[2 * i + 1] = share(u, blue_cb);
	}
	for (int i = 0; i < n; i++) {
		int16_t y = share(ys[i] - black, luma);
		out[i] = byte(y + red[i]) | byte(y + green[i]) << 8 | byte(y + blue[i]) << 16;
	}
}

void to_rgb(const uint8_t *i420, const struct part *p, uint32_t *out) {
	const uint8_t *cb = i420 + (long)p->width * p->height, *cr = cb + (long)p->width * p->height / 4;
	uint32_t turned[MOST];
	for (long y = p->y0; y < p->y1; y++) {
		const uint8_t *ys = i420 + y * p->width;
		const long half = y / 2 * (p->width / 2);
		for (long x = p->x0; x < p->x1; x += MOST) {
			int n = p->x1 - x < MOST ? p->x1 - x : MOST;
			uint32_t *o = out + p->at + y * p->dy + x * p->dx;
			if (p->dx == 1) {
				pixels(ys + x, cb + half + x / 2, cr + half + x / 2, n, p, o);
				continue;
			}
			pixels(ys + x, cb + half + x / 2, cr + half + x / 2, n, p, turned);
			for (int i = 0; i < n; i++) o[i * p->dx] = turned[i];
		}
	}
}

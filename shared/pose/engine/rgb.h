#include <stdint.h>

// A part of a picture in I420: columns x0 to before x1, both even, of rows y0 to before
// y1. Colours are media.Colours. Of the picture that is written, four bytes a pixel, the
// stored one's first pixel is the at-th, the next across and down are dx and dy further on.
struct part {
	int width, height, x0, y0, x1, y1;
	int16_t black, luma, red_cr, green_cb, green_cr, blue_cb;
	long at, dx, dy;
};

void to_rgb(const uint8_t *i420, const struct part *p, uint32_t *out);

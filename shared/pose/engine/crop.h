// A picture of w x h pixels, three bytes each, is sampled at n x n places. The first
// is (x, y), the next one across lies (ux, uy) further on, the next one down (vx, vy);
// (0, 0) is the centre of the first pixel. A sample is value*mul+add.
struct sampling {
	double x, y, ux, uy, vx, vy;
	int w, h, n;
	float mul, add;
};

void crop(const unsigned char *pix, const struct sampling *s, float *out);

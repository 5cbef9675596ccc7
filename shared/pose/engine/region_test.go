package engine

import (
	"image"
	"math"
	"math/rand/v2"
	"slices"
	"syscall"
	"testing"
)

// TestBoundsHoldWhatIsSampled: no pixel outside a region's bounds comes to be read.
func TestBoundsHoldWhatIsSampled(t *testing.T) {
	const n = 32
	rnd := rand.New(rand.NewPCG(1, 2))
	p := picture{w: 200, h: 120, depth: rgbDepth, pix: make([]byte, rgbDepth*200*120)}
	out := make([]float32, 3*n*n)
	for range 300 {
		r := region{X: 240*rnd.Float64() - 20, Y: 160*rnd.Float64() - 20, Side: 4 + 100*rnd.Float64(), Angle: 2 * math.Pi * rnd.Float64()}
		for i := range p.pix {
			p.pix[i] = 255 // what was not filled
		}
		p.fill = func(b image.Rectangle) {
			b = b.Intersect(image.Rect(0, 0, p.w, p.h))
			for y := b.Min.Y; y < b.Max.Y; y++ {
				clear(p.pix[3*(y*p.w+b.Min.X) : 3*(y*p.w+b.Max.X)])
			}
		}
		p.show(r)
		p.crop(r, n, 1, 0, out)
		for i, v := range out {
			if v != 0 {
				t.Fatalf("%+v: value %d is of a pixel outside %v", r, i, r.bounds())
			}
		}
	}
}

// TestCropIsPlainCrop compares crop with the same in plain words, up to the rounding of its
// weights, for pictures of either depth and regions in and out of one behind which no byte
// may be read.
func TestCropIsPlainCrop(t *testing.T) {
	const n, w, h = 24, 64, 64 // whole pages
	regions := []region{{X: w / 2, Y: h / 2, Side: w}, {X: w - 1, Y: h - 1, Side: 2}, {X: math.NaN(), Y: math.Inf(1), Side: 1}, {X: 1e300, Side: 1e300},
		{X: 32, Y: 32, Side: math.NaN()}, {X: 32, Y: 32, Side: math.Inf(1)}, {X: 32, Y: 32, Side: 1e-300}, {X: 32, Y: 32, Side: 1e18}, {X: 32, Y: 32}, {X: 32, Y: 32, Side: -20}}
	for d := 1.0; d < 2; d += 0.01 { // rows across the last pixel, of which both ends are far enough from it
		regions = append(regions, region{X: w - d, Y: h - d, Side: 1.5, Angle: 3 * math.Pi / 4})
	}
	rnd := rand.New(rand.NewPCG(3, 4))
	for range 500 {
		regions = append(regions, region{X: 90*rnd.Float64() - 13, Y: 90*rnd.Float64() - 13, Side: 1 + 90*rnd.Float64(), Angle: 2 * math.Pi * rnd.Float64()})
		regions = append(regions, region{X: 90*rnd.Float64() - 13, Y: 90*rnd.Float64() - 13, Side: 1 + 90*rnd.Float64()})
	}
	for _, depth := range []int{rgbDepth, canvasDepth} {
		p := picture{w: w, h: h, depth: depth, pix: fenced(t, depth*w*h)}
		for i := range p.pix {
			p.pix[i] = byte(rnd.IntN(256))
		}
		for _, r := range regions {
			got, want := make([]float32, 3*n*n), make([]float32, 3*n*n)
			p.crop(r, n, 2.0/255, -1, got)
			p.plainCrop(r, n, 2.0/255, -1, want)
			if !slices.EqualFunc(got, want, func(a, b float32) bool { return math.Abs(float64(a-b)) < 2e-4 }) {
				t.Fatalf("%+v, %d bytes a pixel: samples differ", r, depth)
			}
		}
	}
}

// TestCropOfEitherDepth: the same picture is sampled to the bit alike.
func TestCropOfEitherDepth(t *testing.T) {
	const n, w, h = 32, 90, 70
	rnd := rand.New(rand.NewPCG(5, 6))
	rgb, canvas := picture{w: w, h: h, depth: rgbDepth, pix: make([]byte, rgbDepth*w*h)}, picture{w: w, h: h, depth: canvasDepth, pix: make([]byte, canvasDepth*w*h)}
	for i := range w * h {
		v := []byte{byte(rnd.IntN(256)), byte(rnd.IntN(256)), byte(rnd.IntN(256)), byte(rnd.IntN(256))}
		copy(rgb.pix[rgbDepth*i:][:rgbDepth], v)
		copy(canvas.pix[canvasDepth*i:][:canvasDepth], v)
	}
	for range 200 {
		r := region{X: 120*rnd.Float64() - 15, Y: 100*rnd.Float64() - 15, Side: 90 * rnd.Float64(), Angle: 2 * math.Pi * rnd.Float64()}
		a, b := make([]float32, 3*n*n), make([]float32, 3*n*n)
		rgb.crop(r, n, 1.0/255, 0, a)
		canvas.crop(r, n, 1.0/255, 0, b)
		if !slices.Equal(a, b) {
			t.Fatalf("%+v: samples differ", r)
		}
	}
}

// fenced is memory of whole pages behind which none may be read or written.
func fenced(t *testing.T, n int) []byte {
	t.Helper()
	page := syscall.Getpagesize()
	if n%page != 0 {
		t.Fatalf("%d bytes are no whole pages", n)
	}
	memory, err := syscall.Mmap(-1, 0, n+page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANON)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { syscall.Munmap(memory) })
	if err := syscall.Mprotect(memory[n:], syscall.PROT_NONE); err != nil {
		t.Fatal(err)
	}
	return memory[:n]
}

func (p picture) plainCrop(r region, n int, mul, add float32, out []float32) {
	sin, cos := math.Sincos(r.Angle)
	step, half := r.Side/float64(n), float64(n-1)/2
	ux, uy, vx, vy := cos*step, sin*step, -sin*step, cos*step
	for row := range n {
		x, y := r.X-0.5-half*(ux+vx)+float64(row)*vx, r.Y-0.5-half*(uy+vy)+float64(row)*vy
		for col := range n {
			p.sample(x, y, mul, add, out[3*(row*n+col):][:3])
			x, y = x+ux, y+uy
		}
	}
}

// sample reads the picture between its pixels; (0, 0) is the centre of the first.
func (p picture) sample(x, y float64, mul, add float32, out []float32) {
	fx, fy := math.Floor(x), math.Floor(y)
	if !(fx >= -1 && fy >= -1 && fx < float64(p.w) && fy < float64(p.h)) {
		out[0], out[1], out[2] = add, add, add
		return
	}
	ix, iy := int(fx), int(fy)
	dx, dy := float32(x-fx), float32(y-fy)
	xa, xb := max(ix, 0)*p.depth, min(ix+1, p.w-1)*p.depth
	ya, yb := max(iy, 0)*p.w*p.depth, min(iy+1, p.h-1)*p.w*p.depth
	a, b := p.pix[ya+xa:ya+xa+3], p.pix[ya+xb:ya+xb+3]
	c, d := p.pix[yb+xa:yb+xa+3], p.pix[yb+xb:yb+xb+3]
	for k := range 3 {
		top := float32(a[k]) + (float32(b[k])-float32(a[k]))*dx
		low := float32(c[k]) + (float32(d[k])-float32(c[k]))*dx
		out[k] = (top+(low-top)*dy)*mul + add
	}
}

// TestMirrorFlipsRows: left and right change places, red, green and blue do not.
func TestMirrorFlipsRows(t *testing.T) {
	const n = 5
	in := make([]float32, 3*n*n)
	for i := range in {
		in[i] = float32(i)
	}
	out := slices.Clone(in)
	mirror(out, n)
	for y := range n {
		for x := range n {
			for k := range 3 {
				if out[3*(y*n+x)+k] != in[3*(y*n+n-1-x)+k] {
					t.Fatalf("row %d, column %d, colour %d: %g", y, x, k, out[3*(y*n+x)+k])
				}
			}
		}
	}
}

// BenchmarkCrop reads a region as the landmark model does.
func BenchmarkCrop(b *testing.B) {
	p := picture{w: 1280, h: 720, depth: canvasDepth, pix: make([]byte, canvasDepth*1280*720)}
	out := make([]float32, 3*landmarkSide*landmarkSide)
	for b.Loop() {
		p.landmarkInput(region{X: 640, Y: 360, Side: 420, Angle: 0.1}, out)
	}
}

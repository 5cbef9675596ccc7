package motion

import (
	"math"
	"slices"
)

// quantile gives the q-quantile of v (nearest rank), NaN when v is empty. v is
// left as it was.
func quantile(v []float64, q float64) float64 {
	if len(v) == 0 {
		return math.NaN()
	}
	s := slices.Clone(v)
	slices.Sort(s)
	return s[int(clamp(math.Ceil(q*float64(len(s)))-1, 0, float64(len(s)-1)))]
}

func median(v []float64) float64 { return quantile(v, 0.5) }

// within gives the range of the rising times t at most half from t0.
func within(t []float64, t0, half float64) (from, to int) {
	from, _ = slices.BinarySearch(t, t0-half)
	to, _ = slices.BinarySearch(t, math.Nextafter(t0+half, math.Inf(1)))
	return from, max(from, to)
}

// estimate is the outcome of a local fit: value and slope (a second) at the
// instant asked for, the scatter of the samples about the curve, and how many
// samples carried it.
type estimate struct {
	value, slope, scatter float64
	n                     int
}

// fitAt fits a polynomial of at most the given degree to the samples within
// half seconds of t0, near samples counting more and outliers little (one
// reweighting with Tukey's biweight). It needs samples on both sides of t0
// unless t0 is at most half a window outside them; ok is false otherwise.
//
// Source: Cleveland (1979), robust locally weighted regression, J Am Stat Assoc 74.
func fitAt(t, v []float64, t0, half float64, degree int) (estimate, bool) {
	var xs, ys, ws []float64
	from, to := within(t, t0, half)
	for i := from; i < to; i++ {
		d := math.Abs(t[i]-t0) / half
		if d >= 1 {
			continue
		}
		k := 1 - d*d*d
		xs, ys, ws = append(xs, t[i]-t0), append(ys, v[i]), append(ws, k*k*k)
	}
	if len(xs) < 2 {
		return estimate{}, false
	}
	if lo, hi := slices.Min(xs), slices.Max(xs); lo > half/2 || hi < -half/2 {
		return estimate{}, false
	}
	degree = min(degree, len(xs)-2)
	if degree < 0 {
		degree = 0
	}
	c, ok := polyfit(xs, ys, ws, degree)
	if !ok {
		return estimate{}, false
	}
	if len(xs) > degree+2 {
		if w, changed := biweight(xs, ys, ws, c); changed {
			if c2, ok := polyfit(xs, ys, w, degree); ok {
				c, ws = c2, w
			}
		}
	}
	var ss, sw float64
	for i := range xs {
		r := ys[i] - poly(c, xs[i])
		ss += ws[i] * r * r
		sw += ws[i]
	}
	e := estimate{value: c[0], n: len(xs), scatter: math.Sqrt(ss / sw)}
	if len(c) > 1 {
		e.slope = c[1]
	}
	return e, finite(e.value) && finite(e.slope)
}

// biweight lowers the weights of samples far from the curve c.
func biweight(xs, ys, ws, c []float64) ([]float64, bool) {
	res := make([]float64, len(xs))
	for i := range xs {
		res[i] = math.Abs(ys[i] - poly(c, xs[i]))
	}
	s := 6 * median(res)
	if s <= 1e-9 {
		return nil, false
	}
	w := make([]float64, len(ws))
	for i := range ws {
		u := math.Min(1, res[i]/s)
		w[i] = ws[i]*(1-u*u)*(1-u*u) + 1e-12
	}
	return w, true
}

func poly(c []float64, x float64) float64 {
	s := 0.0
	for i := len(c) - 1; i >= 0; i-- {
		s = s*x + c[i]
	}
	return s
}

// polyfit solves the weighted normal equations; x is scaled to keep them well
// conditioned.
func polyfit(xs, ys, ws []float64, degree int) ([]float64, bool) {
	scale := 0.0
	for _, x := range xs {
		scale = math.Max(scale, math.Abs(x))
	}
	if scale == 0 {
		scale, degree = 1, 0
	}
	n := degree + 1
	var m [4][5]float64
	for i := range xs {
		var pw [4]float64
		pw[0] = 1
		for k := 1; k < n; k++ {
			pw[k] = pw[k-1] * xs[i] / scale
		}
		for r := range n {
			for c := range n {
				m[r][c] += ws[i] * pw[r] * pw[c]
			}
			m[r][n] += ws[i] * pw[r] * ys[i]
		}
	}
	for p := range n { // Gauss-Jordan with partial pivoting
		best := p
		for r := p + 1; r < n; r++ {
			if math.Abs(m[r][p]) > math.Abs(m[best][p]) {
				best = r
			}
		}
		if math.Abs(m[best][p]) < 1e-12 {
			return nil, false
		}
		m[p], m[best] = m[best], m[p]
		for r := range n {
			if r == p {
				continue
			}
			f := m[r][p] / m[p][p]
			for c := p; c <= n; c++ {
				m[r][c] -= f * m[p][c]
			}
		}
	}
	out := make([]float64, n)
	k := 1.0
	for i := range n {
		out[i] = m[i][n] / m[i][i] / k
		k *= scale
	}
	return out, true
}
